"""Intrinsic functions as instructions, or as calls of functions of the module; those that have an
expansion (``irkit/ir/math``) do not come here.

One of the four meanings of docs/semantics.md that check each other: it shares no code with the
other three, which ``irkit/ir/intrinsics.py`` names.
"""

from collections.abc import Callable

from irkit.codegen.llvm.arithmetic.integer_ops import choose, constant, divide, power_helper
from irkit.codegen.llvm.builder.text import FunctionText
from irkit.codegen.llvm.builder.types import as_vector, number, value_type
from irkit.codegen.llvm.math.remainders import remainder_function
from irkit.core import IRKitError
from irkit.ir import BOOL, F32, DType

Emit = Callable[[FunctionText, DType, list[str], str], str]
UNROLLED_LANES = 16
_INLINE = {
    "sqrt": "sqrt",
    "floor": "floor",
    "ceil": "ceil",
    "trunc": "trunc",
    "round": "roundeven",
    "fma": "fma",
    "muladd": "fma",
}


def intrinsic(text: FunctionText, name: str, dtype: DType, args: list[str], flags: str) -> str:
    """Write a call of an intrinsic on operands of one type; ``flags`` are for float arithmetic."""
    if dtype.is_float:
        emit = _FLOAT.get(name)
        if emit is not None:
            working = F32.with_lanes(dtype.lanes) if dtype.bits == 16 else dtype  # A test.
            return emit(text, working, args, flags)
    emit = _INTEGER.get(name)
    if emit is None:
        raise IRKitError(f"there is no code for the intrinsic {name!r} on {dtype}")
    return emit(text, dtype, args, flags)


