"""Numbers of 8 and 16 bits with a scale and a zero point, and products of them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from irkit.frontend.onnx.convert.math import element_type, narrowed
from irkit.frontend.onnx.convert.nn import window_attributes
from irkit.frontend.onnx.narrow_types import NARROW_TYPES, NarrowType
from irkit.frontend.onnx.onnx_node import Converter, OnnxNode
from irkit.graph import Value, unpacked
from irkit.ir import F32, I16, I32, U8, DType


def quantize_linear(node: OnnxNode) -> Value:
    """Divide by a scale, round to even, add the zero point and saturate.

    Source: QuantizeLinear-10 to QuantizeLinear-25; the scale is one number, one for each index of
    an axis, or one for each block along it.
    """
    x, scale, zero = node.input(0), node.input(1), node.optional(2)
    kind: DType | NarrowType = U8
    number = node.integer("output_dtype", 0) if node.version >= 21 else 0
    if zero is not None:
        kind = node.narrow_type(zero) or node.dtype(zero)
    elif number:
        kind = NARROW_TYPES.get(number) or element_type(node, number)
    scale, zero = _spread(node, x, scale), None if zero is None else _spread(node, x, zero)
    wide = node.cast(x, F32) if node.dtype(x).bits == 16 or node.dtype(x).is_integer else x
    divided = node.op("divide", wide, node.cast(scale, node.dtype(wide)))
    return _quantized(node, divided, zero, kind)


def _quantized(node: OnnxNode, x: Value, zero: Value | None, kind: DType | NarrowType) -> Value:
    if isinstance(kind, NarrowType) and kind.limits is None:
        return narrowed(node, x, kind, saturate=bool(node.integer("saturate", 1)))
    rounded = node.op("round", x)
    if zero is not None:
        rounded = node.op("add", rounded, node.cast(zero, node.dtype(rounded)))
    if isinstance(kind, NarrowType) and kind.limits is not None:
        low, high = kind.limits
        return narrowed(node, node.op("minimum", node.op("maximum", rounded, low), high), kind)
    assert isinstance(kind, DType)
    return node.cast(rounded, kind)  # Which saturates.


def dequantize_linear(node: OnnxNode) -> Value:
    """Subtract the zero point and multiply by a scale.

    Source: DequantizeLinear-10 to DequantizeLinear-25; the scale is as in QuantizeLinear.
    """
    x, scale, zero = node.input(0), node.input(1), node.optional(2)
    kind = node.dtype(scale)
    number = node.integer("output_dtype", 0) if node.version >= 23 else 0
    scale = _spread(node, x, scale)
    wide = F32 if node.dtype(x).is_float else I32
    found = node.cast(x, wide)
    if zero is not None:
        found = node.op("subtract", found, node.cast(_spread(node, x, zero), wide))
    product = node.op("multiply", node.cast(found, F32), node.cast(scale, F32))
    return node.cast(product, element_type(node, number) if number else kind)


def _spread(node: OnnxNode, x: Value, given: Value) -> Value:
    """Broadcast a scale or zero point to the axes of ``x``."""
    shape, own = node.shape(x), node.shape(given)
    block = node.integer("block_size", 0) if node.version >= 21 else 0
    if own in ((), (1,)) and not block:
        return node.op("reshape", given, shape=())
    axis = node.axis(node.integer("axis", 1), len(shape))
    if not block:
        if own != (shape[axis],):
            raise node.fail(f"a scale of shape {own} does not fit axis {axis} of {shape}")
        return node.op("reshape", given, shape=(-1, *(1,) * (len(shape) - axis - 1)))
    if len(own) != len(shape) or own[axis] != -(-shape[axis] // block):
        raise node.fail(f"a scale of shape {own} does not fit blocks of {block} in {shape}")
    return node.op("take", given, node.constant(np.arange(shape[axis]) // block), axis=axis)


def _centred(node: OnnxNode, x: Value, zero: Value | None, shape: Sequence[int]) -> Value:
    """Subtract a zero point in 16 bits, unless it is known to be 0."""
    if zero is None or node.is_zero(zero):
        return x
    wide, offset = node.cast(x, I16), node.cast(zero, I16)
    many = node.rank(offset) == 1 and node.shape(offset) != (1,)
    if node.rank(offset) <= 1:
        offset = node.op("reshape", offset, shape=tuple(shape) if many else ())
    return node.op("subtract", wide, offset)


def matmul_integer(node: OnnxNode) -> Value:
    """Multiply matrices of bytes exactly, in 32 bits.

    Source: MatMulInteger-10.
    """
    a = _centred(node, node.input(0), node.optional(2), (-1, 1))
    b = _centred(node, node.input(1), node.optional(3), (-1,))
    return node.op("matmul_integer", a, b)


def qlinear_matmul(node: OnnxNode) -> Value:
    """Multiply quantised matrices exactly, and quantise the product.

    Source: QLinearMatMul-10, QLinearMatMul-21.
    """
    a = _centred(node, node.input(0), node.input(2), (-1, 1))
    b = _centred(node, node.input(3), node.input(5), (-1,))
    rows = _factor(node, node.input(1), (-1, 1))
    columns = _factor(node, node.input(4), (-1,))
    return _requantized(node, node.op("matmul_integer", a, b), rows, columns, 6)


def _factor(node: OnnxNode, scale: Value, shape: Sequence[int]) -> Value:
    if node.rank(scale) == 1:
        many = node.shape(scale) != (1,)
        scale = node.op("reshape", scale, shape=tuple(shape) if many else ())
    return node.cast(scale, F32)


def _requantized(node: OnnxNode, total: Value, first: Value, second: Value, at: int) -> Value:
    """Scale a sum of products by both scales, and quantise by inputs ``at`` and the next."""
    zero = node.input(at + 1)
    scale = node.op("divide", node.op("multiply", first, second), _factor(node, node.input(at), ()))
    scaled = node.op("multiply", node.cast(total, F32), scale)
    kind = node.dtype(zero)
    return _quantized(node, scaled, node.op("reshape", zero, shape=()), kind)


def conv_integer(node: OnnxNode) -> Value:
    """Convolve bytes exactly, in 32 bits.

    Source: ConvInteger-10.
    """
    return _conv(node, node.input(0), node.optional(2), node.input(1), node.optional(3), None)


def qlinear_conv(node: OnnxNode) -> Value:
    """Convolve quantised images exactly, and quantise the result.

    Source: QLinearConv-10.
    """
    x, w, bias = node.input(0), node.input(3), node.optional(8)
    total = _conv(node, x, node.input(2), w, node.input(5), bias)
    each = (-1, *(1,) * (node.rank(x) - 2))
    first, second = _factor(node, node.input(1), each), _factor(node, node.input(4), each)
    return _requantized(node, total, first, second, 6)


def _conv(
    node: OnnxNode,
    x: Value,
    x_zero: Value | None,
    w: Value,
    w_zero: Value | None,
    bias: Value | None,
) -> Value:
    kernel = node.shape(w)[2:]
    window = window_attributes(node, node.shape(x)[2:], kernel)
    args = (
        _centred(node, x, x_zero, ()),
        _centred(node, w, w_zero, (-1, *(1,) * (node.rank(w) - 1))),
    )
    total = node.op("conv_integer", *args, **window, groups=node.integer("group", 1))
    if bias is None:
        return total
    return node.op("add", total, node.op("reshape", bias, shape=(-1, *(1,) * len(kernel))))


def qlinear_binary(operator: str) -> Converter:
    """Return the converter of an operator on two quantised tensors, which scales both first.

    Source: QLinearAdd-1, QLinearMul-1 of com.microsoft.
    """

    def convert(node: OnnxNode) -> Value:
        result = node.op(operator, _factored(node, 0), _factored(node, 3))
        scale, zero = node.cast(node.op("reshape", node.input(6), shape=()), F32), node.optional(7)
        zero = None if zero is None else node.op("reshape", zero, shape=())
        return _quantized(node, node.op("divide", result, scale), zero, node.dtype(node.input(0)))

    return convert


def _factored(node: OnnxNode, at: int) -> Value:
    """Return the number that input ``at`` stands for, by the scale and zero point after it."""
    scale, zero = node.op("reshape", node.input(at + 1), shape=()), node.optional(at + 2)
    wide = node.cast(node.input(at), I32)
    if zero is not None:
        offset = node.cast(node.op("reshape", zero, shape=()), I32)
        wide = node.op("subtract", wide, offset)
    return node.op("multiply", node.cast(wide, F32), node.cast(scale, F32))


def matmul_nbits(node: OnnxNode) -> Value:
    """Multiply by a matrix of weights of 4 or 8 bits, which the kernel unpacks.

    Source: MatMulNBits-1 of com.microsoft, without groups of rows.
    """
    rows, columns = node.integer("K"), node.integer("N")
    block = node.integer("block_size")
    bits = node.integer("bits", 4)
    if bits not in (4, 8) or node.optional(4) is not None or block < 1:
        raise node.fail(
            "only weights of 4 or 8 bits in blocks that follow one another are supported"
        )
    a, blocks = node.input(0), -(-rows // block)
    given = node.array(1, "weights")
    assert given is not None
    if given.dtype != np.uint8 or given.size * 8 != columns * blocks * block * bits:
        raise node.fail(f"weights of {given.dtype}{list(given.shape)} do not fit N, K and blocks")
    # Along the rows of a column, as the model has them, pairs lie in one byte.
    packed = np.ascontiguousarray(given.reshape(columns, -1).T[: -(-rows * bits // 8)])
    scales = node.op("transpose", node.op("reshape", node.input(2), shape=(columns, blocks)))
    scales = node.cast(scales, node.dtype(a))
    zeros = _zero_points(node, columns, blocks, bits) if node.optional(3) is not None else None
    if bits == 4:
        more = [] if zeros is None else [node.constant(zeros)]
        product = node.op("matmul_4bit", a, node.constant(packed), scales, *more, block=block)
    else:
        more = [] if zeros is None else [node.constant(_signed(zeros))]
        numbers = node.constant(_signed(packed))
        product = node.op("matmul_8bit", a, numbers, scales, *more, block=block)
    bias = node.optional(5)
    return product if bias is None else node.op("add", product, bias)


def _signed(numbers: NDArray[np.generic]) -> NDArray[np.int8]:
    """Return bytes less 128, the zero point of weights without zero points of their own."""
    return (numbers.astype(np.int16) - 128).astype(np.int8)


def _zero_points(node: OnnxNode, columns: int, blocks: int, bits: int) -> NDArray[np.generic]:
    """Return the zero points of weights by block and column; of 4 bits two share a byte."""
    zeros = node.array(3, "zero points")
    assert zeros is not None
    if zeros.dtype != np.uint8 or zeros.size != columns * -(-blocks * bits // 8):
        raise node.fail(f"zero points of {zeros.dtype}{list(zeros.shape)} do not fit the weights")
    by_block = np.ascontiguousarray(zeros.reshape(columns, -1).T)
    return by_block if bits == 8 else unpacked(by_block, blocks)
