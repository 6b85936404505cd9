//! A model: what it takes and gives, and calls of it.

use crate::element::DType;
use crate::raw::{self, DLTensor, Handle, Interface, Options};
use crate::tensor::{Place, View, ViewMut};
use crate::VERSION;
use std::ffi::{CStr, CString};
use std::fmt;
use std::mem::size_of;
use std::os::raw::c_char;
use std::path::Path;
use std::ptr::{self, NonNull};

/// What kind of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A tensor or option is not what the model takes. Nothing was written.
    BadArgument,
    /// There was no memory, or a call needs more than the model may use.
    NoMemory,
    /// The weights are missing, or are others.
    NoWeights,
    /// An assertion of the model failed; outputs are then undefined.
    Failed,
}

/// Why a model cannot be made or run, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub kind: Kind,
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// One extent of a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    Known(usize),
    /// Only a call decides: the name of a dimension, or what is computed from some.
    Open(String),
}

/// An input or output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorInfo {
    pub name: String,
    pub dtype: DType,
    pub shape: Vec<Extent>,
}

/// A dimension that a call decides, and the sizes that it may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dim {
    pub name: String,
    pub least: i64,
    pub most: i64,
}

/// An input and an output in the same memory. A cache has a capacity: it grows along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    pub input: usize,
    pub output: usize,
    /// Axis and capacity of a cache.
    pub cache: Option<(usize, usize)>,
}

/// Where the weights of a model come from.
pub enum Weights<'a> {
    /// They are part of the library.
    Inside,
    /// The file that lies beside it.
    File(&'a Path),
}

/// The threads that run the parallel loops of a model.
#[derive(Clone, Copy)]
pub enum Pool {
    /// Those of its library: one for each processor that no other library like it uses.
    Own,
    /// Those of its library, but at most so many, the one that calls among them; at least 1.
    AtMost(u16),
    /// Those of the library of another model. They are there while a model of that library lives.
    Of(&'static Interface),
}

/// A compiled model. Several threads may run it at the same time.
pub struct Model {
    interface: &'static Interface,
    handle: NonNull<Handle>,
}

// The C interface allows runs of one model from several threads.
unsafe impl Send for Model {}
unsafe impl Sync for Model {}

impl Drop for Model {
    fn drop(&mut self) {
        unsafe { (self.interface.destroy)(self.handle.as_ptr()) }
    }
}

impl Model {
    /// Make a model whose weights are inside of its library.
    pub fn new(interface: &'static Interface) -> Result<Model, Error> {
        Model::with_weights(interface, Weights::Inside)
    }

    /// Make a model with weights from elsewhere.
    pub fn with_weights(
        interface: &'static Interface,
        weights: Weights<'_>,
    ) -> Result<Model, Error> {
        Model::with_pool(interface, weights, Pool::Own)
    }

    /// Make a model whose parallel loops run on threads of one's choice. Results do not depend on
    /// them.
    pub fn with_pool(
        interface: &'static Interface,
        weights: Weights<'_>,
        pool: Pool,
    ) -> Result<Model, Error> {
        let (parallel, threads) = match pool {
            Pool::Own => (None, 0),
            Pool::AtMost(threads) => (None, i32::from(threads.max(1))),
            Pool::Of(other) => (Some(other.parallel), 0),
        };
        let found = unsafe { (interface.version)() };
        if found != VERSION {
            let message = format!("the model has version {found} of the interface; expected {VERSION}");
            return Err(Error { kind: Kind::BadArgument, message });
        }
        let file = match weights {
            Weights::Inside => None,
            Weights::File(path) => Some(c_path(path)?),
        };
        let options = Options {
            struct_size: size_of::<Options>(),
            version: VERSION,
            weights: ptr::null(),
            weights_size: 0,
            weights_file: file.as_ref().map_or(ptr::null(), |path| path.as_ptr()),
            parallel,
            parallel_context: ptr::null_mut(),
            threads,
        };
        let mut handle = ptr::null_mut();
        check(interface, unsafe { (interface.create)(&mut handle, &options) })?;
        let handle = NonNull::new(handle).expect("a model that is made is not null");
        Ok(Model { interface, handle })
    }

    /// The inputs, in the order in which `run` takes them.
    pub fn inputs(&self) -> Vec<TensorInfo> {
        let count = unsafe { (self.interface.input_count)() };
        (0..count).map(|at| unsafe { info(&*(self.interface.input)(at)) }).collect()
    }

    /// The outputs, in the order in which `run` gives them.
    pub fn outputs(&self) -> Vec<TensorInfo> {
        let count = unsafe { (self.interface.output_count)() };
        (0..count).map(|at| unsafe { info(&*(self.interface.output)(at)) }).collect()
    }

    /// The dimensions that a call decides.
    pub fn dims(&self) -> Vec<Dim> {
        let count = unsafe { (self.interface.dim_count)() };
        (0..count)
            .map(|at| {
                let dim = unsafe { &*(self.interface.dim_number)(at) };
                Dim { name: unsafe { text(dim.name) }, least: dim.least, most: dim.most }
            })
            .collect()
    }

    /// The pairs of inputs and outputs that share memory.
    pub fn states(&self) -> Vec<State> {
        let count = unsafe { (self.interface.state_count)() };
        (0..count)
            .map(|at| {
                let found = unsafe { *(self.interface.state_number)(at) };
                let cache = (found.capacity > 0)
                    .then(|| (found.axis as usize, found.capacity as usize));
                State { input: found.input as usize, output: found.output as usize, cache }
            })
            .collect()
    }

    /// Compute all outputs into memory of the caller.
    ///
    /// Inputs and outputs are in the order of [`inputs`](Model::inputs) and
    /// [`outputs`](Model::outputs). Nothing is written where an argument is refused.
    pub fn run(&self, inputs: &[View<'_>], outputs: &mut [ViewMut<'_>]) -> Result<(), Error> {
        self.run_with_state(inputs, &mut [], outputs)
    }

