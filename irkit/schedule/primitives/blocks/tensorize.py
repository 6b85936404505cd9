"""The primitive tensorize: replace the body of a block by a tensor intrinsic."""

from collections.abc import Mapping

from irkit.core import ScheduleError, Span, fresh, rewrite
from irkit.ir import (
    Buffer,
    Conditional,
    Expr,
    Interval,
    Load,
    PrimFunc,
    Ramp,
    Stmt,
    Store,
    Var,
    loop_ranges,
    prove,
    ramp,
    replace_stmts,
)
from irkit.schedule.analysis.intrinsic_match import MatchedPart, Mismatch, match_intrinsic
from irkit.schedule.analysis.ranges import ranges_at
from irkit.schedule.arguments.intrinsics import TensorIntrin
from irkit.schedule.state.lookup import find_block


def tensorize(func: PrimFunc, name: str, intrin: TensorIntrin) -> PrimFunc:
    """Replace the body of a block by a tensor intrinsic, on the parts of the buffers that it
    accesses.

    The body must match the description of the intrinsic loop by loop, except for names and the
    offsets of the parts. Loads and stores of the implementation are rewritten to those parts, so
    later steps see what they access.
    Raises: ScheduleError with the first difference if it does not match.
    """
    block = find_block(func, name)
    params = tuple(param for param in intrin.desc.params if isinstance(param, Buffer))
    ranges = ranges_at(func)
    try:
        parts = match_intrinsic(_decided(block.body, ranges), intrin.desc.body, params, ranges)
    except Mismatch as why:
        raise ScheduleError(
            f"cannot compute {name!r} by {intrin.name!r}: {why}", at=block
        ) from None
    span = Span("schedule", "tensorize", parent=block.span)
    by_impl = {
        ours: parts[theirs]
        for ours, theirs in zip(intrin.impl.params, params, strict=True)
        if isinstance(ours, Buffer)
    }

    def place(node: Load | Store) -> Load | Store | None:
        part = by_impl.get(node.buffer)
        if part is None:
            return None
        return node.replace(buffer=part.buffer, indices=_moved(node.indices, part))

    def mark(stmt: Stmt) -> Stmt:
        return stmt.replace(span=span)

    body = rewrite(rewrite(fresh(intrin.impl.body), place, on=(Load, Store)), mark, on=Stmt)
    return replace_stmts(func, {block: block.replace(body=body, reads=None, writes=None)})


def _decided(body: Stmt, ranges: Mapping[Var, Interval]) -> Stmt:
    """Resolve what depends on a condition that holds in all iterations, such as the padding of the
    inner part of a buffer."""
    inside = loop_ranges(body, ranges)

    def decide(node: Conditional) -> Expr | None:
        return node.then if prove(node.cond, inside) else None

    return rewrite(body, decide, on=Conditional)


def _moved(indices: tuple[Expr, ...], part: MatchedPart) -> tuple[Expr, ...]:
    return tuple(
        begin if dim is None else _after(begin, indices[dim])
        for begin, dim in zip(part.begins, part.dims, strict=True)
    )


def _after(begin: Expr, index: Expr) -> Expr:
    if isinstance(index, Ramp):  # Keep the ramp: only ramps are loaded as one vector.
        return ramp(begin + index.base, index.stride, index.dtype.lanes)
    return begin + index
