//! Describe the model `probe`, and run it if nothing about its shapes is open.
//!
//! ```sh
//! irkit compile mlp.onnx --output-kind=static -o libprobe.a --name probe --shape x=1,784
//! IRKIT_MODEL=$PWD/libprobe.a cargo run --example describe
//! ```

#[cfg(feature = "linked")]
fn main() -> Result<(), irkit::Error> {
    use irkit::{Element, Extent, Model, TensorInfo, View, ViewMut};

    irkit::link_model!(probe);

    fn known(tensor: &TensorInfo) -> Option<Vec<usize>> {
        let extents = tensor.shape.iter().map(|extent| match extent {
            Extent::Known(extent) => Some(*extent),
            Extent::Open(_) => None,
        });
        extents.collect()
    }

    let model = Model::new(probe::interface())?;
    for (word, tensors) in [("input", model.inputs()), ("output", model.outputs())] {
        for tensor in tensors {
            println!("{word} {}: {} {:?}", tensor.name, tensor.dtype, tensor.shape);
        }
    }
    let all: Vec<TensorInfo> = model.inputs().into_iter().chain(model.outputs()).collect();
    let shapes: Option<Vec<Vec<usize>>> = all.iter().map(known).collect();
    let plain = all.iter().all(|tensor| tensor.dtype == f32::DTYPE) && model.states().is_empty();
    let shapes = match shapes {
        Some(shapes) if plain => shapes,
        _ => return Ok(()),
    };
    let (given, made) = shapes.split_at(model.inputs().len());
    let data: Vec<Vec<f32>> = given.iter().map(|shape| vec![0.5; shape.iter().product()]).collect();
    let mut found: Vec<Vec<f32>> =
        made.iter().map(|shape| vec![0.0; shape.iter().product()]).collect();
    let inputs: Vec<View> = data.iter().zip(given).map(|(x, shape)| View::new(x, shape)).collect();
    let mut outputs: Vec<ViewMut> =
        found.iter_mut().zip(made).map(|(y, shape)| ViewMut::new(y, shape)).collect();
    model.run(&inputs, &mut outputs)?;
    for (tensor, values) in model.outputs().iter().zip(&found) {
        println!("{}: {:?}", tensor.name, &values[..values.len().min(8)]);
    }
    Ok(())
}

#[cfg(not(feature = "linked"))]
fn main() {
    eprintln!("set IRKIT_MODEL to the path of libprobe.a");
}
