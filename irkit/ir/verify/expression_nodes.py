"""Check an expression node: its fields and its types at once.

Whether both are right depends on the classes and types of what the node holds, and on little else.
So a combination that passed once needs no second look, and most nodes cost two look-ups.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from irkit.core import Node, children, field_problem, fields, uses
from irkit.ir.buffer import Load, Ramp
from irkit.ir.conditional import Conditional, Select
from irkit.ir.dtype import BOOL
from irkit.ir.expr import OPERATIONS, Broadcast, Cast, Const, Expr, Neg, Not
from irkit.ir.intrinsics import Call, Ldexp, Reinterpret
from irkit.ir.verify.types import TypeProblem, expression_problem

MOST_COMBINATIONS = 1 << 12
"""For each class; random programs have a few hundred."""
_Combination = tuple[Any, ...]
_OF_OPERANDS = (
    *OPERATIONS, Not, Neg, Cast, Reinterpret, Ldexp, Broadcast, Ramp, Select, Conditional,
)  # fmt: skip


class WrongField(Exception):
    """A field of an expression does not hold what its annotation requires."""


def node_problem(node: Expr, types: set[int]) -> TypeProblem:
    """Return what is wrong with the types of a node, or None.

    ``types`` has the ``id`` of each data type that was found to be one of irkit's; it grows.
    Raises: WrongField.
    """
    row = _ROWS.get(node.__class__)
    if row is None:
        return _looked_up(node, types)
    combination, passed = row
    try:
        found = combination(node)
        if found in passed and id(found[-1]) in types:
            return None
    except (
        AttributeError,
        TypeError,
        ValueError,
    ):  # A field holds what is no expression, or no type.
        return _looked_up(node, types)
    problem = _looked_up(node, types)
    if problem is None:
        if len(passed) >= MOST_COMBINATIONS:
            passed.clear()
        passed.add(found)
    return problem


def _looked_up(node: Expr, types: set[int]) -> TypeProblem:
    _check_fields(node)
    for part in (*children(node), *uses(node)):
        _check_fields(part)  # The rules about types rely on the operands.
    types.add(id(node.dtype))
    return expression_problem(node)


def _check_fields(node: Node) -> None:
    if field_problem(node) or not getattr(node, "dtype", BOOL).is_known():
        raise WrongField


def _of_operands(cls: type[Expr]) -> Callable[[Expr], _Combination]:
    """Return a function that lists classes and types of the operands, and the type of the node."""
    names = [field.name for field in fields(cls) if field.kind == "child"]
    read = [f"{name}.{what}" for name in names for what in ("__class__", "dtype")]
    return attrgetter(*read, "dtype")


def _of_constant(node: Const) -> _Combination:
    value, dtype = node.value, node.dtype
    if value.__class__ is int:
        return int, dtype.low <= value <= dtype.high, dtype
    return value.__class__, dtype


def _of_load(node: Load) -> _Combination:
    buffer, indices, mask = node.buffer, node.indices, node.mask
    memory = buffer.__class__, len(buffer.shape), buffer.dtype
    if len(indices) == 1 and mask is None:
        (index,) = indices
        return indices.__class__, index.__class__, index.dtype, *memory, node.dtype
    given = [part for index in indices for part in (index.__class__, index.dtype)]
    lanes = None if mask is None else mask.dtype
    return indices.__class__, *given, mask.__class__, lanes, *memory, node.dtype


def _of_call(node: Call) -> _Combination:
    given = [part for arg in node.args for part in (arg.__class__, arg.dtype)]
    return node.name.__class__, node.name, node.args.__class__, *given, node.dtype


_Row = tuple[Callable[[Any], _Combination], set[_Combination]]
# Instructions are missing here: programs can define some of the same name, one after the other.
_ROWS: dict[type[Node], _Row] = {
    **{cls: (_of_operands(cls), set[_Combination]()) for cls in _OF_OPERANDS},
    Const: (_of_constant, set()),
    Load: (_of_load, set()),
    Call: (_of_call, set()),
}
