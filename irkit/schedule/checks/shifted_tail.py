"""The shifted tail of a split: the last chunk begins earlier and overlaps the one before it."""

from irkit.core import ScheduleError, rewrite, walk
from irkit.ir import (
    Allocate,
    Block,
    Expr,
    For,
    Load,
    PrimFunc,
    Seq,
    Store,
    Var,
    dependences,
    le,
    loop_ranges,
    minimum,
    prove,
    seq,
    simplify,
    uses_of,
)
from irkit.ir.analysis import same_place
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.analysis.reduction_steps import first_step_initialises
from irkit.schedule.state.lookup import blocks_below, path_to


def shifted(func: PrimFunc, loop: For, outer: Var, chunk: Expr) -> Expr:
    """Return where chunk ``outer`` of a loop begins, so that no chunk reaches beyond the end.

    Raises: ScheduleError if the loop may be shorter than a chunk, or running an iteration twice may
    change the result.
    """
    ranges = loop_ranges(func)
    if not prove(le(chunk, loop.end), ranges):
        raise ScheduleError(
            f"cannot shift the tail of {loop.var.name!r}: it may be shorter than one chunk",
            hint='Use tail="guard".',
            at=loop,
        )
    reason = _differs_again(func, loop)
    if reason:
        raise ScheduleError(
            f"cannot shift the tail of {loop.var.name!r}: {reason}",
            hint='Use tail="guard".',
            at=loop,
        )
    return minimum(outer * chunk, simplify(loop.end - chunk, ranges))


def _differs_again(func: PrimFunc, loop: For) -> str:
    """Return why running an iteration again, after others, may change the result; empty if it
    cannot."""
    for block in blocks_below(loop.body):
        for axis in block.axes:
            if axis.kind != "spatial" and loop.var in variables(axis.binding):
                return (
                    f"the {axis.kind} axis {axis.var.name!r} of block {block.name!r} uses it, "
                    "so some steps would count twice"
                )
    carried = dependences(func).carried(loop)
    if carried:
        return carried
    return _reads_own(func, loop)


def _reads_own(func: PrimFunc, loop: For) -> str:
    """Return which buffer an iteration may read after an earlier run of it changed it; empty if
    none.

    A reduction that starts and ends inside the loop reads only what the same run wrote.
    """
    memory = uses_of(func).memory
    own = {allocate.buffer for allocate in walk(loop.body, on=Allocate)}
    written = {memory(store.buffer) for store in walk(loop.body, on=Store)} - own
    starting = {block for block in walk(loop.body, on=Block) if _starts_inside(func, loop, block)}

    def without_steps(block: Block) -> Block | None:
        return block.replace(body=seq()) if block in starting else None

    loads = [*walk(rewrite(loop.body, without_steps, on=Block), on=Load)]
    for block in starting:
        start = block.init
        assert isinstance(start, Store)
        for load in walk(block.body, on=Load):
            loads += [] if same_place(load, start) else [load]
    read = next((load.buffer for load in loads if memory(load.buffer) in written), None)
    return "" if read is None else f"an iteration reads {read.name!r}, which it also writes"


def _starts_inside(func: PrimFunc, loop: For, block: Block) -> bool:
    """Return True if the steps of a block inside a loop provably initialise each element first."""
    start, path = block.init, path_to(func, block)
    inner = path[path.index(loop) + 1 : -1]
    if not isinstance(start, Store) or start.mask is not None:
        return False
    if not all(isinstance(stmt, (For, Seq, Allocate)) for stmt in inner):
        return False
    reduced = [axis for axis in block.axes if axis.kind == "reduce"]
    reducing = set[Var]().union(*(variables(axis.binding) for axis in reduced))
    loops = [stmt for stmt in inner if isinstance(stmt, For)]
    steps = [each for each in loops if each.var in reducing]
    limits = set[Var]().union(*(variables(e) for each in loops for e in (each.begin, each.end)))
    mixed = limits | set[Var]().union(
        *(variables(axis.binding) for axis in block.axes if axis.kind != "reduce")
    )
    placed = set[Var]().union(*(variables(index) for index in start.indices))
    if len(steps) != len(reducing) or mixed & reducing or placed & {axis.var for axis in reduced}:
        return False
    if any(each.kind not in ("serial", "unrolled") for each in steps):
        return False
    return first_step_initialises(func, block, steps)
