"""The primitive cache_index: precompute costly indices of a block."""

from irkit.core import ScheduleError, Span, any_node, rewrite, walk
from irkit.ir import (
    Allocate,
    Buffer,
    Expr,
    Load,
    PrimFunc,
    Stmt,
    Store,
    Var,
    linear,
    replace_stmts,
    seq,
    shape_vars,
)
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.analysis.sizes import dims_at
from irkit.schedule.rewrite.clone import new_name
from irkit.schedule.rewrite.nests import computed_nest
from irkit.schedule.state.lookup import find_block, nest_of


def cache_index(func: PrimFunc, name: str, scope: str) -> tuple[PrimFunc, list[str]]:
    """Precompute the indices of a block's loads that contain a division, before its loops.

    Each gets a buffer over the axes that it depends on.
    Raises: ScheduleError if there is no such index.
    """
    block = find_block(func, name)
    axes = {axis.var: axis for axis in block.axes}
    known = set(axes) | set(shape_vars(func))
    found: dict[Expr, None] = {}
    for load in walk(block.body, on=Load):
        for at in load.indices:
            if _is_costly(at) and variables(at) <= known:
                found[at] = None
    if not found:
        raise ScheduleError(
            f"cannot precompute the indices of block {name!r}: none contains a division and "
            "depends on its axes only",
            at=block,
        )
    span = Span("schedule", "cache_index", parent=block.span)
    top = nest_of(func, block)
    tables: dict[Expr, Load] = {}
    made, names = list[Stmt](), list[str]()
    for number, at in enumerate(found):
        mine = [axis for axis in block.axes if axis.var in variables(at)]
        table = Buffer(
            f"{name}_index_{number}",
            dims_at(func, top, [axis.extent for axis in mine]),
            at.dtype,
            scope,
        )
        places = tuple(axis.var for axis in mine)
        names.append(new_name(func, table.name))
        made.append(computed_nest(names[-1], mine, Store(table, places, at), span))
        tables[at] = table[places]

    def look_up(load: Load) -> Load | None:
        if not any(at in tables for at in load.indices):
            return None
        return load.replace(indices=tuple(tables.get(at, at) for at in load.indices))

    body = rewrite(block.body, look_up, on=Load)
    changed = replace_stmts(top, {block: block.replace(body=body, reads=None)})
    whole: Stmt = seq(*made, changed)
    for load in reversed(tables.values()):
        whole = Allocate(load.buffer, whole, span=span)
    return replace_stmts(func, {top: whole}), names


def _is_costly(at: Expr) -> bool:
    form = linear(at) if at.dtype.lanes == 1 else None
    if form is None or any_node(at, Load):
        return False
    return any(not isinstance(atom, Var) for atom, _ in form.terms)
