"""Put a block under new loops over parts of its axes."""

from collections.abc import Sequence

from irkit.core import Span, substitute
from irkit.ir import (
    Axis,
    Block,
    Expr,
    For,
    PrimFunc,
    Stmt,
    Var,
    as_int,
    const,
    convert,
    ge,
    lt,
    nested,
    prove,
    seq,
    simplify,
)
from irkit.ir.analysis import SymbolicInterval
from irkit.schedule.analysis.guards import joined
from irkit.schedule.analysis.ranges import facts_of, ranges_at


def regenerate(
    func: PrimFunc,
    block: Block,
    spans: dict[Var, SymbolicInterval],
    guards: Sequence[Expr],
    above: Sequence[For],
    span: Span,
) -> Stmt:
    """Put a block under new loops: over parts of some axes, and over all of the others."""
    ordered = sorted(block.axes, key=lambda axis: axis.kind != "spatial")
    loops: list[For] = []
    bindings: dict[Var, Expr] = {}
    parts: list[tuple[Axis, Expr]] = []
    ranges = ranges_at(func)
    for at, axis in enumerate(ordered):
        dtype = axis.var.dtype
        counter = Var(f"ax{at}", dtype)
        reach = _worthwhile(spans.get(axis.var), axis, ranges, facts_of(above))
        begin = const(0, dtype) if reach is None else convert(reach.low, dtype)
        extent = axis.extent if reach is None else reach.high - reach.low + 1
        end = convert(simplify(extent, ranges), dtype)
        loops.append(For(counter, const(0, dtype), end, seq(), span=span))
        bindings[axis.var] = counter if reach is None else simplify(begin + counter, ranges)
        if reach is not None:
            parts.append((axis, bindings[axis.var]))
    inside = ranges_at(func, loops)
    facts = facts_of([*above, *loops])
    tests: list[Expr] = [substitute(guard, bindings) for guard in guards]
    for axis, at in parts:
        tests += [ge(at, 0)] * (not prove(ge(at, 0), inside, facts))
        tests += [lt(at, axis.extent)] * (not prove(lt(at, axis.extent), inside, facts))
    moved = block.replace(
        axes=tuple(axis.replace(binding=bindings[axis.var]) for axis in block.axes),
        predicate=joined(tests),
        reads=None,
        writes=None,
        span=span,
    )
    return nested(loops, moved)


def _worthwhile(
    reach: SymbolicInterval | None, axis: Axis, ranges: object, facts: Sequence[Expr]
) -> SymbolicInterval | None:
    """Return None for an interval as long as the axis: the whole axis needs no guard."""
    if reach is None or reach.low.dtype != axis.extent.dtype:
        return None
    length = simplify(reach.high - reach.low + 1)
    number, whole = as_int(length), as_int(axis.extent)
    if number is not None and whole is not None:
        return reach if number < whole else None
    return None if length == simplify(axis.extent) else reach
