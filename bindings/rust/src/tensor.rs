//! Memory with a shape, for one call.

use crate::element::{DType, Element};
use crate::raw::{DLDevice, DLTensor};
use std::marker::PhantomData;
use std::ptr;

const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };

/// A place in memory with a type and a shape.
#[derive(Clone)]
pub(crate) struct Place {
    data: *mut std::os::raw::c_void,
    dtype: DType,
    shape: Vec<i64>,
    strides: Option<Vec<i64>>,
}

impl Place {
    fn new<T: Element>(data: *mut T, held: usize, shape: &[usize]) -> Place {
        let wanted = shape.iter().try_fold(1usize, |count, &extent| count.checked_mul(extent));
        assert_eq!(wanted, Some(held), "a tensor of shape {shape:?} has another number of elements");
        let shape = shape.iter().map(|&extent| extent as i64).collect();
        Place { data: data.cast(), dtype: T::DTYPE, shape, strides: None }
    }

    /// Of memory with room for `room`, the first `rows` along an axis.
    fn rows(mut self, axis: usize, rows: usize) -> Place {
        assert!(axis < self.shape.len(), "there is no axis {axis} in {:?}", self.shape);
        assert!(rows as i64 <= self.shape[axis], "there is no room for {rows} rows");
        let mut step = 1;
        let mut strides = vec![0; self.shape.len()];
        for at in (0..self.shape.len()).rev() {
            strides[at] = step;
            step *= self.shape[at].max(1);
        }
        self.strides = Some(strides);
        self.shape[axis] = rows as i64;
        self
    }

    /// The extents.
    pub(crate) fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// Take extents that a run has found, for elements that lie in order.
    pub(crate) fn set_shape(&mut self, found: &[i64]) {
        self.shape = found.to_vec();
    }

    /// The tensor of DLPack, whose extents and strides a run can change.
    pub(crate) fn raw_mut(&mut self) -> DLTensor {
        let shape = self.shape.as_mut_ptr();
        let strides = self.strides.as_mut().map_or(ptr::null_mut(), |strides| strides.as_mut_ptr());
        DLTensor { shape, strides, ..self.raw() }
    }

    /// The tensor of DLPack; it points into this place.
    pub(crate) fn raw(&self) -> DLTensor {
        DLTensor {
            data: self.data,
            device: CPU,
            ndim: self.shape.len() as i32,
            dtype: self.dtype.raw,
            shape: self.shape.as_ptr(),
            strides: self.strides.as_ref().map_or(ptr::null(), |strides| strides.as_ptr()),
            byte_offset: 0,
        }
    }
}

/// A tensor that a model reads: elements in order, the last axis fastest.
pub struct View<'a> {
    pub(crate) place: Place,
    elements: PhantomData<&'a ()>,
}

impl<'a> View<'a> {
    /// Give elements a shape.
    ///
    /// # Panics
    ///
    /// If the shape has another number of elements.
    pub fn new<T: Element>(elements: &'a [T], shape: &[usize]) -> View<'a> {
        let place = Place::new(elements.as_ptr() as *mut T, elements.len(), shape);
        View { place, elements: PhantomData }
    }
}

/// A tensor that a model writes, or reads and writes if it is state.
pub struct ViewMut<'a> {
    pub(crate) place: Place,
    elements: PhantomData<&'a mut ()>,
}

impl<'a> ViewMut<'a> {
    /// The extents: after a run, those that it found.
    pub fn shape(&self) -> Vec<usize> {
        self.place.shape().iter().map(|&extent| extent as usize).collect()
    }

    /// Give elements a shape.
    ///
    /// # Panics
    ///
    /// If the shape has another number of elements.
    pub fn new<T: Element>(elements: &'a mut [T], shape: &[usize]) -> ViewMut<'a> {
        let place = Place::new(elements.as_mut_ptr(), elements.len(), shape);
        ViewMut { place, elements: PhantomData }
    }

    /// The rows of a cache that are in use before, and after, a run.
    pub(crate) fn rows(&self, axis: usize, rows: usize) -> Place {
        self.place.clone().rows(axis, rows)
    }
}
