"""The intrinsic functions of ``Call``: the one table that declares them, a row for each.

A row has what can be declared: names and types of arguments, the type of the result, its range, its
error, and one line of help. ``te`` makes its functions from the rows, and ``build.call``, the text
reader, the verifier, the range analysis, graph operators, topi, fuzzers and tests read them.

What a function computes is defined by docs/semantics.md and written four times, since the four
check each other: for the interpreter (``interp/values.py``, NumPy), the folder (``arith/fold.py``,
Python numbers), the reference of te and graphs (``reference/functions.py``, NumPy, in f64), and
native code (``irkit/codegen``). A new function is a row here and a line in each of them;
tests name every place that lacks it.
"""

from collections.abc import Callable
from math import inf
from typing import Literal

import msgspec

from irkit.ir.dtype import BOOL, DType
from irkit.ir.expr import Expr

On = Literal["float", "integer", "number", "effect"]
Pair = tuple[int, int]
Bounds = Callable[[tuple[Pair, ...], int], Pair]
_ULPS_OF_F64 = 5.0
_ULPS_OF_16_BITS = 1.0


class Intrinsic(msgspec.Struct, frozen=True):
    """An intrinsic function: names of its parameters, the kind of types it accepts, and a summary
    of what it returns; ``gives`` is the type of its result, that of the arguments or bool.

    ``ulps`` is the largest distance of an f32 result from the true value, in units in the last
    place: 0 if it is exact, 0.5 if it is rounded once, more if generated code may differ. Between
    the ends of ``smooth``, the first argument gives results that are finite and small.

    ``bounds`` returns the exact range of an integer result, from the ranges of the arguments and
    the number of bits; None if it can be anything. A result outside the type wraps around, or
    becomes the nearest number of the type if it ``saturates``.
    """

    name: str
    params: tuple[str, ...]
    on: On
    summary: str
    gives: Literal["same", "bool", "none"] = "same"
    ulps: float = 0.0
    smooth: tuple[float, float] = (-inf, inf)
    bounds: Bounds | None = None
    saturates: bool = False
    commutes: bool = False

    @property
    def arity(self) -> int:
        return len(self.params)

    def accepts(self, dtype: DType) -> bool:
        """Return True if arguments can have a type; always for a function with an effect."""
        match self.on:
            case "float":
                return dtype.is_float
            case "integer":
                return dtype.is_integer
            case "number":
                return not dtype.is_bool
            case "effect":
                return True

    def result(self, dtype: DType) -> DType:
        """Return the type of the result for arguments of a type."""
        return dtype if self.gives == "same" else BOOL.with_lanes(dtype.lanes)

    def ulps_in(self, dtype: DType) -> float:
        """Return the largest distance from the true value in units in the last place of a type; 0
        for results that must be exact, as those of integers."""
        if not dtype.is_float or self.ulps <= 0.5:
            return self.ulps if dtype.is_float else 0.0
        return {64: _ULPS_OF_F64, 32: self.ulps}.get(dtype.bits, _ULPS_OF_16_BITS)


def _abs_bounds(args: tuple[Pair, ...], bits: int) -> Pair:
    ((low, high),) = args
    near = 0 if low <= 0 <= high else min(abs(low), abs(high))
    return near, max(abs(low), abs(high))


def _sign_bounds(args: tuple[Pair, ...], bits: int) -> Pair:
    ((low, high),) = args
    return (low > 0) - (low < 0), (high > 0) - (high < 0)


def _count_bounds(args: tuple[Pair, ...], bits: int) -> Pair:
    return 0, bits


