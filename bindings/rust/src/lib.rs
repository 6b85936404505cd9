//! Models that irkit compiled, called from Rust: a safe wrapper of their C interface.
//!
//! ```sh
//! irkit compile mlp.onnx --output-kind=static -o libmlp.a --name mlp
//! IRKIT_MODEL=$PWD/libmlp.a cargo build
//! ```
//!
//! ```ignore
//! irkit::link_model!(mlp);
//!
//! let model = irkit::Model::new(mlp::interface())?;
//! let x = [0.5f32; 784];
//! let mut y = [0f32; 10];
//! model.run(&[irkit::View::new(&x, &[1, 784])], &mut [irkit::ViewMut::new(&mut y, &[1, 10])])?;
//! ```
//!
//! Reading order: `raw` (the C interface), `element` (types of elements), `tensor` (memory with a
//! shape), `model`.

mod element;
mod model;
pub mod raw;
mod tensor;

pub use element::{Bf16, DType, Element, F16};
pub use model::{Dim, Error, Extent, Kind, Model, Pool, State, TensorInfo, Weights};
pub use tensor::{View, ViewMut};

/// The version of the C interface that this crate knows.
pub const VERSION: u32 = 4;
