//! The C interface of a model, as its header declares it.

use std::os::raw::{c_char, c_int, c_void};

#[repr(C)]
#[derive(Clone, Copy)]
pub struct DLDevice {
    pub device_type: i32,
    pub device_id: i32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DLDataType {
    pub code: u8,
    pub bits: u8,
    pub lanes: u16,
}

#[repr(C)]
pub struct DLTensor {
    pub data: *mut c_void,
    pub device: DLDevice,
    pub ndim: i32,
    pub dtype: DLDataType,
    pub shape: *const i64,
    pub strides: *const i64,
    pub byte_offset: u64,
}

#[repr(C)]
pub struct Options {
    pub struct_size: usize,
    pub version: u32,
    pub weights: *const c_void,
    pub weights_size: usize,
    pub weights_file: *const c_char,
    pub parallel: Option<Parallel>,
    pub parallel_context: *mut c_void,
    pub threads: i32,
}

/// A part of the iterations of a loop: data, begin, end.
pub type Body = unsafe extern "C" fn(*mut c_void, i64, i64) -> c_int;
/// A pool of the host's: context, begin, end, body, data.
pub type Parallel = unsafe extern "C" fn(*mut c_void, i64, i64, Body, *mut c_void) -> c_int;

#[repr(C)]
pub struct Tensor {
    pub name: *const c_char,
    pub dtype: DLDataType,
    pub ndim: i32,
    pub shape: *const i64,
    pub symbols: *const *const c_char,
}

#[repr(C)]
pub struct Dim {
    pub name: *const c_char,
    pub least: i64,
    pub most: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct State {
    pub input: i32,
    pub output: i32,
    pub axis: i32,
    pub capacity: i64,
}

/// A model of C; only its functions know what is inside.
#[repr(C)]
pub struct Handle {
    _private: [u8; 0],
}

/// The functions of one model. [`link_model`](crate::link_model) fills it in.
pub struct Interface {
    pub create: unsafe extern "C" fn(*mut *mut Handle, *const Options) -> c_int,
    pub run: unsafe extern "C" fn(*mut Handle, *const *const DLTensor, *const *mut DLTensor) -> c_int,
    pub destroy: unsafe extern "C" fn(*mut Handle),
    pub error: unsafe extern "C" fn() -> *const c_char,
    pub output_shapes:
        unsafe extern "C" fn(*mut Handle, *const *const DLTensor, *const *mut i64) -> c_int,
    pub input_count: unsafe extern "C" fn() -> i32,
    pub output_count: unsafe extern "C" fn() -> i32,
    pub input: unsafe extern "C" fn(i32) -> *const Tensor,
    pub output: unsafe extern "C" fn(i32) -> *const Tensor,
    pub dim_count: unsafe extern "C" fn() -> i32,
    pub dim_number: unsafe extern "C" fn(i32) -> *const Dim,
    pub state_count: unsafe extern "C" fn() -> i32,
    pub state_number: unsafe extern "C" fn(i32) -> *const State,
    pub weights_size: unsafe extern "C" fn() -> usize,
    pub version: unsafe extern "C" fn() -> u32,
    pub parallel: Parallel,
    pub promise: Promise,
}

/// The promise that the functions of an [`Interface`] are those of one model: all safe calls rely
/// on it.
pub struct Promise {
    _private: (),
}

impl Promise {
    /// Promise it.
    ///
    /// # Safety
    ///
    /// The functions must be those of a model that irkit compiled, with this version of the
    /// interface.
    pub const unsafe fn new() -> Promise {
        Promise { _private: () }
    }
}

/// Declare the functions of a model that is linked into the program: a module of the name that
/// `irkit compile --name` gave it, whose function `interface` is for
/// [`Model::new`](crate::Model::new).
#[macro_export]
macro_rules! link_model {
    ($name:ident) => {
        mod $name {
            mod raw {
                use $crate::raw::{Body, DLTensor, Dim, Handle, Options, State, Tensor};
                use std::os::raw::{c_char, c_int, c_void};

                extern "C" {
                    #[link_name = concat!(stringify!($name), "_create")]
                    pub fn create(model: *mut *mut Handle, options: *const Options) -> c_int;
                    #[link_name = concat!(stringify!($name), "_run")]
                    pub fn run(
                        model: *mut Handle,
                        inputs: *const *const DLTensor,
                        outputs: *const *mut DLTensor,
                    ) -> c_int;
                    #[link_name = concat!(stringify!($name), "_destroy")]
                    pub fn destroy(model: *mut Handle);
                    #[link_name = concat!(stringify!($name), "_error")]
                    pub fn error() -> *const c_char;
                    #[link_name = concat!(stringify!($name), "_output_shapes")]
                    pub fn output_shapes(
                        model: *mut Handle,
                        inputs: *const *const DLTensor,
                        shapes: *const *mut i64,
                    ) -> c_int;
                    #[link_name = concat!(stringify!($name), "_input_count")]
                    pub fn input_count() -> i32;
                    #[link_name = concat!(stringify!($name), "_output_count")]
                    pub fn output_count() -> i32;
                    #[link_name = concat!(stringify!($name), "_input")]
                    pub fn input(number: i32) -> *const Tensor;
                    #[link_name = concat!(stringify!($name), "_output")]
                    pub fn output(number: i32) -> *const Tensor;
                    #[link_name = concat!(stringify!($name), "_dim_count")]
                    pub fn dim_count() -> i32;
                    #[link_name = concat!(stringify!($name), "_dim_number")]
                    pub fn dim_number(number: i32) -> *const Dim;
                    #[link_name = concat!(stringify!($name), "_state_count")]
                    pub fn state_count() -> i32;
                    #[link_name = concat!(stringify!($name), "_state_number")]
                    pub fn state_number(number: i32) -> *const State;
                    #[link_name = concat!(stringify!($name), "_weights_size")]
                    pub fn weights_size() -> usize;
                    #[link_name = concat!(stringify!($name), "_version")]
                    pub fn version() -> u32;
                    #[link_name = concat!(stringify!($name), "_parallel")]
                    pub fn parallel(
                        context: *mut c_void,
                        begin: i64,
                        end: i64,
                        body: Body,
                        data: *mut c_void,
                    ) -> c_int;
                }
            }

            static INTERFACE: $crate::raw::Interface = $crate::raw::Interface {
                create: raw::create,
                run: raw::run,
                destroy: raw::destroy,
                error: raw::error,
                output_shapes: raw::output_shapes,
                input_count: raw::input_count,
                output_count: raw::output_count,
                input: raw::input,
                output: raw::output,
                dim_count: raw::dim_count,
                dim_number: raw::dim_number,
                state_count: raw::state_count,
                state_number: raw::state_number,
                weights_size: raw::weights_size,
                version: raw::version,
                parallel: raw::parallel,
                promise: unsafe { $crate::raw::Promise::new() },
            };

            /// The functions of the model.
            pub fn interface() -> &'static $crate::raw::Interface {
                &INTERFACE
            }
        }
    };
}