def _inline(name: str) -> Emit:
    def emit(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
        return text.intrinsic(_INLINE[name], value_type(dtype), *args)

    return emit


def _remainder(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
    scalar = dtype.element
    name = remainder_function(text, scalar)
    return each_lane(text, name, value_type(scalar), dtype.lanes, args)


def each_lane(text: FunctionText, called: str, kind: str, lanes: int, args: list[str]) -> str:
    """Call a scalar function once for every lane."""
    if lanes == 1:
        return text.call(called, kind, *((kind, arg) for arg in args))
    vector = as_vector(kind, lanes)
    if lanes > UNROLLED_LANES:
        return _lanes_in_memory(text, called, kind, vector, lanes, args)
    result = "poison"
    for lane in range(lanes):
        picked = [(kind, text.op(f"extractelement {vector} {arg}, i32 {lane}")) for arg in args]
        one = text.call(called, kind, *picked)
        result = text.op(f"insertelement {vector} {result}, {kind} {one}, i32 {lane}")
    return result


def _lanes_in_memory(
    text: FunctionText, called: str, kind: str, vector: str, lanes: int, args: list[str]
) -> str:
    """Call a function in a loop over lanes in memory: LLVM needs minutes for long insertion chains.

    The results overwrite the first operand.
    """
    places = [text.alloca(f"{vector}, align 64") for _ in args]
    for place, arg in zip(places, args, strict=True):
        text.line(f"store {vector} {arg}, ptr {place}, align 64")
    before, body, done = text.label, text.new_label("lane"), text.new_label("lanes")
    text.jump(body)
    text.start(body)
    following = text.name()
    lane = text.op(f"phi i64 [ 0, %{before} ], [ {following}, %{body} ]")
    pointers = [text.op(f"getelementptr {kind}, ptr {place}, i64 {lane}") for place in places]
    picked = [(kind, text.op(f"load {kind}, ptr {pointer}")) for pointer in pointers]
    text.line(f"store {kind} {text.call(called, kind, *picked)}, ptr {pointers[0]}")
    text.line(f"{following} = add nuw nsw i64 {lane}, 1")
    text.branch(text.op(f"icmp ult i64 {following}, {lanes}"), body, done)
    text.start(done)
    return text.op(f"load {vector}, ptr {places[0]}, align 64")


def floor_divide(text: FunctionText, dtype: DType, a: str, b: str, how: str) -> str:
    """Divide floats as NumPy does: through the remainder, which is exact.

    ``how`` is ``floordiv`` or ``floormod``; the remainder has the sign of the divisor.
    """
    kind, test = value_type(dtype), value_type(BOOL.with_lanes(dtype.lanes))
    zero, one = number(0.0, dtype), number(1.0, dtype)
    rest = intrinsic(text, "fmod", dtype, [a, b], "")
    uneven = text.op(f"fcmp une {kind} {rest}, {zero}")
    below, under = (text.op(f"fcmp olt {kind} {x}, {zero}") for x in (rest, b))
    differ = text.op(f"and {test} {uneven}, {text.op(f'xor {test} {below}, {under}')}")
    by_zero = text.op(f"fcmp oeq {kind} {b}, {zero}")
    if how == "floormod":
        signed = text.intrinsic("copysign", kind, zero, b)
        moved = choose(text, dtype, differ, text.op(f"fadd {kind} {rest}, {b}"), rest)
        even = choose(text, dtype, uneven, moved, signed)
        return choose(text, dtype, by_zero, rest, even)
    plain = text.op(f"fdiv {kind} {a}, {b}")
    quotient = text.op(f"fdiv {kind} {text.op(f'fsub {kind} {a}, {rest}')}, {b}")
    lower = text.op(f"fsub {kind} {quotient}, {one}")
    near = choose(text, dtype, differ, lower, quotient)
    floor = text.intrinsic("floor", kind, near)
    above = text.op(
        f"fcmp ogt {kind} {text.op(f'fsub {kind} {near}, {floor}')}, {number(0.5, dtype)}"
    )
    whole = choose(text, dtype, above, text.op(f"fadd {kind} {floor}, {one}"), floor)
    nothing = text.op(f"fcmp oeq {kind} {near}, {zero}")
    signed = text.intrinsic("copysign", kind, zero, plain)
    found = choose(text, dtype, nothing, signed, whole)
    return choose(text, dtype, by_zero, plain, found)


def _float_abs(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
    return text.intrinsic("fabs", value_type(dtype), *args)


def _float_sign(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
    """Compute 1, 0 or -1; NaN stays NaN."""
    kind, zero, x = value_type(dtype), number(0.0, dtype), args[0]
    above = text.op(f"fcmp ogt {kind} {x}, {zero}")
    below = text.op(f"fcmp olt {kind} {x}, {zero}")
    equal = text.op(f"fcmp oeq {kind} {x}, {zero}")
    rest = choose(text, dtype, equal, zero, x)
    negative = choose(text, dtype, below, number(-1.0, dtype), rest)
    return choose(text, dtype, above, number(1.0, dtype), negative)


def _isnan(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
    return text.op(f"fcmp uno {value_type(dtype)} {args[0]}, {number(0.0, dtype)}")


def _magnitude(test: str) -> Emit:
    def emit(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
        kind = value_type(dtype)
        size = text.intrinsic("fabs", kind, args[0])
        return text.op(f"fcmp {test} {kind} {size}, {number(float('inf'), dtype)}")

    return emit


def _integer_abs(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
    if dtype.kind == "u":
        return args[0]
    return text.intrinsic("abs", value_type(dtype), *args, more="i1 false")


def _integer_sign(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
    kind, zero, signed = value_type(dtype), constant(0, dtype), dtype.kind == "i"
    bools = value_type(BOOL.with_lanes(dtype.lanes))
    above = text.op(f"icmp {'sgt' if signed else 'ugt'} {kind} {args[0]}, {zero}")
    positive = text.op(f"zext {bools} {above} to {kind}")
    if not signed:
        return positive
    below = text.op(f"icmp slt {kind} {args[0]}, {zero}")
    negative = text.op(f"sext {bools} {below} to {kind}")
    return text.op(f"or {kind} {positive}, {negative}")


def _integer_power(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
    scalar = dtype.element
    name = text.module.helper(f"irkit.pow.{scalar}", lambda: power_helper(scalar))
    return each_lane(text, name, value_type(scalar), dtype.lanes, args)


def _divides(how: str) -> Emit:
    def emit(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
        plain = args[1].lstrip("-")
        known = int(args[1]) if plain.isdigit() else None
        return divide(text, dtype, args[0], args[1], known, how)

    return emit


def _mul_sat(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
    sign = "s" if dtype.kind == "i" else "u"
    return text.intrinsic(f"{sign}mul.fix.sat", value_type(dtype), *args, more="i32 0")


def _popcount(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
    return text.intrinsic("ctpop", value_type(dtype), *args)


def _clz(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
    return text.intrinsic("ctlz", value_type(dtype), *args, more="i1 false")


def _strict(name: str) -> Emit:
    """Compute without flags, so that nothing is contracted."""

    def emit(text: FunctionText, dtype: DType, args: list[str], flags: str) -> str:
        return text.op(f"{name} {value_type(dtype)} {args[0]}, {args[1]}")

    return emit


_TESTS = ("isnan", "isinf", "isfinite")
_FLOAT: dict[str, Emit] = {
    **{name: _inline(name) for name in _INLINE},
    "fmod": _remainder,
    "strict_add": _strict("fadd"),
    "strict_sub": _strict("fsub"),
    "strict_mul": _strict("fmul"),
    "abs": _float_abs,
    "sign": _float_sign,
    "isnan": _isnan,
    "isinf": _magnitude("oeq"),
    "isfinite": _magnitude("olt"),
}
_INTEGER: dict[str, Emit] = {
    "abs": _integer_abs,
    "sign": _integer_sign,
    "pow": _integer_power,
    "truncdiv": _divides("truncdiv"),
    "truncmod": _divides("truncmod"),
    "mul_sat": _mul_sat,
    "popcount": _popcount,
    "clz": _clz,
}
