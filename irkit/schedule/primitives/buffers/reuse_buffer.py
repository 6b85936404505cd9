"""The primitive reuse_buffer: make two buffers share memory."""

from collections.abc import Sequence

from irkit.core import Node, ScheduleError, Span, rewrite, substitute
from irkit.ir import (
    Allocate,
    Block,
    Buffer,
    Expr,
    For,
    PrimFunc,
    Stmt,
    as_int,
    liveness,
    replace_stmts,
    shape_vars,
    simplify,
)
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.checks.block_buffers import buffer_written, own_buffer
from irkit.schedule.state.lookup import find_block, path_to


def reuse_buffer(func: PrimFunc, first: str, second: str) -> PrimFunc:
    """Store what the second block writes in the memory of the buffer that the first block writes.

    Raises: ScheduleError unless both are intermediate buffers of the same type and scope, the
    second fits into the first along every axis, and they are never live at the same time.
    """
    blocks = find_block(func, first), find_block(func, second)
    a, b = buffer_written(func, first), buffer_written(func, second)
    what = f"store {b.name!r} in the memory of {a.name!r}"
    homes = [own_buffer(func, *each, what) for each in zip(blocks, (a, b), strict=True)]
    reason = _misfit(a, b)
    if any(dict(home.attrs) for home in homes):
        reason = "one of them has attributes"
    elif not reason and liveness(func).interfere(a, b):
        reason = "they are live at the same time"
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=blocks[1])
    paths = [path_to(func, home) for home in homes]
    shared = [x for x, y in zip(*paths, strict=False) if x is y]
    for path in paths:
        _check_leaves(path, len(shared), a, blocks[1], what)
    if not {var for dim in a.shape for var in variables(dim)} <= set(shape_vars(func)):
        raise ScheduleError(f"cannot {what}: its shape changes in a loop", at=blocks[1])
    both, top = a.copy(), shared[-1]
    around = Allocate(both, top, span=Span("schedule", "reuse_buffer", parent=homes[0].span))

    def bare(node: Allocate) -> Stmt | None:
        return node.body if node.buffer in (a, b) else None

    made = rewrite(replace_stmts(func, {top: around}), bare, on=Allocate)
    names: dict[Node, Node] = {a: both, b: both}
    return substitute(made, names)


def _misfit(a: Buffer, b: Buffer) -> str:
    if (a.dtype, a.scope) != (b.dtype, b.scope):
        return "they differ in type or scope"
    if a.rank != b.rank or not all(map(_is_within, b.shape, a.shape)):
        return "it does not fit along every axis"
    if b.strides is not None and b.strides != a.strides:
        return f"{b.name!r} has strides"
    return "" if b.align <= max(a.align, 1) else f"{b.name!r} needs a stricter alignment"


def _is_within(small: Expr, large: Expr) -> bool:
    x, y = as_int(small), as_int(large)
    if x is not None and y is not None:
        return x <= y
    return small.dtype == large.dtype and as_int(simplify(large - small)) == 0


def _check_leaves(path: Sequence[Stmt], at: int, buffer: Buffer, block: Block, what: str) -> None:
    """Check that the memory does not have to move out of a scope that needs a separate copy."""
    reason = ""
    for stmt in path[at:]:
        if isinstance(stmt, For) and stmt.kind not in ("serial", "unrolled"):
            reason = f"iterations of the {stmt.kind} loop {stmt.var.name!r} would share it"
        elif isinstance(stmt, Block) and (stmt.reads is not None or stmt.writes is not None):
            reason = (
                f"block {stmt.name!r} declares what it accesses, which does not include that memory"
            )
    threads = (stmt.kind == "thread" for stmt in path[:at] if isinstance(stmt, For))
    if buffer.is_shared and any(threads):
        reason = "other threads may still need it"
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=block)
