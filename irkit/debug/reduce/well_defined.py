"""Say whether a program has one meaning on its inputs: within bounds, and the same whatever fresh
memory holds and in which order loops without an order run.

A reducer that let go of this would end at programs of which every compiler may make what it likes.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from irkit.core import IRKitError, Node, any_node, rewrite, substitute
from irkit.debug.check.difference import identical
from irkit.debug.execution.executors import MAX_STEPS, arrays_of
from irkit.debug.execution.inputs import InputSet
from irkit.ir import (
    Allocate,
    Buffer,
    Expr,
    For,
    InterpretedFunction,
    PrimFunc,
    StepLimit,
    Stmt,
    Store,
    Var,
    const,
    seq,
    verify,
)

_ANY_ORDER = ("parallel", "vectorized", "thread")


def runs(func: PrimFunc, args: Sequence[Any], *, max_steps: int = MAX_STEPS) -> bool:
    """Say whether a function verifies and runs; ``args`` stay as they are.

    Raises: StepLimit if that takes too long.
    """
    return _outcome(func, args, max_steps) is not None


def is_well_defined(func: PrimFunc, args: Sequence[Any], *, max_steps: int = MAX_STEPS) -> bool:
    """Say whether a function verifies, runs, and leaves nothing to chance.

    Raises: StepLimit if that takes too long.
    """
    first = _outcome(func, args, max_steps)
    return first is not None and all(
        other is not None and all(map(identical, first, other))
        for other in (_outcome(made, args, max_steps) for made in _otherwise(func))
    )


def _outcome(func: PrimFunc, args: Sequence[Any], max_steps: int) -> tuple[Any, ...] | None:
    if verify(func):
        return None
    own = InputSet("", "given", tuple(args)).copied()
    try:
        InterpretedFunction(func)(*own, max_steps=max_steps)
    except StepLimit:
        raise
    except IRKitError:
        return None
    return arrays_of(func, own)


def _otherwise(func: PrimFunc) -> list[PrimFunc]:
    """Make programs that do the same unless something is left to chance."""
    made = list[PrimFunc]()
    if any_node(func, Allocate):
        made += [rewrite(func, partial(_filled, value=value), on=Allocate) for value in (0, 1)]
    if any_node(func, For, _has_no_order):
        made.append(rewrite(func, _backwards, on=For))
    return made


def _has_no_order(loop: For) -> bool:
    return loop.kind in _ANY_ORDER


def _filled(node: Allocate, *, value: int) -> Node:
    buffer: Buffer = node.buffer
    variables = tuple(Var(f"fill_{axis}", dim.dtype) for axis, dim in enumerate(buffer.shape))
    body: Stmt = Store(buffer, variables, const(value, buffer.dtype))
    for var, dim in zip(reversed(variables), reversed(buffer.shape), strict=True):
        body = For(var, const(0, dim.dtype), dim, body)
    return node.replace(body=seq(body, node.body))


def _backwards(loop: For) -> Node | None:
    if not _has_no_order(loop):
        return None
    turned: Expr = loop.end - 1 - loop.var + loop.begin
    return loop.replace(body=substitute(loop.body, {loop.var: turned}))