    /// Compute all outputs; `state` has the memory of each pair of [`states`](Model::states), in
    /// order, with the rows of a cache that are in use before and after the run.
    ///
    /// `inputs` and `outputs` are those that are no state. An output of which only the run finds the
    /// size has room for the most; its [`shape`](ViewMut::shape) is then what was found, and its
    /// elements are the first, in order.
    pub fn run_with_state(
        &self,
        inputs: &[View<'_>],
        state: &mut [(ViewMut<'_>, (usize, usize))],
        outputs: &mut [ViewMut<'_>],
    ) -> Result<(), Error> {
        let pairs = self.states();
        expect_count("tensors of state", state.len(), pairs.len())?;
        let counts = unsafe { ((self.interface.input_count)(), (self.interface.output_count)()) };
        let mut before = inputs.iter().map(|view| view.place.clone());
        let mut after = outputs.iter().map(|view| view.place.clone());
        expect_count("inputs", inputs.len(), counts.0 as usize - pairs.len())?;
        expect_count("outputs", outputs.len(), counts.1 as usize - pairs.len())?;
        let place_of = |number: usize, is_input: bool| -> Option<Place> {
            let same = |pair: &State| (if is_input { pair.input } else { pair.output }) == number;
            let at = pairs.iter().position(same)?;
            let (view, (used, grown)) = &state[at];
            Some(match pairs[at].cache {
                Some((axis, _)) => view.rows(axis, if is_input { *used } else { *grown }),
                None => view.place.clone(),
            })
        };
        let mut next = |number: i32, is_input: bool| -> Place {
            place_of(number as usize, is_input).unwrap_or_else(|| {
                let others: &mut dyn Iterator<Item = Place> =
                    if is_input { &mut before } else { &mut after };
                others.next().expect("the tensors were counted")
            })
        };
        let given: Vec<Place> = (0..counts.0).map(|number| next(number, true)).collect();
        let mut made: Vec<Place> = (0..counts.1).map(|number| next(number, false)).collect();
        let given: Vec<DLTensor> = given.iter().map(Place::raw).collect();
        let mut raw: Vec<DLTensor> = made.iter_mut().map(Place::raw_mut).collect();
        let given: Vec<*const DLTensor> = given.iter().map(|tensor| tensor as *const _).collect();
        let raw: Vec<*mut DLTensor> = raw.iter_mut().map(|tensor| tensor as *mut _).collect();
        let model = self.handle.as_ptr();
        check(self.interface, unsafe { (self.interface.run)(model, given.as_ptr(), raw.as_ptr()) })?;
        let is_state = |number: usize| pairs.iter().any(|pair| pair.output == number);
        let found = made.iter().enumerate().filter(|(number, _)| !is_state(*number));
        for (view, (_, place)) in outputs.iter_mut().zip(found) {
            view.place.set_shape(place.shape());
        }
        Ok(())
    }

    /// The shapes of the outputs, from those of the inputs, whose elements are not read.
    pub fn output_shapes(&self, inputs: &[View<'_>]) -> Result<Vec<Vec<usize>>, Error> {
        let count = unsafe { (self.interface.input_count)() };
        expect_count("inputs", inputs.len(), count as usize)?;
        let given: Vec<DLTensor> = inputs.iter().map(|view| view.place.raw()).collect();
        let given: Vec<*const DLTensor> = given.iter().map(|tensor| tensor as *const _).collect();
        let mut shapes: Vec<Vec<i64>> =
            self.outputs().iter().map(|output| vec![0; output.shape.len()]).collect();
        let places: Vec<*mut i64> = shapes.iter_mut().map(|shape| shape.as_mut_ptr()).collect();
        let model = self.handle.as_ptr();
        check(self.interface, unsafe {
            (self.interface.output_shapes)(model, given.as_ptr(), places.as_ptr())
        })?;
        let found = shapes.into_iter();
        Ok(found.map(|shape| shape.into_iter().map(|extent| extent as usize).collect()).collect())
    }
}

fn expect_count(what: &str, found: usize, expected: usize) -> Result<(), Error> {
    if found == expected {
        return Ok(());
    }
    let message = format!("expected {expected} {what}, found {found}");
    Err(Error { kind: Kind::BadArgument, message })
}

fn check(interface: &Interface, code: i32) -> Result<(), Error> {
    let kind = match code {
        0 => return Ok(()),
        1 => Kind::BadArgument,
        2 => Kind::NoMemory,
        3 => Kind::NoWeights,
        _ => Kind::Failed,
    };
    // The message is of the last call of this thread, which was the one that failed.
    Err(Error { kind, message: unsafe { text((interface.error)()) } })
}

fn c_path(path: &Path) -> Result<CString, Error> {
    let bytes = path.to_str().map(|text| CString::new(text).ok());
    bytes.flatten().ok_or_else(|| Error {
        kind: Kind::NoWeights,
        message: format!("the path of the weights {path:?} is not plain text"),
    })
}

/// Copy a text of C.
unsafe fn text(from: *const c_char) -> String {
    CStr::from_ptr(from).to_string_lossy().into_owned()
}

unsafe fn info(tensor: &raw::Tensor) -> TensorInfo {
    let axes = 0..tensor.ndim as usize;
    let shape = axes.map(|axis| match *tensor.shape.add(axis) {
        extent if extent >= 0 => Extent::Known(extent as usize),
        _ => Extent::Open(text(*tensor.symbols.add(axis))),
    });
    TensorInfo {
        name: text(tensor.name),
        dtype: DType { raw: tensor.dtype },
        shape: shape.collect(),
    }
}
