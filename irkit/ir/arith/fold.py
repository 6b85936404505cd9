"""Fold nodes with constant operands, as specified in docs/semantics.md.

It computes with plain Python numbers and shares no code with the interpreter, the reference or code
generation: the four check each other (see ``irkit/ir/intrinsics.py``).
Operations without a single right result are not folded: transcendental functions, and results that
are NaN.
"""

import math
import struct
from collections.abc import Callable
from typing import Any

from irkit.core import Node
from irkit.ir.buffer import Load, Ramp
from irkit.ir.conditional import Conditional, Select
from irkit.ir.dtype import F32, DType
from irkit.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    Binary,
    BitAnd,
    BitOr,
    BitXor,
    Broadcast,
    Cast,
    Const,
    Div,
    Expr,
    FloorDiv,
    FloorMod,
    Max,
    Min,
    Mul,
    Neg,
    Not,
    Or,
    Scalar,
    Shl,
    Shr,
    Sub,
    Var,
)
from irkit.ir.intrinsics import INTRINSICS, Call, InstructionCall, Ldexp, Reinterpret

_NAN = math.nan


def fold(node: Node) -> Expr | None:
    """Compute a node whose operands are scalar constants, or return the side that a constant
    condition chooses.

    None leaves the node alone; the function can be passed to ``rewrite`` as a rule.
    """
    case = FOLDERS.get(node.__class__)
    return None if case is None else case(node)


def round_to(value: float, dtype: DType) -> float:
    """Round to a float type, ties to even; to f16 and bf16 via f32."""
    if dtype.bits == 64 or not math.isfinite(value):
        return value
    value = _packed(value, "<f")
    if dtype.bits == 32 or not math.isfinite(value):
        return value
    if dtype.kind == "f":
        return _packed(value, "<e")
    bits = int.from_bytes(struct.pack("<f", value), "little")
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return struct.unpack("<f", bits.to_bytes(4, "little"))[0]


