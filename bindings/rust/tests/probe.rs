//! The model that tests/bindings/test_rust.py compiles: y = x w for any number of rows, rows that
//! are appended to a cache, and a counter as state.
#![cfg(feature = "linked")]

use irkit::{Error, Extent, Kind, Model, Pool, View, ViewMut, Weights};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

irkit::link_model!(probe);

const ROWS: usize = 8; // That the cache has room for.

fn model() -> Model {
    Model::new(probe::interface()).expect("the weights are inside")
}

/// Run on rows of x; return y, and the cache and counter are changed.
fn step(
    model: &Model,
    x: &[f32],
    cache: &mut [f32],
    used: usize,
    counter: &mut [f32],
) -> Result<Vec<f32>, Error> {
    let rows = x.len() / 4;
    let mut y = vec![f32::NAN; rows * 2];
    model.run_with_state(
        &[View::new(x, &[rows, 4])],
        &mut [
            (ViewMut::new(cache, &[ROWS, 2]), (used, used + rows)),
            (ViewMut::new(counter, &[3]), (0, 0)),
        ],
        &mut [ViewMut::new(&mut y, &[rows, 2])],
    )?;
    Ok(y)
}

/// What y is for one row: w has 1, 2, ... 8.
fn expected(row: &[f32]) -> [f32; 2] {
    let column = |j: usize| (0..4).map(|k| row[k] * (2 * k + j + 1) as f32).sum();
    [column(0), column(1)]
}

#[test]
fn inputs_and_outputs_are_described() {
    let model = model();
    let inputs = model.inputs();
    let names: Vec<&str> = inputs.iter().map(|input| input.name.as_str()).collect();
    assert_eq!(names, ["x", "past", "h"]);
    assert_eq!(inputs[0].shape, [Extent::Open("n".to_string()), Extent::Known(4)]);
    assert_eq!(inputs[0].dtype.to_string(), "f32");
    assert_eq!(model.outputs().len(), 3);
    let dims = model.dims();
    let rows = dims.iter().find(|dim| dim.name == "n").expect("n is a dimension");
    assert_eq!((rows.least, rows.most), (1, 4));
    let states = model.states();
    assert_eq!(states[0].cache, Some((0, ROWS)));
    assert_eq!(states[1].cache, None);
}

#[test]
fn a_run_computes_and_keeps_state() {
    let model = model();
    let (mut cache, mut counter) = ([0f32; ROWS * 2], [0f32; 3]);
    let mut used = 0;
    for rows in [1, 3, 2] {
        let x: Vec<f32> = (0..rows * 4).map(|i| (i * 7 % 5) as f32 - 1.0).collect();
        let y = step(&model, &x, &mut cache, used, &mut counter).expect("it fits");
        for (row, found) in x.chunks(4).zip(y.chunks(2)) {
            assert_eq!(found, expected(row));
        }
        assert_eq!(cache[used * 2..(used + rows) * 2], y[..]);
        used += rows;
    }
    assert_eq!(counter, [3.0, 3.0, 3.0]);
    assert_eq!(cache[used * 2..], [0.0; (ROWS - 6) * 2]);
}

#[test]
fn a_full_cache_and_a_size_out_of_range_are_refused() {
    let model = model();
    let (mut cache, mut counter) = ([5f32; ROWS * 2], [0f32; 3]);
    for rows in [0, 5] {
        let x = vec![1f32; rows * 4];
        let error = step(&model, &x, &mut cache, 1, &mut counter).unwrap_err();
        assert_eq!(error.kind, Kind::BadArgument, "{error}");
        assert!(error.message.contains('n'), "{error}");
    }
    assert_eq!((cache, counter), ([5.0; ROWS * 2], [0.0; 3]));
}

#[test]
fn a_tensor_of_another_type_or_rank_is_refused() {
    let model = model();
    let (mut cache, mut counter, mut y) = ([0f32; ROWS * 2], [0f32; 3], [0f32; 2]);
    let mut attempt = |x: View<'_>| {
        let mut state = [
            (ViewMut::new(&mut cache, &[ROWS, 2]), (0, 1)),
            (ViewMut::new(&mut counter, &[3]), (0, 0)),
        ];
        let mut outputs = [ViewMut::new(&mut y, &[1, 2])];
        model.run_with_state(&[x], &mut state, &mut outputs).unwrap_err()
    };
    let error = attempt(View::new(&[1i32; 4], &[1, 4]));
    assert!(error.message.starts_with("x has type code 0 with 32 bits"), "{error}");
    let error = attempt(View::new(&[1f32; 4], &[4]));
    assert_eq!(error.message, "x has 1 dimensions; expected 2");
    let error = model.run(&[], &mut []).unwrap_err();
    assert_eq!(error.message, "expected 2 tensors of state, found 0");
}

#[test]
fn threads_share_a_model() {
    let model = Arc::new(model());
    let threads: Vec<_> = (0..4)
        .map(|seed| {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                let (mut cache, mut counter) = ([0f32; ROWS * 2], [0f32; 3]);
                for round in 0..200 {
                    let x = [seed as f32, round as f32, 1.0, -2.0];
                    let y = step(&model, &x, &mut cache, 0, &mut counter).expect("it fits");
                    assert_eq!(y, expected(&x));
                }
                assert_eq!(counter, [200.0; 3]);
            })
        })
        .collect();
    for each in threads {
        each.join().expect("no thread panics");
    }
}

#[test]
fn weights_can_lie_in_a_file() {
    let folder = std::env::var("IRKIT_WEIGHTS").map(PathBuf::from);
    let path = folder.expect("IRKIT_WEIGHTS is the file of weights");
    let model = Model::with_weights(probe::interface(), Weights::File(&path)).expect("they fit");
    let (mut cache, mut counter) = ([0f32; ROWS * 2], [0f32; 3]);
    let y = step(&model, &[1.0; 4], &mut cache, 0, &mut counter).expect("it fits");
    assert_eq!(y, expected(&[1.0; 4]));
    let missing = path.with_extension("missing");
    let made = Model::with_weights(probe::interface(), Weights::File(&missing));
    let error = made.map(drop).unwrap_err();
    assert_eq!(error.kind, Kind::NoWeights);
    assert!(error.message.contains("cannot be opened"), "{error}");
}

#[test]
fn pools_give_the_same() {
    let pools = [Pool::Own, Pool::AtMost(0), Pool::AtMost(3), Pool::Of(probe::interface())];
    for pool in pools {
        let made = Model::with_pool(probe::interface(), Weights::Inside, pool);
        let (mut cache, mut counter) = ([0f32; ROWS * 2], [0f32; 3]);
        let y = step(&made.expect("the pool is known"), &[1.0; 4], &mut cache, 0, &mut counter);
        assert_eq!(y.expect("it fits"), expected(&[1.0; 4]));
    }
}

#[test]
fn shapes_of_outputs_are_known_before_a_run() {
    let model = model();
    let (x, past, h) = ([0f32; 12], [0f32; 4], [0f32; 3]);
    let inputs = [View::new(&x, &[3, 4]), View::new(&past, &[2, 2]), View::new(&h, &[3])];
    let shapes = model.output_shapes(&inputs).expect("the sizes are in their ranges");
    assert_eq!(shapes, [vec![3, 2], vec![5, 2], vec![3]]);
}
