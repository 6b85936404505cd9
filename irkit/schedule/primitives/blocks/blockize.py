"""The primitive blockize: turn a loop and everything below it into one block."""

from irkit.core import Node, ScheduleError, Span, substitute, walk
from irkit.ir import Axis, AxisKind, Block, For, PrimFunc, Stmt, Var, is_const, replace_stmts
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.analysis.domain import points_of
from irkit.schedule.analysis.guards import guards_of, reduced_over
from irkit.schedule.analysis.reduction_steps import unless_empty
from irkit.schedule.checks.reduced_loops import reduce_axis_in_stores
from irkit.schedule.rewrite.clone import new_name
from irkit.schedule.rewrite.reduction_init import init_nest
from irkit.schedule.state.lookup import blocks_below, find_loop, loops_above, path_to


def blockize(func: PrimFunc, var: Var) -> tuple[PrimFunc, str]:
    """Turn a loop and everything below it into one block, with axes for the loops around it.

    The block is named after the first one inside, ``NAME_o``. If a reduction continues outside the
    new block, the new block initialises it.
    Raises: ScheduleError if a loop around does not start at 0, or is used both as a reduction loop
    and otherwise.
    """
    loop = find_loop(func, var)
    what = f"turn loop {var.name!r} into a block"
    inside = blocks_below(loop)
    if not inside:
        raise ScheduleError(f"cannot {what}: it contains no block", at=loop)
    used = set(walk(loop, on=Var))
    around = [stmt for stmt in loops_above(func, inside[0]) if stmt not in set(walk(loop, on=For))]
    axes: list[Axis] = []
    values: dict[Node, Node] = {}
    for stmt in around:
        if stmt.var not in used:
            continue
        if not is_const(stmt.begin, 0):
            raise ScheduleError(f"cannot {what}: {stmt.var.name!r} does not start at 0", at=stmt)
        own = Var(f"v{stmt.var.name}", stmt.var.dtype)
        axes.append(Axis(own, stmt.end, stmt.var, _kind(stmt, inside, what)))
        values[stmt.var] = own
    span = Span("schedule", "blockize", parent=loop.span)
    body: Stmt = loop
    init: Stmt | None = None
    if any(axis.kind == "reduce" for axis in axes):
        init, body = _started(func, loop, inside, span)
    made = Block(
        new_name(func, f"{inside[0].name}_o"),
        tuple(axes),
        substitute(body, values),
        None if init is None else substitute(init, values),
        span=span,
    )
    return replace_stmts(func, {loop: made}), made.name


def _kind(loop: For, blocks: list[Block], what: str) -> AxisKind:
    kinds: set[AxisKind] = {
        axis.kind for block in blocks for axis in block.axes if loop.var in variables(axis.binding)
    }
    if len(kinds) > 1:
        raise ScheduleError(
            f"cannot {what}: loop {loop.var.name!r} is used both as a reduction loop and otherwise",
            at=loop,
        )
    return kinds.pop() if kinds else "spatial"


def _started(
    func: PrimFunc, loop: For, blocks: list[Block], span: Span
) -> tuple[Stmt | None, Stmt]:
    """Move the initialisation of the only reduction below a loop out of it, if that provably is
    equivalent; otherwise leave it with the axes inside."""
    block, start = blocks[0], blocks[0].init
    if len(blocks) != 1 or start is None:
        return None, loop
    reducing = reduced_over(block)
    spatial = [axis for axis in block.axes if axis.kind == "spatial"]
    guards = guards_of(block)
    own = {axis.var for axis in block.axes}
    mixed = any(variables(axis.binding) & reducing for axis in spatial)
    mixed = mixed or reduce_axis_in_stores(block) is not None
    mixed = mixed or any(variables(part) & own for part in guards)
    mixed = mixed or any(
        variables(part) - reducing for part in guards if variables(part) & reducing
    )
    loops = [each for each in loops_above(func, block) if each in list(walk(loop, on=For))]
    nested = all(
        isinstance(stmt, (For, Block))
        for stmt in path_to(func, block)[path_to(func, block).index(loop) :]
    )
    mixed = mixed or any(
        variables(each.begin) & reducing or variables(each.end) & reducing
        for each in loops
        if each.var not in reducing
    )
    if mixed or not nested or not points_of(func, block).reduces_completely():
        return None, loop
    started, _ = init_nest(func, block, loops, span, unless_empty(func, block))
    return started, replace_stmts(loop, {block: block.replace(init=None)})
