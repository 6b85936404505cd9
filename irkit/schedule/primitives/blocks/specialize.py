"""The primitive specialize: choose between copies of a body when it runs."""

from collections.abc import Sequence

from irkit.core import ScheduleError, Span, any_node, walk
from irkit.ir import Block, Compare, Const, Expr, If, Let, Load, PrimFunc, Stmt, Var, shape_vars
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.rewrite.clone import Cloner

MOST_COPIES = 16


def specialize(func: PrimFunc, conditions: Sequence[Expr]) -> tuple[PrimFunc, list[list[str]]]:
    """Run a copy of the body where the first of some conditions holds that does, and the body
    itself where none does.

    All copies compute the same, so each can be scheduled for what its condition says. Returns the
    names of the blocks of each copy, in the order of the conditions.
    Raises: ScheduleError if a condition depends on more than sizes and scalar parameters.
    """
    if not 0 < len(conditions) <= MOST_COPIES:
        raise ScheduleError(
            f"specialize takes 1 to {MOST_COPIES} conditions, found {len(conditions)}"
        )
    known = {*shape_vars(func), *(param for param in func.params if isinstance(param, Var))}
    for condition in conditions:
        _check_condition(condition, known)
    cloner = Cloner(func)
    copies = [cloner.clone(func.body) for _ in conditions]
    body: Stmt = func.body
    span = Span("schedule", "specialize", parent=func.body.span)
    for condition, copy in zip(reversed(conditions), reversed(copies), strict=True):
        body = _choice(condition, copy, body, span)
    names = [[block.name for block in walk(copy, on=Block)] for copy in copies]
    return func.replace(body=body), names


def _choice(condition: Expr, copy: Stmt, other: Stmt, span: Span) -> Stmt:
    """Return a branch between two bodies.

    A condition that is not the comparison of a size with a number gets a name: it does not help to
    simplify what is under it, where it would be looked at for each expression.
    """
    sides = (condition.a, condition.b) if isinstance(condition, Compare) else (condition,)
    if all(isinstance(side, (Const, Var)) for side in sides):
        return If(condition, copy, other, span=span)
    chosen = Var("chosen", condition.dtype)
    return Let(chosen, condition, If(chosen, copy, other, span=span), span=span)


def _check_condition(condition: Expr, known: set[Var]) -> None:
    if condition.dtype.kind != "bool" or condition.dtype.lanes != 1:
        raise ScheduleError(f"specialize takes conditions, found {condition.dtype}")
    strange = variables(condition) - known
    if strange or any_node(condition, Load):
        what = f"{min(var.name for var in strange)!r}" if strange else "memory"
        raise ScheduleError(
            f"a condition of specialize can use sizes and scalar parameters only, found {what}"
        )