def _packed(value: float, form: str) -> float:
    try:
        return struct.unpack(form, struct.pack(form, value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def wrap(value: int, dtype: DType) -> int:
    """Return the low bits of an integer, as two's complement if the type is signed."""
    low = value & ((1 << dtype.bits) - 1)
    return low - (1 << dtype.bits) if low > dtype.high else low


def _scalar(expr: Expr) -> Scalar | None:
    """Return the value of a constant, or None."""
    if not isinstance(expr, Const) or expr.dtype.lanes != 1:
        return None
    if expr.dtype.is_float:
        return round_to(float(expr.value), expr.dtype)
    return bool(expr.value) if expr.dtype.is_bool else wrap(int(expr.value), expr.dtype)


def _result(value: Scalar, dtype: DType) -> Const | None:
    if dtype.is_bool:
        return Const(bool(value), dtype)
    if not dtype.is_float:
        return Const(wrap(int(value), dtype), dtype)
    rounded = round_to(float(value), dtype)
    return None if math.isnan(rounded) else Const(rounded, dtype)


# Operations on integers (and on bools, where defined).


def _floordiv(a: int, b: int) -> int:
    return a // b if b else 0


def _floormod(a: int, b: int) -> int:
    return a % b if b else 0


def _truncdiv(a: int, b: int) -> int:
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _truncmod(a: int, b: int) -> int:
    return 0 if b == 0 else a - _truncdiv(a, b) * b


def _power(a: int, b: int, dtype: DType) -> int:
    if b >= 0:
        return pow(a, b, 1 << dtype.bits)
    return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)


def _shl(a: int, b: int, dtype: DType) -> int:
    return a << b if 0 <= b < dtype.bits else 0


def _shr(a: int, b: int, dtype: DType) -> int:
    return a >> (b if 0 <= b < dtype.bits else dtype.bits)


_INTEGER: dict[type[Binary], Callable[[int, int, DType], int]] = {
    Add: lambda a, b, t: a + b,
    Sub: lambda a, b, t: a - b,
    Mul: lambda a, b, t: a * b,
    FloorDiv: lambda a, b, t: _floordiv(a, b),
    FloorMod: lambda a, b, t: _floormod(a, b),
    BitAnd: lambda a, b, t: a & b,
    BitOr: lambda a, b, t: a | b,
    BitXor: lambda a, b, t: a ^ b,
    Shl: _shl,
    Shr: _shr,
    Min: lambda a, b, t: min(a, b),
    Max: lambda a, b, t: max(a, b),
}
_COMPARE: dict[type[Binary], Callable[[Any, Any], bool]] = {
    EQ: lambda a, b: a == b,
    NE: lambda a, b: a != b,
    LT: lambda a, b: a < b,
    LE: lambda a, b: a <= b,
    GT: lambda a, b: a > b,
    GE: lambda a, b: a >= b,
}


# Operations on floats. The f64 of Python computes + - * / and sqrt so precisely that rounding its
# result to f32 is rounding the true one; 16 bits are computed in f32.


def _divide(a: float, b: float) -> float:
    if b:
        return a / b
    return _NAN if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _fmod(a: float, b: float) -> float:
    return math.fmod(a, b) if math.isfinite(a) and b and b == b else _NAN


def _float_floordiv(a: float, b: float, dtype: DType) -> float:
    working = dtype if dtype.bits == 64 else F32
    rest = _fmod(a, b)
    if b == 0 or rest != rest:
        return _divide(a, b) if b == 0 else _NAN
    down = bool(rest) and (b < 0) != (rest < 0)
    quotient = round_to(_divide(round_to(a - rest, working), b), working)
    quotient = round_to(quotient - 1.0, working) if down else quotient
    if quotient == 0:
        return math.copysign(0.0, a) * math.copysign(1.0, b)
    whole = _whole(math.floor, quotient)
    return whole + 1.0 if quotient - whole > 0.5 else whole


def _float_floormod(a: float, b: float, dtype: DType) -> float:
    rest = _fmod(a, b)
    if b == 0 or rest != rest:
        return _NAN
    if rest == 0:
        return math.copysign(0.0, b)
    return rest + b if (b < 0) != (rest < 0) else rest


def _whole(function: Callable[[float], int], value: float) -> float:
    """Round to an integer, preserving infinities and the sign of zero."""
    return math.copysign(float(function(value)), value) if math.isfinite(value) else value


def _minimum(a: float, b: float) -> float:
    return a if a < b or a != a else b


def _maximum(a: float, b: float) -> float:
    return a if a > b or a != a else b


_FLOAT: dict[type[Binary], Callable[[float, float, DType], float]] = {
    Add: lambda a, b, t: a + b,
    Sub: lambda a, b, t: a - b,
    Mul: lambda a, b, t: a * b,
    Div: lambda a, b, t: _divide(a, b),
    FloorDiv: _float_floordiv,
    FloorMod: _float_floormod,
    Min: lambda a, b, t: _minimum(a, b),
    Max: lambda a, b, t: _maximum(a, b),
}


def _sign(value: float) -> float:
    return float(value > 0) - float(value < 0) if value == value else value


# One signature for one and two arguments: a missing argument is 0.
_FLOAT_CALLS: dict[str, Callable[[float, float], Scalar]] = {
    "abs": lambda a, b: abs(a),
    "sign": lambda a, b: _sign(a),
    "sqrt": lambda a, b: math.sqrt(a) if a >= 0 else _NAN,
    "floor": lambda a, b: _whole(math.floor, a),
    "ceil": lambda a, b: _whole(math.ceil, a),
    "trunc": lambda a, b: _whole(math.trunc, a),
    "round": lambda a, b: _whole(round, a),
    "fmod": _fmod,
    "isnan": lambda a, b: math.isnan(a),
    "isinf": lambda a, b: math.isinf(a),
    "isfinite": lambda a, b: math.isfinite(a),
    "strict_add": lambda a, b: a + b,
    "strict_sub": lambda a, b: a - b,
    "strict_mul": lambda a, b: a * b,
}
_INTEGER_CALLS: dict[str, Callable[[int, int, DType], int]] = {
    "abs": lambda a, b, t: abs(a),
    "sign": lambda a, b, t: (a > 0) - (a < 0),
    "pow": _power,
    "truncdiv": lambda a, b, t: _truncdiv(a, b),
    "truncmod": lambda a, b, t: _truncmod(a, b),
    "mul_sat": lambda a, b, t: min(max(a * b, t.low), t.high),
    "popcount": lambda a, b, t: (a & ((1 << t.bits) - 1)).bit_count(),
    "clz": lambda a, b, t: t.bits - a.bit_length() if a >= 0 else 0,
}


def _convert(value: Scalar, target: DType) -> Scalar:
    if target.is_bool:
        return value != 0
    if target.is_float:
        return value if isinstance(value, float) else _integer_to_float(int(value), target)
    if not isinstance(value, float):
        return int(value)
    if value != value:
        return 0
    if not target.low < value < target.high:
        return target.low if value <= target.low else target.high
    return int(value)


def _integer_to_float(value: int, target: DType) -> float:
    """Round an integer once; one that f64 cannot represent keeps a sticky bit for rounding to
    f32."""
    spare = value.bit_length() - 40
    if target.bits == 64 or spare <= 0:
        return float(value)
    size = abs(value)
    kept = size >> spare | bool(size & ((1 << spare) - 1))
    return math.copysign(math.ldexp(kept, spare), value)


def _fold_binary(node: Binary) -> Expr | None:
    a, b, dtype = _scalar(node.a), _scalar(node.b), node.a.dtype
    if a is None or b is None:
        return None
    compare = _COMPARE.get(type(node))
    if compare is not None:
        return _result(compare(a, b), node.dtype)
    if dtype.is_float:
        return _result(_FLOAT[type(node)](float(a), float(b), dtype), node.dtype)
    return _result(_INTEGER[type(node)](int(a), int(b), dtype), node.dtype)


def _fold_lazy(node: And | Or) -> Expr | None:
    value, decides = _scalar(node.a), isinstance(node, Or)
    return None if value is None else node.a if bool(value) is decides else node.b


def _fold_not(node: Not) -> Expr | None:
    value = _scalar(node.a)
    if value is None:
        return None
    return _result(not value if node.dtype.is_bool else ~int(value), node.dtype)


def _fold_neg(node: Neg) -> Expr | None:
    value = _scalar(node.a)
    return None if value is None else _result(-value, node.dtype)


def _fold_cast(node: Cast) -> Expr | None:
    value = _scalar(node.value)
    return None if value is None else _result(_convert(value, node.dtype), node.dtype)


def _fold_reinterpret(node: Reinterpret) -> Expr | None:
    value, old, new = _scalar(node.value), node.value.dtype, node.dtype
    if value is None or value != value:
        return None
    bits = _bits_of(float(value), old) if old.is_float else int(value)
    return _result(_of_bits(bits, new) if new.is_float else bits, new)


_FORMS = {"f16": "<e", "f32": "<f", "f64": "<d", "bf16": "<f"}


def _bits_of(value: float, dtype: DType) -> int:
    bits = int.from_bytes(struct.pack(_FORMS[str(dtype)], value), "little")
    return bits >> 16 if dtype.kind == "bf" else bits


def _of_bits(bits: int, dtype: DType) -> float:
    given = (bits % (1 << dtype.bits)).to_bytes(dtype.bits // 8, "little")
    return struct.unpack(_FORMS[str(dtype)], b"\0\0" + given if dtype.kind == "bf" else given)[0]


def _fold_ldexp(node: Ldexp) -> Expr | None:
    value, exponent = _scalar(node.value), _scalar(node.exponent)
    if value is None or exponent is None:
        return None
    try:
        return _result(math.ldexp(value, min(max(int(exponent), -4096), 4096)), node.dtype)
    except OverflowError:
        return _result(math.copysign(math.inf, value), node.dtype)


def _fold_choice(node: Select | Conditional) -> Expr | None:
    value = _scalar(node.cond)
    return None if value is None else node.then if value else node.otherwise


def _fold_call(node: Call) -> Expr | None:
    args = [value for value in map(_scalar, node.args) if value is not None]
    if not args or len(args) < len(node.args) or node.name not in FOLDED_CALLS:
        return None
    first, second, dtype = args[0], args[-1] if len(args) > 1 else 0, node.args[0].dtype
    if not dtype.is_float:
        integer = _INTEGER_CALLS[node.name]
        return _result(integer(int(first), int(second), dtype), node.dtype)
    case = _FLOAT_CALLS.get(node.name)  # pow is folded on integers only.
    return None if case is None else _result(case(float(first), float(second)), node.dtype)


FOLDERS: dict[type[Node], Callable[[Any], Expr | None]] = {
    **dict.fromkeys((*_INTEGER, *_FLOAT, *_COMPARE), _fold_binary),
    **dict.fromkeys((And, Or), _fold_lazy),
    Not: _fold_not,
    Neg: _fold_neg,
    Cast: _fold_cast,
    Reinterpret: _fold_reinterpret,
    Ldexp: _fold_ldexp,
    Select: _fold_choice,
    Conditional: _fold_choice,
    Call: _fold_call,
}
FOLDED_CALLS: frozenset[str] = frozenset(_FLOAT_CALLS) | frozenset(_INTEGER_CALLS)
# Classes that are never folded, and why; a test checks that none is missing.
KEPT_NODES: dict[type[Expr], str] = {
    Var: "has no value here",
    Const: "is one already",
    Load: "memory is not known here",
    Ramp: "a constant is a scalar",
    Broadcast: "a constant is a scalar",
    InstructionCall: "its meaning is a loop function",
}
KEPT_CALLS: dict[str, str] = {
    **{
        row.name: "generated code may differ in the last places"
        for row in INTRINSICS.values()
        if row.ulps > 0.5 and row.on == "float"
    },
    "fma": "needs more than f64 to round once",
    "muladd": "is rounded once or twice, by the target",
    **{row.name: "has an effect" for row in INTRINSICS.values() if row.on == "effect"},
}
