"""The primitive env_threads: launch threads around a nest."""

from collections.abc import Sequence

from irkit.core import ScheduleError, Span, any_node
from irkit.ir import (
    Block,
    Evaluate,
    For,
    If,
    PrimFunc,
    Stmt,
    Var,
    const,
    eq,
    index,
    logical_and,
    replace_stmts,
)
from irkit.schedule.checks.launch import THREAD_AXES, check_launch
from irkit.schedule.state.lookup import path_to


def env_threads(
    func: PrimFunc, block: Block, axes: Sequence[tuple[str, int]]
) -> tuple[PrimFunc, list[Var]]:
    """Launch threads around the nest of a block; only the thread with index 0 on every axis runs
    it.

    Stages that do not use all threads of a launch can thus be in one launch with others that do.
    Raises: ScheduleError if an axis is unknown, already bound inside or given twice, an extent is
    not a positive number, or the nest contains a barrier, which the other threads would not reach.
    """
    nest = next(stmt for stmt in path_to(func, block) if isinstance(stmt, (For, Block)))
    _check_axes(block, axes)
    if any_node(nest, Evaluate):
        raise ScheduleError(
            f"cannot launch threads around block {block.name!r}: its nest has an effect other "
            "than on memory, such as a barrier",
            at=block,
        )
    zero = index(0)
    vars_ = [Var(axis.replace(".", "_"), zero.dtype) for axis, _ in axes]
    span = Span("schedule", "env_threads", parent=nest.span)
    made: Stmt = If(logical_and(*(eq(var, zero) for var in vars_)), nest, span=span)
    loops: list[For] = []
    for var, (axis, extent) in reversed(list(zip(vars_, axes, strict=True))):
        made = For(var, zero, const(extent, zero.dtype), made, "thread", axis, span=span)
        loops.append(made)
    func = replace_stmts(func, {nest: made})
    for loop in loops:
        check_launch(func, loop, f"launch {loop.thread} around block {block.name!r}")
    return func, vars_


def _check_axes(block: Block, axes: Sequence[tuple[str, int]]) -> None:
    names = [axis for axis, _ in axes]
    unknown = [name for name in names if name not in THREAD_AXES]
    if unknown or not names:
        raise ScheduleError(
            f"unknown thread axis {unknown[0]!r}" if unknown else "env_threads needs an axis",
            hint=f"Known axes: {', '.join(THREAD_AXES)}",
            at=block,
        )
    if len(set(names)) != len(names):
        raise ScheduleError("env_threads was given an axis twice", at=block)
    for axis, extent in axes:
        if type(extent) is not int or extent < 1:
            raise ScheduleError(
                f"the extent of {axis} must be a positive int, found {extent!r}", at=block
            )
