"""The primitive decompose_reduction: move the initialisation of a reduction before a loop."""

from collections.abc import Sequence

from irkit.core import ScheduleError, Span, walk
from irkit.ir import (
    Block,
    For,
    Load,
    Max,
    Min,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    dependences,
    nested,
    replace_stmts,
    seq,
)
from irkit.schedule.analysis.accesses import variables, written_by
from irkit.schedule.analysis.domain import Points
from irkit.schedule.analysis.guards import reduced_over
from irkit.schedule.analysis.ranges import ranges_at
from irkit.schedule.analysis.reduction_steps import (
    first_step_initialises,
    has_steps,
    unless_empty,
)
from irkit.schedule.checks.reduced_loops import check_unmixed
from irkit.schedule.rewrite.reduction_init import init_nest
from irkit.schedule.state.lookup import blocks_below, find_block, find_loop, loops_to, path_to


def decompose_reduction(func: PrimFunc, name: str, var: Var) -> tuple[PrimFunc, str]:
    """Move the initialisation of a reduction into a new block before a loop.

    The new block is named ``NAME_init`` and is under copies of the spatial loops from ``var``
    inwards. Where the reduction can be empty, a condition keeps the block from initialising then.
    Raises: ScheduleError if the block has no initialisation, the loop is not around it, or a
    reduction loop is further out.
    """
    block, loop = find_block(func, name), find_loop(func, var)
    reducing = reduced_over(block)
    inner = _loops(func, block, loop, reducing)
    check_unmixed(func, block, reducing, f"initialise {name!r} separately", inner)
    _check_once(func, block, inner, reducing)
    span = Span("schedule", "decompose_reduction", parent=block.span)
    made, init = init_nest(func, block, inner, span, unless_empty(func, block))
    func = replace_stmts(func, {block: block.replace(init=None)})
    loop = find_loop(func, var)
    return replace_stmts(func, {loop: seq(made, loop)}), init


def _loops(func: PrimFunc, block: Block, loop: For, reducing: set[Var]) -> list[For]:
    """List the loops around a block, from ``loop`` inwards.

    Raises: ScheduleError if the block cannot be initialised before them.
    """
    name, path = block.name, path_to(func, block)
    if block.init is None:
        raise ScheduleError(f"block {name!r} has no initialisation", at=block)
    if loop not in path:
        raise ScheduleError(f"loop {loop.var.name!r} is not around block {name!r}", at=block)
    _check_alone(func, block, loop, path[path.index(loop) : -1])
    around = loops_to(func, loop)[:-1]
    early = next((stmt for stmt in around if stmt.var in reducing), None)
    if early is not None:
        raise ScheduleError(
            f"cannot initialise {name!r} before {loop.var.name!r}: the loop "
            f"{early.var.name!r} around it is a reduction loop, which would repeat it",
            at=block,
        )
    return [stmt for stmt in path[path.index(loop) :] if isinstance(stmt, For)]


def _check_alone(func: PrimFunc, block: Block, loop: For, between: Sequence[Stmt]) -> None:
    """Check that the initialisation does not leave a scope, or pass another block that accesses the
    same buffer."""
    what = f"cannot initialise {block.name!r} before {loop.var.name!r}: "
    if not all(isinstance(stmt, (For, Seq)) for stmt in between):
        raise ScheduleError(f"{what}there are statements other than loops in between", at=block)
    started = written_by(block.init or block.body)
    found, own = list(walk(loop, on=Block)), list(walk(block, on=Block))
    for at, other in enumerate(found):
        touched = [node for node in walk(other, on=(Load, Store)) if node.buffer in started]
        if other in own or not touched:
            continue
        reads = at > found.index(block) and not any(isinstance(node, Store) for node in touched)
        around = [stmt for stmt in between if isinstance(stmt, For) and other in blocks_below(stmt)]
        depends = dependences(func)
        if not reads or any(depends.crosses(each, block, other) for each in around):
            raise ScheduleError(
                f"{what}block {other.name!r} there accesses the buffer too", at=other
            )


def _check_once(func: PrimFunc, block: Block, inner: Sequence[For], reducing: set[Var]) -> None:
    """Check that the loops after the initialisation reach every element once and initialise it
    first.

    The shifted tail of a split, for example, reaches some elements twice.
    """
    what = f"cannot initialise {block.name!r} separately"
    moved = {loop.var for loop in inner}
    for axis in block.axes:
        for overlap in walk(axis.binding, on=(Min, Max)):
            if variables(overlap) & moved:
                raise ScheduleError(
                    f"{what}: its axis {axis.var.name!r} takes some values twice in the following "
                    "loops",
                    hint="Choose a loop inside the loops of the split with a shifted tail.",
                    at=block,
                )
        if axis.kind == "opaque":
            raise ScheduleError(f"{what}: it has the opaque axis {axis.var.name!r}", at=block)
    steps = [loop for loop in inner if loop.var in reducing]
    if not first_step_initialises(func, block, steps, has_steps(block)):
        raise ScheduleError(
            f"{what}: it cannot be proved that its first step initialises it", at=block
        )
    alone = PrimFunc(func.name, func.params, nested(inner, block))
    points = Points(block, tuple(inner), ranges_at(func))
    for loop in inner:
        if loop.var in reducing or points.by_axes(loop.var) is not None:
            continue
        again = dependences(alone).carried(find_loop(alone, loop.var))
        if again is not None:
            raise ScheduleError(
                f"{what}: it cannot be proved that iterations of {loop.var.name!r} write "
                f"different elements: {again}",
                at=block,
            )
