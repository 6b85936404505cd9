"""Conversions between number types."""

import msgspec

from irkit.codegen.c import helpers
from irkit.codegen.c.functions import limits, rounded
from irkit.codegen.c.lanes import as_bools, each_lane
from irkit.codegen.c.types import is_small, lane, value_type
from irkit.codegen.c.writer import ATOM, LOWEST, PLUS, UNARY, Code, FunctionWriter
from irkit.ir import DType


def convert(
    writer: FunctionWriter, source: DType, target: DType, value: Code, *, in_range: bool = False
) -> Code:
    """Convert between any two types; floats out of range saturate, NaN gives 0.

    With ``in_range`` a float is in the range of the integers that it becomes.
    """
    if source == target:
        return value
    if value.bits:  # They are those of another type.
        value = msgspec.structs.replace(value, bits="")
    lanes, made = target.lanes, lane(target)
    if target.is_bool:
        text = f"{value.within(PLUS)} != 0"
        return Code(text, LOWEST, 0, 1) if lanes == 1 else as_bools(writer, text, source)
    if source.is_float and not target.is_float and not in_range:
        call = helpers.to_integer(writer.source, target.element, source.bits == 64)
        if lanes == 1:
            return Code(f"{call}({value.text})", low=target.low, high=target.high)
        return each_lane(writer, made, lanes, f"{call}({writer.named(source, value)}[lane])")
    if lanes == 1 and in_range:
        return Code(f"({value_type(target)}){value.within(UNARY)}", UNARY, *limits(target))
    if lanes == 1:
        return _scalar(writer, source, target, value)
    kind = writer.type_of(target)
    if source.is_bool:  # True is -1.
        value = Code(f"-{value.atom}", UNARY)
    if in_range and target.bits > source.bits:  # GCC 12 takes such vectors apart, but no loop.
        cast = f"({value_type(target.element)}){writer.named(source, value)}[lane]"
        return each_lane(writer, made, lanes, cast)
    if in_range and target.bits < source.bits:
        between = writer.source.vector(f"i{source.bits}", lanes)
        value = Code(f"__builtin_convertvector({value.text}, {between})")
    if lane(source) != made:
        value = Code(f"__builtin_convertvector({value.text}, {kind})")
    return value if _is_exact(source, target) else rounded(writer, target, value)


def reinterpret(writer: FunctionWriter, source: DType, target: DType, value: Code) -> Code:
    """Take the bits of a value for those of another type of the same width."""
    if is_small(source):
        value = _by_lanes(writer, source, value, helpers.narrow(writer.source, source), "u16")
        source = DType("u", 16, source.lanes)
    if is_small(target):
        kind = f"(uint16_t){value.within(UNARY)}" if target.lanes == 1 else value.text
        bits = Code(kind, UNARY)
        return _by_lanes(writer, source, bits, helpers.widen(writer.source, target), lane(target))
    kind = writer.type_of(target)
    if target.lanes > 1 or source.is_float == target.is_float:
        return Code(f"({kind}){value.within(UNARY)}", UNARY, *limits(target))
    make = helpers.bits_of if source.is_float else helpers.of_bits
    made = f"{make(writer.source, target.bits == 64)}({value.text})"
    signed = target.kind == "i"
    return Code(f"({kind}){made}" if signed else made, UNARY if signed else ATOM, *limits(target))


def _by_lanes(writer: FunctionWriter, dtype: DType, value: Code, call: str, made: str) -> Code:
    if dtype.lanes == 1:
        return Code(f"{call}({value.text})")
    return each_lane(writer, made, dtype.lanes, f"{call}({writer.named(dtype, value)}[lane])")


def scaled(writer: FunctionWriter, dtype: DType, whole: DType, value: Code, exponent: Code) -> Code:
    """Multiply by a power of 2, by C's library; a float is finite far below 2**4096."""
    call = helpers.scaled(writer.source, dtype)
    if dtype.lanes == 1:
        return Code(f"{call}({value.text}, {exponent.text})")
    x, n = writer.named(dtype, value), writer.named(whole, exponent)
    return each_lane(writer, lane(dtype), dtype.lanes, f"{call}({x}[lane], {n}[lane])")


def _scalar(writer: FunctionWriter, source: DType, target: DType, value: Code) -> Code:
    kind = value_type(target)
    if target.is_float:
        plain = value
        if value_type(source) != kind:
            plain = Code(f"({kind}){value.within(UNARY)}", UNARY)
        return plain if _is_exact(source, target) else rounded(writer, target, plain)
    fits = target.low <= value.low and value.high <= target.high
    ends = (value.low, value.high) if fits else limits(target)
    return Code(f"({kind}){value.within(UNARY)}", UNARY, *ends)


def _is_exact(source: DType, target: DType) -> bool:
    """Return True if no rounding to 16 bits can be needed."""
    return not is_small(target) or source.element == target.element
