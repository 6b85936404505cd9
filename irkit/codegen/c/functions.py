"""Intrinsic functions in C: an expansion, a helper, or a call of the C library.

It shares no code with the interpreter, the folder and the reference, whose results it must give.
"""

from irkit.codegen.c import helpers
from irkit.codegen.c.lane_ops import expansion, has_helper
from irkit.codegen.c.lanes import as_bools, each_lane
from irkit.codegen.c.types import is_small, lane
from irkit.codegen.c.writer import ATOM, PLUS, TIMES, UNARY, Code, FunctionWriter
from irkit.core import IRKitError
from irkit.ir import INTRINSICS, DType
from irkit.ir.math import math_features

_LIBRARY = {"round": "rint", "abs": "fabs", "muladd": "fma"}
_STRICT = {"strict_add": "+", "strict_sub": "-", "strict_mul": "*"}
_TESTS = {"isnan": "({x} != {x})", "isinf": "(fabs{f}({x}) == INFINITY)",
          "isfinite": "(fabs{f}({x}) < INFINITY)"}  # fmt: skip


def intrinsic(writer: FunctionWriter, name: str, dtype: DType, args: list[Code]) -> Code:
    """Return the call of an intrinsic function on operands of one type."""
    if name not in INTRINSICS or INTRINSICS[name].on == "effect":
        raise IRKitError(f"there is no code for the intrinsic {name!r}")
    if not dtype.is_float:
        return _each(writer, dtype, lane(dtype), args, _integer(writer, name, dtype))
    if name in _TESTS:
        return _tested(writer, name, dtype, args[0])
    double = dtype.bits == 64
    if name in _STRICT or (name == "muladd" and not math_features(writer.source.target).fuses):
        return _in_place(writer, name, dtype, args)
    if has_helper(name, dtype):
        return _expanded(writer, name, dtype, args)
    return _each(writer, dtype, lane(dtype), args, _floating(writer, name, double))


def rounded(writer: FunctionWriter, dtype: DType, value: Code) -> Code:
    """Round a result computed in f32 to its 16-bit type; other types are unchanged."""
    if not is_small(dtype):
        return value
    return _each(writer, dtype, "f32", [value], helpers.rounded(writer.source, dtype))


def by_lanes(writer: FunctionWriter, dtype: DType, args: list[Code], call: str) -> Code:
    """Call a helper on operands of one type, with a result of that type."""
    return _each(writer, dtype, lane(dtype), args, call)


def _each(writer: FunctionWriter, dtype: DType, name: str, args: list[Code], call: str) -> Code:
    if dtype.lanes == 1:
        return Code(f"{call}({', '.join(arg.text for arg in args)})", ATOM, *limits(dtype))
    named = [f"{writer.named(dtype, arg)}[lane]" for arg in args]
    return each_lane(writer, name, dtype.lanes, f"{call}({', '.join(named)})")


def limits(dtype: DType) -> tuple[int, int]:
    """Return the ends of an integer type; of a float, nothing."""
    return (0, 0) if dtype.is_float else (dtype.low, dtype.high)


def _integer(writer: FunctionWriter, name: str, dtype: DType) -> str:
    if not INTRINSICS[name].accepts(dtype):
        raise IRKitError(f"there is no code for the intrinsic {name!r} on {dtype}")
    return helpers.integer_function(writer.source, name, dtype.element)


def _floating(writer: FunctionWriter, name: str, double: bool) -> str:
    if INTRINSICS[name].on == "integer":
        raise IRKitError(f"there is no code for the intrinsic {name!r} on floats")
    if name == "sign":
        return helpers.sign(writer.source, double)
    if name == "fmod":
        return helpers.remainder(writer.source, double)
    return _LIBRARY.get(name, name) + ("" if double else "f")


def _tested(writer: FunctionWriter, name: str, dtype: DType, arg: Code) -> Code:
    form, end = _TESTS[name], "" if dtype.bits == 64 else "f"
    x = writer.named(dtype, arg)
    if dtype.lanes == 1:
        return Code(form.format(x=x, f=end), ATOM, 0, 1)
    if name == "isnan":
        return as_bools(writer, f"{x} != {x}", dtype)
    return each_lane(writer, "i8", dtype.lanes, "-" + form.format(x=f"{x}[lane]", f=end))


def _in_place(writer: FunctionWriter, name: str, dtype: DType, args: list[Code]) -> Code:
    """Compute by operators; no compiler contracts them with the flags that C source is built by."""
    a, b = args[0].within(TIMES), args[1].within(UNARY)
    if name == "muladd":
        return Code(f"{a} * {b} + {args[2].within(TIMES)}", PLUS)
    sign = _STRICT[name]
    level = TIMES if sign == "*" else PLUS
    return Code(f"{args[0].within(level)} {sign} {args[1].within(level + 1)}", level)


def _expanded(writer: FunctionWriter, name: str, dtype: DType, args: list[Code]) -> Code:
    call = expansion(writer.source, name, dtype)
    if dtype.lanes == 1:
        return Code(f"{call}({', '.join(arg.text for arg in args)})")
    named = [writer.named(dtype, arg) for arg in args]
    made = writer.name("t")
    writer.line(f"{writer.type_of(dtype)} {made};")
    writer.line(f"{call}(&{made}, {', '.join(f'&{each}' for each in named)});")
    return Code(made)
