//! What a shape may be.

use irkit::{Bf16, Element, View, F16};

#[test]
fn types_are_spelled_as_in_irkit() {
    let found = [f32::DTYPE, Bf16::DTYPE, F16::DTYPE, i8::DTYPE, u64::DTYPE, bool::DTYPE];
    let texts = found.map(|dtype| dtype.to_string());
    assert_eq!(texts, ["f32", "bf16", "f16", "i8", "u64", "bool"]);
    assert_eq!(found.map(|dtype| dtype.bytes()), [4, 2, 2, 1, 8, 1]);
}

#[test]
#[should_panic(expected = "has another number of elements")]
fn a_shape_has_as_many_elements_as_there_are() {
    View::new(&[1f32; 6], &[2, 4]);
}

#[test]
#[should_panic(expected = "has another number of elements")]
fn a_shape_whose_product_overflows_is_refused() {
    View::new(&[1f32; 0], &[usize::MAX, 2]);
}
