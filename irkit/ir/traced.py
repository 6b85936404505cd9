"""Trace a function that describes a program: ``==``, ``<`` and the others make expressions.

Python's ``if``, ``and``, ``not`` and ``in`` ask an expression for a truth value, and it has none: a
traced program chooses by ``if_then_else`` and combines by ``&``. Only what compares by structure is
marked (:class:`Traced`); variables and constants look themselves whether they are in a trace.
"""

from collections.abc import Callable
from dis import get_instructions
from types import CellType, FunctionType
from typing import Any, NoReturn, cast

from irkit.core import rewrite
from irkit.ir.build import logical_not
from irkit.ir.dtype import DType
from irkit.ir.expr import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Compare,
    Const,
    Expr,
    ExprLike,
    Var,
    as_expr,
    binary,
)
from irkit.ir.tracing.refused_operators import no_truth_value
from irkit.ir.tracing.traces import tracing

_COMPARISONS: dict[str, type[Compare]] = {
    "eq": EQ,
    "ne": NE,
    "lt": LT,
    "le": LE,
    "gt": GT,
    "ge": GE,
}


class Traced(Expr, frozen=True, eq=False):
    """An expression that a traced function made; ``plain`` takes the marks away.

    Its hash is that of the expression: as a key of a dictionary it is this object, and another that
    could be equal is refused.
    """

    expr: Expr
    dtype: DType

    @staticmethod
    def of(made: Any) -> Any:
        """Mark what compares by structure."""
        if not isinstance(made, Expr) or isinstance(made, (Var, Const, Traced)):
            return made
        return Traced(made, made.dtype)

    @staticmethod
    def compare(name: str, a: object, b: object) -> Any:
        """Return the expression of a comparison, marked."""
        return Traced.of(binary(_COMPARISONS[name], cast(ExprLike, a), cast(ExprLike, b)))

    def __eq__(self, other: object) -> bool:
        return Traced.compare("eq", self, other)

    def __ne__(self, other: object) -> bool:
        return Traced.compare("ne", self, other)

    def __hash__(self) -> int:
        return hash(self.expr)

    def __invert__(self) -> Expr:
        return logical_not(self)

    def __bool__(self) -> NoReturn:
        raise no_truth_value(self.expr)


def run_traced(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in a trace. ``plain`` makes its results expressions."""
    with tracing(Traced):
        return _rebound(function)(*(Traced.of(arg) for arg in args))


def _rebound(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that finds marks where it uses compound expressions made before.

    Those in containers, and what other functions use, keep comparing by structure.
    """
    if not isinstance(function, FunctionType):
        return function
    code, names = function.__code__, function.__globals__
    marked = {
        name: Traced.of(names[name])
        for name in code.co_names
        if isinstance(names.get(name), Expr) and Traced.of(names[name]) is not names[name]
    }
    cells = tuple(_marked_cell(cell) for cell in function.__closure__ or ())
    defaults = tuple(Traced.of(value) for value in function.__defaults__ or ())
    same = all(a is b for a, b in zip(cells, function.__closure__ or (), strict=True))
    if not marked and same and not any(isinstance(value, Traced) for value in defaults):
        return function
    if any(each.opname in ("STORE_DEREF", "STORE_GLOBAL") for each in get_instructions(code)):
        return function
    made = FunctionType(code, {**names, **marked}, function.__name__, defaults, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _marked_cell(cell: CellType) -> CellType:
    try:
        held = cell.cell_contents
    except ValueError:  # It has no value yet.
        return cell
    made = Traced.of(held)
    return cell if made is held else CellType(made)


def plain(expr: ExprLike, like: DType | None = None) -> Expr:
    """Return what a traced function made as an expression without marks; see ``as_expr``."""
    return rewrite(as_expr(expr, like), _unmarked, on=Traced)


def _unmarked(node: Traced) -> Expr:
    return node.expr
