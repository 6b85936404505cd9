"""How far floats may differ between two programs that mean the same.

The program is run again with its floats replaced (its variants): by f64, which gives the true
value; by magnitudes, which never cancel; and by counts of roundings. A sum of products then has the
bound 2 sqrt(K) u sum |a| |b|, for K roundings on the longest path to a result.
"""

import math
from collections.abc import Callable

import numpy as np

from irkit.core import DTypeError, any_node, rewrite, substitute, symbols_bound
from irkit.debug.check.difference import is_float
from irkit.debug.execution.inputs import Array, InputSet
from irkit.ir import (
    F64,
    Add,
    Buffer,
    Call,
    Cast,
    Compare,
    Const,
    Div,
    DType,
    Expr,
    FloorDiv,
    FloorMod,
    Max,
    Min,
    Mul,
    Neg,
    PrimFunc,
    Sub,
    Var,
    call,
    const,
    verify,
)

# Allowed error of a function of the C library, and of results computed from it; see
# docs/semantics.md.
ULPS = 16
OWN_ERRORS = 4
_EXACT = {"abs", "fma"}


def in_f64(func: PrimFunc) -> PrimFunc | None:
    """Return the variant in f64, or None if the program uses the bits of its floats."""
    new = {
        symbol: symbol.replace(dtype=_widened(symbol.dtype)).copied()
        for symbol in symbols_bound(func)
        if isinstance(symbol, (Buffer, Var)) and symbol.dtype.is_float
    }
    try:
        wide = rewrite(substitute(func, new), _expr_in_f64, on=Expr)
    except DTypeError:
        return None
    return wide if not verify(wide) else None


def _widened(dtype: DType) -> DType:
    return F64.with_lanes(dtype.lanes) if dtype.is_float else dtype


def _expr_in_f64(node: Expr) -> Expr | None:
    if not node.dtype.is_float or isinstance(node, Var):
        return None
    if isinstance(node, Cast) and node.value.dtype.is_float:
        # An addition, since the cast rounds as one does.
        return Add(node.value, const(0.0, node.value.dtype), node.value.dtype)
    return node.replace(dtype=_widened(node.dtype))


def is_polynomial(func: PrimFunc) -> bool:
    """Return True if floats are only added, multiplied, moved, and compared by min and max."""

    def beyond(node: Expr) -> bool:
        match node:
            case Compare():
                return node.a.dtype.is_float
            case Cast():
                return node.value.dtype.is_float and not node.dtype.is_float
            case Div() | FloorDiv() | FloorMod():
                return node.dtype.is_float
            case Call():
                return (node.dtype.is_float and node.name not in _EXACT) or _tests_floats(node)
            case _:
                return False

    return not any_node(func, Expr, beyond)


def _tests_floats(node: Call) -> bool:
    return any(arg.dtype.is_float for arg in node.args) and not node.dtype.is_float


def _magnitude(node: Expr) -> Expr | None:
    if not node.dtype.is_float:
        return None
    match node:
        case Sub(a, b):
            return Add(a, b, node.dtype)
        case Min(a, b):
            return Max(a, b, node.dtype)
        case Neg(a):
            return a
        case Const(value):
            return const(_magnitude_of(value), node.dtype)
        case Cast():
            return call("abs", node)
        case _:
            return None


def _magnitude_of(value: int | float) -> float:
    """Return the size of a value for a bound; an infinity has no error, so it adds nothing."""
    return abs(value) if math.isfinite(value) else 0.0


def _magnitudes(array: Array) -> Array:
    return np.where(np.isfinite(array), np.abs(array), 0.0)


def _roundings(node: Expr) -> Expr | None:
    if not node.dtype.is_float:
        return None
    match node:
        case Add(a, b) | Sub(a, b):
            return Add(Max(a, b, node.dtype), const(1.0, node.dtype), node.dtype)
        case Mul(a, b):
            return Add(Add(a, b, node.dtype), const(1.0, node.dtype), node.dtype)
        case Call("fma", (a, b, c)):
            both = Add(Add(a, b, node.dtype), const(1.0, node.dtype), node.dtype)
            return Add(Max(both, c, node.dtype), const(1.0, node.dtype), node.dtype)
        case Call("abs", (a,)) | Neg(a):
            return a
        case Min(a, b):
            return Max(a, b, node.dtype)
        case Const():
            return const(0.0, node.dtype)
        case Cast():
            return const(1.0, node.dtype)
        case _:
            return None


Runner = Callable[[PrimFunc, list[object]], list[Array] | None]


class Precision:
    """Error bounds for the results of one function on one set of inputs."""

    def __init__(self, func: PrimFunc, inputs: InputSet, run: Runner) -> None:
        self.func, self.inputs, self.run = func, inputs, run
        self.wide = in_f64(func)
        self._done: list[Array | None] | None = None

    def allowed(self, own: list[Array]) -> list[Array | None]:
        """Return a bound on the error of each array; None where it must be exact, as integers must.

        ``own`` are the results of the function itself.
        """
        if self._done is None:
            self._done = self._bounds(own)
        return self._done

    def _bounds(self, own: list[Array]) -> list[Array | None]:
        if self.inputs.kind == "special values" or self.wide is None:
            return [_relative(array, array) if is_float(array) else None for array in own]
        if is_polynomial(self.func):
            sizes = self._variant(_magnitude, _magnitudes)
            counts = self._variant(_roundings, np.zeros_like)
            if sizes is not None and counts is not None:
                whole = self.inputs.kind == "whole numbers" and not any_node(
                    self.func, Const, _is_fraction
                )
                return [
                    _bound(array, size, count, whole) if is_float(array) else None
                    for array, size, count in zip(own, sizes, counts, strict=True)
                ]
        true = self.run(self.wide, self._args(lambda array: array))
        return [
            (_relative(array, value) + OWN_ERRORS * _error(array, value))
            if is_float(array)
            else None
            for array, value in zip(own, true or own, strict=True)
        ]

    def _variant(
        self, rule: Callable[[Expr], Expr | None], start: Callable[[Array], Array]
    ) -> list[Array] | None:
        assert self.wide is not None
        return self.run(rewrite(self.wide, rule, on=Expr), self._args(start))

    def _args(self, start: Callable[[Array], Array]) -> list[object]:
        made: list[object] = []
        for param, arg in zip(self.func.params, self.inputs.copied(), strict=True):
            if not param.dtype.is_float:
                made.append(arg)
            elif isinstance(param, Buffer):
                made.append(start(arg.astype(np.float64)))
            else:
                made.append(float(start(np.asarray(arg, np.float64))))
        return made


_UNIT = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}


def unit_of(array: Array) -> float:
    """Return the largest relative error of one rounding."""
    return _UNIT[array.dtype.name]


def _is_fraction(node: Const) -> bool:
    return isinstance(node.value, float) and not node.value.is_integer()


def _bound(array: Array, size: Array, count: Array, whole: bool) -> Array:
    """Bound a sum of products; whole numbers that all fit the mantissa must be exact."""
    unit = unit_of(array)
    bound = 2 * np.sqrt(count) * unit * size
    return np.where(size <= 1 / unit, 0.0, bound) if whole else bound


def _relative(array: Array, value: Array) -> Array:
    with np.errstate(all="ignore"):
        return ULPS * 2 * unit_of(array) * np.abs(value.astype(np.float64))


def _error(array: Array, value: Array) -> float:
    with np.errstate(all="ignore"):
        apart = np.abs(array.astype(np.float64) - value)
    finite = apart[np.isfinite(apart)]
    return float(finite.max()) if finite.size else 0.0
