"""The primitive set_store_predicate: run a block only where a condition holds."""

from irkit.core import ScheduleError, any_node, equal, substitute, walk
from irkit.ir import (
    Block,
    Expr,
    For,
    Load,
    PrimFunc,
    Var,
    View,
    logical_and,
    loop_ranges,
    prove,
    replace_stmts,
)
from irkit.schedule.analysis.accesses import only_store, read_by, variables, writes_of
from irkit.schedule.analysis.guards import guards_of
from irkit.schedule.arguments.condition import Condition, condition_expr
from irkit.schedule.state.lookup import allocation, find_block, loops_to


def set_store_predicate(func: PrimFunc, name: str, condition: Condition) -> PrimFunc:
    """Run a block only where a condition over its axes holds.

    Raises: ScheduleError unless the condition always holds, or another iteration of the same loops
    makes the omitted stores too, or what they write is never read.
    """
    block = find_block(func, name)
    asked = condition_expr(condition, [axis.var for axis in block.axes])
    strange = variables(asked) - {axis.var for axis in block.axes}
    if strange:
        raise ScheduleError(
            f"the predicate of block {name!r} must use only its axes, found "
            f"{next(iter(strange)).name!r}",
            at=block,
        )
    ranges = loop_ranges(func)
    bound = substitute(asked, {axis.var: axis.binding for axis in block.axes})
    holds = prove(bound, ranges, guards_of(block))
    if not (holds or _is_repeated(func, block, asked) or _is_unread(func, block, asked)):
        raise ScheduleError(
            f"cannot restrict the stores of block {name!r}: it cannot be proved that another "
            "iteration makes the omitted ones, or that they are never read",
            at=block,
        )
    # Over loops, not axes, like the guards of splits: primitives treat the two differently.
    predicate = bound if block.predicate is None else logical_and(block.predicate, bound)
    return replace_stmts(func, {block: block.replace(predicate=predicate)})


def _is_repeated(func: PrimFunc, block: Block, asked: Expr) -> bool:
    """Return True if the condition selects the first iteration of loops that only repeat a
    store."""
    store = only_store(block)
    if store is None or block.init is not None or any(a.kind != "spatial" for a in block.axes):
        return False
    if store.buffer in read_by(block) or any_node(func, View):
        return False
    bindings = {axis.var: axis.binding for axis in block.axes}
    repeating = {bindings[var] for var in variables(asked)}
    around = loops_to(func, block)
    loops = [loop for loop in around if loop.var in repeating]
    if len(loops) != len(repeating) or variables(asked) & set(walk(block.body, on=Var)):
        return False
    others = [binding for var, binding in bindings.items() if var not in variables(asked)]
    used = [*others, *guards_of(block), *(e for loop in around for e in (loop.begin, loop.end))]
    if any(variables(expr) & {loop.var for loop in loops} for expr in used):
        return False
    if not _holds_alone(loops[0], block):
        return False
    first = {loop.var: loop.begin for loop in loops}
    return prove(substitute(substitute(asked, bindings), first), loop_ranges(func))


def _holds_alone(loop: For, block: Block) -> bool:
    stmt = loop.body
    while isinstance(stmt, For):
        stmt = stmt.body
    return stmt is block


def _is_unread(func: PrimFunc, block: Block, asked: Expr) -> bool:
    """Return True if the condition holds for every element of the block's buffer that is ever
    loaded."""
    store = only_store(block)
    if store is None or allocation(func, store.buffer) is None or any_node(func, View):
        return False
    places = {at: n for n, at in enumerate(store.indices) if isinstance(at, Var)}
    spatial = {axis.var for axis in block.axes if axis.kind == "spatial"}
    if len(writes_of(func, store.buffer)) != 1 or not variables(asked) <= set(places) & spatial:
        return False
    ranges = loop_ranges(func)
    readers = [other for other in walk(func, on=Block) if store.buffer in read_by(other)]
    loads = sum(load.buffer is store.buffer for load in walk(func, on=Load))
    seen = 0
    for reader in readers:
        bindings = {axis.var: axis.binding for axis in reader.axes}
        for load in walk(reader, on=Load):
            if load.buffer is not store.buffer:
                continue
            seen += 1
            if reader is block and all(map(equal, load.indices, store.indices)):
                continue
            read = {at: load.indices[n] for at, n in places.items()}
            found = substitute(substitute(asked, read), bindings)
            if not prove(found, ranges, guards_of(reader)):
                return False
    return seen == loads  # No load is outside blocks.
