"""Primitives that mark loops and blocks: parallel, vectorize, unroll, bind, annotate, pragma."""

from collections.abc import Sequence
from typing import cast

from irkit.core import Attrs, AttrValue, ScheduleError, symbols_bound
from irkit.ir import (
    Block,
    For,
    LoopKind,
    PrimFunc,
    Var,
    dependences,
    is_const,
)
from irkit.schedule.accumulation import accumulates
from irkit.schedule.launch import THREAD_AXES, check_launch
from irkit.schedule.state import blocks_below, exchange, find_loop, variables

PRAGMAS: dict[str, type[int] | type[bool]] = {
    "auto_unroll_max_step": int,
    "parallel_chunks": int,
    "unroll_explicit": bool,
}
"""What lowering and code generation honour on a loop, and the type of its value."""


def mark(func: PrimFunc, var: Var, kind: LoopKind) -> PrimFunc:
    """Mark a loop parallel, vectorized or unrolled (or serial again).

    Raises: ScheduleError where the iterations of a parallel or vectorized loop are not shown to be
    independent (it takes part in a reduction, or two of them may touch the same element), and for
    a thread loop.
    """
    loop = find_loop(func, var)
    if loop.kind == "thread":
        raise ScheduleError(
            f"cannot make {var.name!r} {kind}: it is bound to {loop.thread}", at=loop
        )
    if kind in ("parallel", "vectorized"):
        _check_independent(func, loop, f"make {var.name!r} {kind}")
    return exchange(func, {loop: loop.replace(kind=kind)})


def _check_independent(func: PrimFunc, loop: For, what: str) -> None:
    for block in blocks_below(loop.body):
        for axis in block.axes:
            if axis.kind != "spatial" and loop.var in variables(axis.binding):
                raise ScheduleError(
                    f"cannot {what}: it takes part in the {axis.kind} axis "
                    f"{axis.var.name!r} of block {block.name!r}, so its iterations depend on "
                    "each other",
                    hint="Use rfactor to split the reduction first.",
                    at=loop,
                )
    reason = dependences(func).carried(loop)
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=loop)


def bind(func: PrimFunc, var: Var, axis: str) -> PrimFunc:
    """Let the iterations of a loop be the blocks, threads or virtual threads of a launch.

    Raises: ScheduleError as ``mark``, except that ``threadIdx`` may bind the loop of a reduction
    that is taken in any order; if the loop does not start at 0 or its extent changes during the
    launch; and where the axis stands in the same nest already, or elsewhere in the launch with
    another extent.
    """
    if axis not in THREAD_AXES:
        raise ScheduleError(
            f"there is no thread axis {axis!r}", hint=f"Known are: {', '.join(THREAD_AXES)}"
        )
    loop = find_loop(func, var)
    what = f"bind {var.name!r} to {axis}"
    if loop.kind != "serial":
        found = loop.thread or loop.kind
        raise ScheduleError(f"cannot {what}: it is marked {found}", at=loop)
    if not is_const(loop.begin, 0):
        raise ScheduleError(f"cannot {what}: it does not start at 0", at=loop)
    if variables(loop.end) & set(symbols_bound(func.body)):
        raise ScheduleError(f"cannot {what}: its extent changes during the launch", at=loop)
    if not (axis.startswith("threadIdx") and _is_reduction(func, loop)):
        _check_independent(func, loop, what)
    made = loop.replace(kind="thread", thread=axis)
    func = exchange(func, {loop: made})
    check_launch(func, made, what)
    return func


def _is_reduction(func: PrimFunc, loop: For) -> bool:
    """Say whether all that a loop does is to take the steps of one reduction, in any order."""
    stmt = loop.body
    while isinstance(stmt, For):
        stmt = stmt.body
    if not isinstance(stmt, Block):
        return False
    kinds = {axis.kind for axis in stmt.axes if loop.var in variables(axis.binding)}
    return kinds == {"reduce"} and accumulates(func, stmt)


def annotate(func: PrimFunc, stmt: For | Block, key: str, value: object) -> PrimFunc:
    """Give a loop or block a hint, in place of one with the same key.

    Raises: ScheduleError if the key is empty, or the value is no data that prints.
    """
    if not key:
        raise ScheduleError("an annotation needs a key", at=stmt)
    kept = [(name, old) for name, old in stmt.attrs if name != key]
    return exchange(func, {stmt: stmt.replace(attrs=(*kept, (key, _data(value, stmt))))})


def _data(value: object, at: For | Block, depth: int = 0) -> AttrValue:
    if isinstance(value, (tuple, list)) and depth < 2:
        items = cast("Sequence[object]", value)
        return tuple(_data(item, at, depth + 1) for item in items)  # pyright: ignore[reportReturnType] -- two deep at most
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise ScheduleError(
        f"an annotation is a string, number, bool, None, or a tuple of such, found {value!r}", at=at
    )


def unannotate(func: PrimFunc, stmt: For | Block, key: str) -> PrimFunc:
    """Take a hint away.

    Raises: ScheduleError if there is none of that key.
    """
    kept: Attrs = tuple((name, value) for name, value in stmt.attrs if name != key)
    if len(kept) == len(stmt.attrs):
        known = ", ".join(name for name, _ in stmt.attrs) or "none"
        raise ScheduleError(f"there is no annotation {key!r} here, only: {known}", at=stmt)
    return exchange(func, {stmt: stmt.replace(attrs=kept)})


def pragma(func: PrimFunc, var: Var, key: str, value: int | bool) -> PrimFunc:
    """Give a loop a hint that is honoured.

    Raises: ScheduleError if none does, or the value is of another type.
    """
    loop, expected = find_loop(func, var), PRAGMAS.get(key)
    if expected is None:
        raise ScheduleError(
            f"nothing honours the pragma {key!r}",
            hint=f"Known are: {', '.join(PRAGMAS)}. Use annotate for hints to passes of your own.",
            at=loop,
        )
    if type(value) is not expected or value < 0:  # A bool is an int to isinstance.
        raise ScheduleError(
            f"the pragma {key!r} is a {expected.__name__}, not negative, found {value!r}", at=loop
        )
    return annotate(func, loop, key, value)
