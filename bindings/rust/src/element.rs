//! Types of elements, in Rust and in DLPack.

use crate::raw::DLDataType;
use std::fmt;

/// The bits of an IEEE 754 number of 16 bits.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct F16(pub u16);

/// The bits of a bfloat16: the upper half of an `f32`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bf16(pub u16);

/// The type of the elements of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DType {
    pub(crate) raw: DLDataType,
}

impl DType {
    /// The bytes of one element.
    pub fn bytes(self) -> usize {
        usize::from(self.raw.bits / 8).max(1)
    }
}

impl fmt::Display for DType {
    /// Write the type as irkit does: `f32`, `bf16`, `i8`, `bool`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self.raw.code {
            0 => "i",
            1 => "u",
            2 => "f",
            4 => "bf",
            6 => return f.write_str("bool"),
            code => return write!(f, "type {code} of {} bits", self.raw.bits),
        };
        write!(f, "{word}{}", self.raw.bits)
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A type that elements of a tensor can have: a number, [`F16`], [`Bf16`] or `bool`.
pub trait Element: Copy + sealed::Sealed {
    /// The type, as tensors have it.
    const DTYPE: DType;
}

macro_rules! element {
    ($($kind:ty: $code:literal, $bits:literal;)*) => {
        $(
            impl sealed::Sealed for $kind {}
            impl Element for $kind {
                const DTYPE: DType = DType { raw: DLDataType { code: $code, bits: $bits, lanes: 1 } };
            }
        )*
    };
}

element! {
    i8: 0, 8; i16: 0, 16; i32: 0, 32; i64: 0, 64;
    u8: 1, 8; u16: 1, 16; u32: 1, 32; u64: 1, 64;
    F16: 2, 16; f32: 2, 32; f64: 2, 64;
    Bf16: 4, 16; bool: 6, 8;
}
