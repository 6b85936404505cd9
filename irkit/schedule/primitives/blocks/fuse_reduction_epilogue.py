"""The primitive fuse_reduction_epilogue: initialise a sum with what is added to its result."""

from irkit.core import Node, ScheduleError, Span, rewrite, substitute, walk
from irkit.ir import Add, Block, Expr, Load, PrimFunc, Store, Var, is_const, replace_stmts
from irkit.ir.analysis import accumulation_of
from irkit.schedule.analysis.accesses import (
    only_store,
    read_by,
    same_extent,
    writes_beside,
    writes_of,
    written_by,
)
from irkit.schedule.analysis.domain import points_of
from irkit.schedule.checks.order import check_visible, is_used, scope_of
from irkit.schedule.state.lookup import allocation, find_block
from irkit.schedule.state.replace import remove_block, without_allocation


def fuse_reduction_epilogue(func: PrimFunc, name: str, epilogue: str) -> PrimFunc:
    """Initialise a sum with what a pointwise block adds to its result, and remove that block.

    Only an addition can be fused: ``max(sum, 0)``, for example, has no equivalent initial value.
    Floats are added in another order than before.
    Raises: ScheduleError if the epilogue is not an element of the sum plus a value, or the value is
    not available before the sum.
    """
    block, last = find_block(func, name), find_block(func, epilogue)
    what = f"initialise {name!r} with what {epilogue!r} adds"
    sum_ = _sum(func, block, what)
    store, added = _added(func, last, sum_, what)
    places = _places(block, last, sum_, store, what)
    _check_order(func, block, last, store, what)
    value = substitute(added, places)
    span = Span("schedule", "fuse_reduction_epilogue", parent=last.span)
    start = Store(sum_.buffer, sum_.indices, value, span=span)
    order = tuple(substitute(at, places) for at in store.indices)

    def place(node: Load | Store) -> Load | Store | None:
        if node.buffer is not sum_.buffer:
            return None
        return node.replace(buffer=store.buffer, indices=order)

    made = rewrite(block.replace(init=start, reads=None, writes=None), place, on=(Load, Store))
    func = without_allocation(replace_stmts(remove_block(func, last), {block: made}), sum_.buffer)
    if is_used(func, {sum_.buffer}):
        raise ScheduleError(f"cannot {what}: {sum_.buffer.name!r} is used elsewhere too", at=last)
    check_visible(func, find_block(func, name), what)
    return func


def _sum(func: PrimFunc, block: Block, what: str) -> Store:
    found = accumulation_of(func, block)
    init = block.init
    reason = ""
    if found is None or found.operation is not Add or not isinstance(init, Store):
        reason = f"{block.name!r} is not a sum with an init"
    elif not is_const(init.value, 0):
        reason = f"{block.name!r} is not initialised with 0"
    elif allocation(func, found.store.buffer) is None:
        reason = f"{found.store.buffer.name!r} is a parameter"
    elif len(writes_of(func, found.store.buffer)) != 1:
        reason = f"other blocks also write {found.store.buffer.name!r}"
    elif not points_of(func, block).covers_all_points():
        reason = f"{block.name!r} cannot be proved to run at all points of its axes"
    if reason or found is None:
        raise ScheduleError(f"cannot {what}: {reason}", at=block)
    return found.store


def _added(func: PrimFunc, last: Block, sum_: Store, what: str) -> tuple[Store, Expr]:
    store = only_store(last)
    reason = "" if store is not None else "has a body that is not a single store"
    side: Expr | None = None
    if store is not None:
        value = store.value
        sides = (value.a, value.b) if isinstance(value, Add) else ()
        own = [each for each in sides if isinstance(each, Load) and each.buffer is sum_.buffer]
        others = [each for each in sides if not (own and each is own[0])]
        if len(own) != 1 or any(ld.buffer is sum_.buffer for ld in walk(others[0], on=Load)):
            reason = "does not add something to an element of the sum"
        elif any(axis.kind != "spatial" for axis in last.axes) or last.init is not None:
            reason = "reduces"
        elif writes_beside(func, last, store.buffer):
            reason = f"is not the only block that writes {store.buffer.name!r}"
        elif not points_of(func, last).covers_all_points():
            reason = "cannot be proved to run at all points of its axes"
        else:
            side = others[0]
    if store is None or side is None:
        raise ScheduleError(
            f"cannot {what}: {last.name!r} {reason}",
            hint="Only an addition can be fused into a sum.",
            at=last,
        )
    return store, side


def _places(block: Block, last: Block, sum_: Store, store: Store, what: str) -> dict[Node, Node]:
    """Map each axis of the epilogue to an axis of the sum."""
    read = next(load for load in walk(store.value, on=Load) if load.buffer is sum_.buffer)
    theirs = {axis.var: axis.extent for axis in block.axes if axis.kind == "spatial"}
    own = {axis.var: axis.extent for axis in last.axes}
    found: dict[Node, Node] = {}
    fits = len(theirs) == len(own) == len(read.indices) == len(store.indices)
    for mine, at in zip(read.indices, sum_.indices, strict=True):
        extent = own.get(mine) if isinstance(mine, Var) else None
        other = theirs.get(at) if isinstance(at, Var) else None
        if extent is not None and other is not None and same_extent(extent, other):
            found[mine] = at
        else:
            fits = False
    targets = {at for at in store.indices if isinstance(at, Var)}
    if not fits or len(set(found.values())) != len(own) or targets != set(own):
        raise ScheduleError(
            f"cannot {what}: {last.name!r} does not read each element of the sum exactly once",
            at=last,
        )
    return found


def _check_order(func: PrimFunc, block: Block, last: Block, store: Store, what: str) -> None:
    """Check that the added value and the buffer of the epilogue are available when the sum
    starts."""
    added = read_by(last)
    reason = ""
    if scope_of(func, block) is not scope_of(func, last):
        reason = "the two blocks are inside different blocks"
    elif store.buffer in read_by(block) or store.buffer in added:
        reason = f"{store.buffer.name!r} is read there before it is written"
    blocks = list(walk(func, on=Block))
    first, end = blocks.index(block), blocks.index(last)
    for at, other in enumerate(blocks):
        if other in (block, last):
            continue
        if written_by(other) & (added - written_by(block)) and at > first:
            reason = f"block {other.name!r} in between computes what is added"
        if store.buffer in read_by(other) and at < end:
            reason = f"block {other.name!r} reads {store.buffer.name!r} before it"
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=last)
