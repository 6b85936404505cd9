"""Products with weights of 4 bits, two in a byte, or of 8, which are unpacked as they are read."""

import numpy as np

from irkit.core import ShapeError
from irkit.graph.ops.linear import widened
from irkit.graph.ops.shapes import expect_dtype, expect_extent, expect_float, expect_rank, written
from irkit.graph.ops.spec import Array, Attribute, OpOptions, OpSpec, Tensors
from irkit.graph.types import TensorType, Type
from irkit.ir import I8, U8, DType, as_int

MIDDLE = 8
"""The zero point of weights without zero points of their own."""


def unpacked(pairs: Array, rows: int) -> Array:
    """Return the numbers in the halves of bytes: of each byte the low half first."""
    both = np.stack([pairs & 15, pairs >> 4], axis=1)
    return both.reshape(-1, *pairs.shape[1:])[:rows]


def packed(numbers: Array) -> Array:
    """Put pairs of rows of numbers below 16 into bytes; a last row alone gets a 0."""
    whole = np.pad(numbers, [(0, len(numbers) % 2), *[(0, 0)] * (numbers.ndim - 1)])
    return (whole[::2] | whole[1::2] << 4).astype(np.uint8)


def _type_of(tensors: Tensors, options: OpOptions, kind: DType) -> Type:
    """Check a product whose weights and zero points have a type, and return the type of results."""
    a, b, scales, *zeros = tensors
    block = options.int("block")
    expect_float("a", a)
    if not a.shape or block < 1 or (inner := as_int(a.shape[-1])) is None:
        raise ShapeError(
            f"argument a must have a last axis of constant extent, and blocks at least one "
            f"element, found shape {written(a.shape)} and blocks of {block}"
        )
    rows, meaning = (-(-inner // 2), "half of the rows") if kind is U8 else (inner, "the rows")
    expect_rank("b", b, 2, "[pairs, columns]" if kind is U8 else "[rows, columns]")
    expect_dtype("b", b, kind)
    expect_extent("b", b, 0, rows, meaning)
    expect_dtype("scales", scales, a.dtype)
    for name, each in (("scales", scales), *(("zeros", each) for each in zeros)):
        expect_rank(name, each, 2, "[blocks, columns]")
        expect_extent(name, each, 0, -(-inner // block), "one for each block")
        expect_extent(name, each, 1, b.shape[1], "the columns of b")
    for each in zeros:
        expect_dtype("zeros", each, kind)
    return TensorType((*a.shape[:-1], b.shape[1]), a.dtype)


def _type_4bit(tensors: Tensors, options: OpOptions) -> Type:
    return _type_of(tensors, options, U8)


def _type_8bit(tensors: Tensors, options: OpOptions) -> Type:
    return _type_of(tensors, options, I8)


def _product_4bit(given: tuple[Array, ...], options: OpOptions) -> Array:
    a, b, scales, *zeros = given
    zero = zeros[0] if zeros else np.full(scales.shape, MIDDLE)
    return _product(a, unpacked(b, a.shape[-1]), scales, zero, options.int("block"))


def _product_8bit(given: tuple[Array, ...], options: OpOptions) -> Array:
    a, b, scales, *zeros = given
    zero = zeros[0] if zeros else np.zeros(scales.shape)
    return _product(a, b, scales, zero, options.int("block"))


def _product(a: Array, numbers: Array, scales: Array, zero: Array, block: int) -> Array:
    blocks = np.arange(a.shape[-1], dtype=np.int64) // block
    weights = numbers.astype(np.float32) - zero[blocks].astype(np.float32)
    product = np.matmul(widened(a), weights * widened(scales)[blocks])
    return product.astype(a.dtype, copy=False)


PACKED_WEIGHTS = (
    OpSpec(
        "matmul_4bit",
        "complex",
        ("a", "b", "scales", "zeros"),
        _type_4bit,
        _product_4bit,
        (Attribute("block", "int"),),
        optional=1,
    ),
    OpSpec(
        "matmul_8bit",
        "complex",
        ("a", "b", "scales", "zeros"),
        _type_8bit,
        _product_8bit,
        (Attribute("block", "int"),),
        optional=1,
    ),
)
