"""Arithmetic that is more than one graph operator, and conversions between element types."""

import onnx

from irkit.core import IRKitError
from irkit.frontend.onnx.convert.math.narrow import (
    float_bits,
    float_layout,
    float_of_bits,
    narrowed,
)
from irkit.frontend.onnx.narrow_types import NARROW_TYPES
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value
from irkit.ir import BOOL, F32, F64, I64, DType, from_numpy

_Pair = tuple[Value, Value]


def where(node: OnnxNode) -> Value:
    """Choose between two tensors, element by element.

    Source: Where-9, Where-16.
    """
    return node.op("where", node.input(0), node.input(1), node.input(2))


def cast(node: OnnxNode) -> Value:
    """Convert to the element type that an attribute names.

    Floats outside the range of an integer type saturate, and NaN becomes 0: ONNX leaves it open.
    Source: Cast-1 (the name of the type) to Cast-25 (its number).
    """
    if node.version >= 6:
        return _converted(node, node.integer("to"))
    name = node.text("to")
    number = dict(onnx.TensorProto.DataType.items()).get(name)
    if number is None:
        raise node.fail(f"{name!r} is not an element type")
    return _converted(node, number)


def cast_like(node: OnnxNode) -> Value:
    """Convert to the element type of a second tensor.

    Source: CastLike-15 to CastLike-25.
    """
    like = node.input(1)
    narrow = node.narrow_type(like)
    if narrow is not None:
        return _converted(node, narrow.number)
    return _widened(node, node.input(0), node.dtype(like))


def _converted(node: OnnxNode, number: int) -> Value:
    x, narrow = node.input(0), NARROW_TYPES.get(number)
    if narrow is None:
        return _widened(node, x, element_type(node, number))
    # Exponents alone are rounded as an attribute says, by default up.
    mode = "nearest" if narrow.has_sign or narrow.limits else node.text("round_mode", "up")
    if mode not in ("nearest", "up", "down"):
        raise node.fail(f"round_mode is {mode!r}; expected nearest, up or down")
    return narrowed(node, x, narrow, saturate=bool(node.integer("saturate", 1)), mode=mode)


def _widened(node: OnnxNode, x: Value, dtype: DType) -> Value:
    """Convert a tensor; one of a narrow type is not of that type any more."""
    if node.narrow_type(x) is None:
        return node.cast(x, dtype)
    return node.op("cast", x, dtype=dtype)


def bit_cast(node: OnnxNode) -> Value:
    """Take the bits of numbers as numbers of another type of the same width.

    Source: BitCast-26. All NaNs have the same bits here.
    """
    x, kind = node.input(0), element_type(node, node.integer("to"))
    own = node.dtype(x)
    if own.bytes != kind.bytes or node.narrow_type(x) is not None:
        raise node.fail(f"{own} and {kind} differ in width")
    if own == kind:
        return x
    bits = float_bits(node, x) if own.is_float else node.cast(x, I64)
    if not kind.is_float:
        return node.cast(bits, kind)
    return node.cast(float_of_bits(node, bits, *float_layout(kind)), kind)


def element_type(node: OnnxNode, number: int) -> DType:
    """Return the element type of a number in an attribute.

    Raises: ImportFailed if irkit has no such type.
    """
    known = onnx.TensorProto.DataType.values()
    called = onnx.TensorProto.DataType.Name(number) if number in known else str(number)
    try:
        return from_numpy(onnx.helper.tensor_dtype_to_np_dtype(number))
    except (KeyError, TypeError, IRKitError) as error:  # A DTypeError is a TypeError.
        raise node.fail(f"the element type {called} is not supported") from error


def power(node: OnnxNode) -> Value:
    """Raise to a power; the result has the element type of the base.

    Source: Pow-1 to Pow-15; from version 12 on, the exponent can be of another type.
    """
    base, exponent = aligned_operands(node)
    kind, other = node.dtype(base), node.dtype(exponent)
    if kind == other:
        return node.op("power", base, exponent)
    if kind.is_float:
        wide = F64 if kind.bits < 64 and other.bits == 64 else kind
    else:
        # A whole power in i64 is right in any narrower type.
        wide = F64 if other.is_float else I64
    found = node.op("power", node.cast(base, wide), node.cast(exponent, wide))
    return node.cast(found, kind)


def modulo(node: OnnxNode) -> Value:
    """Return the remainder with the sign of the divisor, or with ``fmod`` that of the dividend.

    Source: Mod-10 to Mod-28; before version 28 floats need ``fmod``.
    """
    a, b = node.input(0), node.input(1)
    if not node.integer("fmod", 0):
        return node.op("floor_mod", a, b)
    if node.dtype(a).is_float:
        return node.op("fmod", a, b)
    return node.op("subtract", a, node.op("multiply", b, node.op("divide", a, b)))


def bit_shift(node: OnnxNode) -> Value:
    """Shift unsigned integers by a number of bits, in the direction that an attribute names.

    Source: BitShift-11.
    """
    direction = node.text("direction")
    if direction not in ("LEFT", "RIGHT"):
        raise node.fail(f"direction is {direction!r}; expected LEFT or RIGHT")
    a, b = node.input(0), node.input(1)
    return node.op("shift_left" if direction == "LEFT" else "shift_right", a, b)


def mean(node: OnnxNode) -> Value:
    """Return the mean of one or more tensors, element by element.

    Source: Mean-1 to Mean-13.
    """
    total = node.input(0)
    for at in range(1, len(node.inputs)):
        total = node.op("add", total, node.input(at))
    return node.op("divide", total, len(node.inputs)) if len(node.inputs) > 1 else total


def is_inf(node: OnnxNode) -> Value:
    """Return True for infinities, of both signs or of one.

    Source: IsInf-10, IsInf-20.
    """
    x = node.input(0)
    negative, positive = node.integer("detect_negative", 1), node.integer("detect_positive", 1)
    if negative and positive:
        return node.op("isinf", x)
    if not negative and not positive:
        return node.op("full", shape=node.shape(x), value=False, dtype=BOOL)
    return node.op("equal", x, float("-inf") if negative else float("inf"))


def wide_float(node: OnnxNode, x: Value) -> Value:
    """Convert 16-bit floats to f32 and integers to f64, for a result of several operations."""
    kind = node.dtype(x)
    if kind.is_float:
        return node.cast(x, F32) if kind.bits == 16 else x
    return node.cast(x, F64)


def aligned_operands(node: OnnxNode) -> _Pair:
    """Return both operands; before version 7 they broadcast only if attribute ``broadcast`` is set,
    from ``axis`` on."""
    a, b = node.input(0), node.input(1)
    return (a, b) if node.version >= 7 else (a, _aligned(node, a, b))


def _aligned(node: OnnxNode, a: Value, b: Value) -> Value:
    """Align the second operand with the dimensions of the first, as the old attributes ask."""
    if not node.integer("broadcast", 0):
        if node.type(a).shape != node.type(b).shape:
            raise node.fail(
                f"{a.name!r} and {b.name!r} differ in shape, and attribute broadcast is not 1"
            )
        return b
    if not node.has("axis"):
        return b
    axis = node.axis(node.integer("axis"), node.rank(a))
    trailing = node.rank(a) - axis - node.rank(b)
    if trailing < 0:
        raise node.fail(f"{b.name!r} does not fit into {a.name!r} from axis {axis} on")
    return node.op("reshape", b, shape=node.shape(b) + (1,) * trailing)
