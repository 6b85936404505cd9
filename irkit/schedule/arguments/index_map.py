"""Index maps: functions from indices to indices, as Python functions or as text."""

import ast
import inspect
import operator
from collections.abc import Callable, Sequence
from typing import Any, cast

from irkit.core import ScheduleError
from irkit.ir import Expr, ExprLike, Var, const, is_printable, plain, run_traced, script
from irkit.schedule.arguments.condition import condition_expr, with_bit_operators
from irkit.schedule.limits import MOST_MAP_TEXT

IndexMap = Callable[..., Sequence[ExprLike] | ExprLike]

_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,  # pyright: ignore[reportUnknownMemberType] -- typeshed leaves it open
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,  # pyright: ignore[reportUnknownMemberType] -- typeshed leaves it open
    ast.BitOr: operator.or_,  # pyright: ignore[reportUnknownMemberType] -- typeshed leaves it open
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def map_text(index_map: IndexMap, rank: int, is_condition: bool = False) -> str:
    """Print an index map over ``rank`` indices, or with ``is_condition`` a condition, as a
    ``lambda`` that :func:`map_from` reads.

    Raises: ScheduleError if it uses more than integer arithmetic.
    """
    if isinstance(index_map, ParsedMap):
        return index_map.text
    given = [each.name for each in inspect.signature(index_map).parameters.values()]
    names = [
        given[at] if len(given) == rank and is_printable(given[at]) else f"d{at}"
        for at in range(rank)
    ]
    axes = [Var(name) for name in names]
    if is_condition:
        condition = with_bit_operators(condition_expr(index_map, axes))
        text = f"lambda {', '.join(names)}: {script(condition)}"
    else:
        parts = [script(item) for item in image_of(index_map, axes)]
        text = f"lambda {', '.join(names)}: ({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    map_from(text)
    return text


def map_from(text: str) -> IndexMap:
    """Parse the text of an index map, without executing it.

    Raises: ScheduleError if it is anything but a ``lambda`` over integer arithmetic.
    """
    try:
        if len(text) > MOST_MAP_TEXT:
            raise ScheduleError(
                f"an index map of {len(text)} characters is too long; at most {MOST_MAP_TEXT} are "
                "allowed"
            )
        tree = ast.parse(text, mode="eval").body
        if not isinstance(tree, ast.Lambda):
            raise ScheduleError(f"an index map must be a lambda, found {text[:80]!r}")
        read = ParsedMap(text, [arg.arg for arg in tree.args.args], tree.body)
        run_traced(read, *(Var(name) for name in read.names))
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        raise ScheduleError(f"not an index map: {text[:80]!r}") from None
    return read


def image_of(index_map: IndexMap, indices: Sequence[Any]) -> tuple[Expr, ...]:
    """Apply an index map to expressions."""
    return tuple(plain(item) for item in parts_of(run_traced(index_map, *indices)))


def _check_takes(index_map: IndexMap, count: int) -> None:
    try:
        inspect.signature(index_map).bind(*range(count))
    except TypeError:
        raise ScheduleError(f"the index map does not take {count} indices") from None
    except ValueError:
        return  # Its signature is unknown.


def parts_of(given: Sequence[ExprLike] | ExprLike) -> Sequence[ExprLike]:
    """Return the results of an index map as a sequence, also where it returned one index alone."""
    return cast("Sequence[ExprLike]", given if isinstance(given, (tuple, list)) else (given,))


class ParsedMap:
    """An index map parsed from text; it can be called with any values."""

    def __init__(self, text: str, names: list[str], body: ast.expr) -> None:
        self.text, self.names, self.body = text, names, body

    def __call__(self, *indices: Any) -> Any:
        if len(indices) != len(self.names):
            raise ScheduleError(
                f"the index map takes {len(self.names)} indices, found {len(indices)}: {self.text}"
            )
        scope = dict(zip(self.names, indices, strict=True))
        return _computed(self.body, scope)


def _computed(tree: ast.expr, scope: dict[str, Any]) -> Any:
    match tree:
        case ast.Tuple() | ast.List():
            return tuple(_computed(item, scope) for item in tree.elts)
        case ast.Name() if tree.id in scope:
            return scope[tree.id]
        case ast.Constant(value=bool(value)):
            return const(value)
        case ast.Constant(value=int(value)):
            return value
        case ast.UnaryOp(op=ast.USub()):
            return -_computed(tree.operand, scope)
        case ast.BinOp() if type(tree.op) in _OPERATORS:
            left, right = _computed(tree.left, scope), _computed(tree.right, scope)
            return _OPERATORS[type(tree.op)](left, right)
        case ast.UnaryOp(op=ast.Invert() | ast.Not()):
            return ~_computed(tree.operand, scope)
        case ast.Compare(ops=[op], comparators=[other]) if type(op) in _COMPARISONS:
            left, right = _computed(tree.left, scope), _computed(other, scope)
            return _COMPARISONS[type(op)](left, right)
        case _:
            raise ScheduleError(f"an index map must not contain {ast.unparse(tree)!r}")


class RecordedMap:
    """An index map that records how many indices it is called with, so that it can be printed."""

    def __init__(self, index_map: IndexMap) -> None:
        self.index_map = index_map
        self.rank = 0
        self.is_condition = False

    def __call__(self, *indices: Any) -> Any:
        if not isinstance(self.index_map, ParsedMap):
            _check_takes(self.index_map, len(indices))
        self.rank = len(indices)
        given = self.index_map(*indices)
        self.is_condition = isinstance(given, Expr) and given.dtype.is_bool
        return given

    def written(self) -> str:
        """Return the map as text."""
        return map_text(self.index_map, self.rank, self.is_condition)


def as_index_map(arg: object) -> Any:
    """Wrap an argument that is an index map in a RecordedMap; return others unchanged."""
    return RecordedMap(cast(IndexMap, arg)) if callable(arg) and not isinstance(arg, type) else arg