def _truncdiv_bounds(args: tuple[Pair, ...], bits: int) -> Pair:
    nums, (low, high) = args
    # Monotone in each operand on either side of zero, so the corners are the extremes.
    divisors = [d for d in (low, -1, 1, high) if d and low <= d <= high]
    found = [abs(n) // abs(d) * (-1 if (n < 0) != (d < 0) else 1) for n in nums for d in divisors]
    found += [0] if low <= 0 <= high else []  # A zero divisor gives 0.
    return min(found), max(found)


def _truncmod_bounds(args: tuple[Pair, ...], bits: int) -> Pair:
    (low, high), divisors = args
    reach = max(abs(divisors[0]), abs(divisors[1]), 1) - 1
    return max(low, -reach) if low < 0 else 0, min(high, reach) if high > 0 else 0


def _product_bounds(args: tuple[Pair, ...], bits: int) -> Pair:
    first, second = args
    corners = [a * b for a in first for b in second]
    return min(corners), max(corners)


def _of_x(name: str, summary: str, ulps: float, smooth: Pair | tuple[float, float]) -> Intrinsic:
    return Intrinsic(name, ("x",), "float", summary, ulps=ulps, smooth=smooth)


def _whole(name: str, summary: str) -> Intrinsic:
    return Intrinsic(name, ("x",), "float", summary)


def _test(name: str, summary: str) -> Intrinsic:
    return Intrinsic(name, ("x",), "float", summary, "bool")


def _of_integers(name: str, params: tuple[str, ...], summary: str, bounds: Bounds) -> Intrinsic:
    return Intrinsic(name, params, "integer", summary, bounds=bounds)


def _strict(name: str, summary: str, *, commutes: bool = False) -> Intrinsic:
    return Intrinsic(name, ("a", "b"), "float", summary, ulps=0.5, commutes=commutes)


_ALL, _POSITIVE, _INSIDE = (-inf, inf), (0.25, inf), (-0.75, 0.75)
_ROWS = (
    _of_x("exp", "e to the power of x", 1.1, (-2, 2)),
    _of_x("exp2", "2 to the power of x", 1.1, (-2, 2)),
    _of_x("expm1", "e to the power of x, minus 1, precise near 0", 1.6, (-2, 2)),
    _of_x("log", "the natural logarithm of x", 1.0, _POSITIVE),
    _of_x("log2", "the logarithm of x to base 2", 2.4, _POSITIVE),
    _of_x("log10", "the logarithm of x to base 10", 2.4, _POSITIVE),
    _of_x("log1p", "the natural logarithm of 1 + x, precise near 0", 1.5, _POSITIVE),
    _of_x("sqrt", "the square root of x", 0.5, _POSITIVE),
    _of_x("rsqrt", "1 / sqrt(x)", 1.5, _POSITIVE),
    _of_x("sigmoid", "1 / (1 + exp(-x))", 2.5, _ALL),
    _of_x("tanh", "the hyperbolic tangent of x", 2.5, _ALL),
    _of_x("erf", "the error function of x", 1.3, _ALL),
    _of_x("sin", "the sine of x in radians", 0.6, _ALL),
    _of_x("cos", "the cosine of x in radians", 0.6, _ALL),
    _of_x("tan", "the tangent of x in radians", 0.6, (-1, 1)),
    _of_x("asin", "the angle between -pi/2 and pi/2 whose sine is x", 2.4, _INSIDE),
    _of_x("acos", "the angle between 0 and pi whose cosine is x", 1.5, _INSIDE),
    _of_x("atan", "the angle between -pi/2 and pi/2 whose tangent is x", 0.6, _ALL),
    _of_x("sinh", "the hyperbolic sine of x", 2.3, (-2, 2)),
    _of_x("cosh", "the hyperbolic cosine of x", 1.6, (-2, 2)),
    _of_x("asinh", "the inverse hyperbolic sine of x", 0.6, _ALL),
    _of_x("acosh", "the inverse hyperbolic cosine of x", 0.6, (1.25, inf)),
    _of_x("atanh", "the inverse hyperbolic tangent of x", 0.6, _INSIDE),
    _whole("floor", "x rounded to a whole number, down"),
    _whole("ceil", "x rounded to a whole number, up"),
    _whole("trunc", "x rounded to a whole number, towards 0"),
    _whole("round", "x rounded to the nearest whole number, ties to even"),
    Intrinsic("abs", ("x",), "number", "the magnitude of x", bounds=_abs_bounds),
    Intrinsic("sign", ("x",), "number", "1, 0 or -1, as x is", bounds=_sign_bounds),
    _test("isnan", "True if x is NaN"),
    _test("isinf", "True if x is an infinity"),
    _test("isfinite", "True if x is neither an infinity nor NaN"),
    Intrinsic("pow", ("a", "b"), "number", "a to the power of b", ulps=0.6),
    Intrinsic("atan2", ("a", "b"), "float", "the angle of the point (b, a) from (1, 0)", ulps=0.6),
    Intrinsic("fmod", ("a", "b"), "float", "the remainder of a / b with the sign of a"),
    _of_integers("truncdiv", ("a", "b"), "a / b, rounded towards 0", _truncdiv_bounds),
    _of_integers(
        "truncmod", ("a", "b"), "the remainder of a / b with the sign of a", _truncmod_bounds
    ),
    Intrinsic(
        "mul_sat",
        ("a", "b"),
        "integer",
        "a * b, or the nearest number that the type holds",
        bounds=_product_bounds,
        saturates=True,
        commutes=True,
    ),
    _of_integers("popcount", ("x",), "the number of bits set in x", _count_bounds),
    _of_integers(
        "clz", ("x",), "the number of zero bits above the highest one set in x", _count_bounds
    ),
    Intrinsic("fma", ("a", "b", "c"), "float", "a * b + c, rounded once", ulps=0.5),
    Intrinsic(
        "muladd",
        ("a", "b", "c"),
        "float",
        "a * b + c, rounded once where the target has an instruction for it, else twice",
        ulps=0.5,
    ),
    _strict("strict_add", "a + b, never contracted with another operation", commutes=True),
    _strict("strict_sub", "a - b, never contracted with another operation"),
    _strict("strict_mul", "a * b, never contracted with another operation", commutes=True),
    Intrinsic("barrier", (), "effect", "Wait for all threads of the nest", "none"),
    Intrinsic("prefetch", ("x",), "effect", "Hint that x will be read soon", "none"),
    Intrinsic(
        "start_clock",
        ("number", "iterations"),
        "effect",
        "Start a clock before a loop, and count its iterations",
        "none",
    ),
    Intrinsic("stop_clock", ("number",), "effect", "Stop a clock after its loop", "none"),
)
MAX_CLOCKS = 4096
"""Clocks that a function can have; their numbers are below it."""
HINT_NAMES = frozenset({"prefetch", "start_clock", "stop_clock"})
"""Functions whose effect no program can see."""
INTRINSICS: dict[str, Intrinsic] = {row.name: row for row in _ROWS}
"""The intrinsic functions by name."""


class Call(Expr, frozen=True):
    """A call of an intrinsic function by name; ``INTRINSICS`` lists them."""

    name: str
    args: tuple[Expr, ...]
    dtype: DType


class Reinterpret(Expr, frozen=True):
    """The bits of ``value`` as a number of another type of the same width; of a NaN, any that
    stand for one."""

    value: Expr
    dtype: DType


def reinterpret_problem(node: Reinterpret) -> str | None:
    """Return what is wrong with the types of a reinterpretation, or None."""
    old, new = node.value.dtype, node.dtype
    if old.is_bool or new.is_bool:
        return "reinterpret is not defined on bool"
    if old.bits != new.bits or old.lanes != new.lanes:
        return f"{old} and {new} differ in width; expected as many bits and lanes"
    return None


class Ldexp(Expr, frozen=True):
    """``value * 2**exponent``, rounded once: a float, and an integer of as many lanes."""

    value: Expr
    exponent: Expr
    dtype: DType


def ldexp_problem(node: Ldexp) -> str | None:
    """Return what is wrong with the types of a scaling by a power of 2, or None."""
    value, exponent = node.value.dtype, node.exponent.dtype
    if not value.is_float or not exponent.is_integer:
        return f"ldexp takes a float and an integer, found {value} and {exponent}"
    if value.lanes != exponent.lanes:
        return f"the operands of ldexp have types {value} and {exponent}; expected as many lanes"
    return None if node.dtype == value else f"ldexp has type {node.dtype}; expected {value}"


class InstructionCall(Expr, frozen=True):
    """A call of an instruction of a processor by name: a function of whole vectors, which touches
    no memory; ``irkit/ir/instructions`` lists them."""

    name: str
    args: tuple[Expr, ...]
    dtype: DType
