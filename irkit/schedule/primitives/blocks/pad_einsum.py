"""The primitive pad_einsum: pad the extents of a sum of products up to multiples."""

from collections.abc import Sequence

from irkit.core import ScheduleError, Span, rewrite, walk
from irkit.ir import (
    Add,
    Allocate,
    Block,
    Buffer,
    Cast,
    Const,
    Expr,
    For,
    Load,
    Mul,
    PrimFunc,
    Stmt,
    Store,
    Var,
    as_int,
    const,
    if_then_else,
    is_const,
    logical_and,
    lt,
    replace_stmts,
    seq,
)
from irkit.ir.analysis import accumulation_of
from irkit.schedule.analysis.domain import points_of
from irkit.schedule.analysis.reduction_steps import unless_empty
from irkit.schedule.analysis.sizes import dims_at
from irkit.schedule.rewrite.clone import Cloner
from irkit.schedule.rewrite.nests import nest_over
from irkit.schedule.state.lookup import find_block, loops_above, path_to

Sizes = dict[Var, Expr]
Rooms = dict[tuple[Buffer, tuple[Expr, ...]], Buffer]
"""The larger copy for each index at which a buffer is accessed."""


def pad_einsum(func: PrimFunc, name: str, padding: Sequence[int]) -> tuple[PrimFunc, list[str]]:
    """Pad the extent of each axis of a sum of products up to a multiple of a number.

    Its inputs are copied to larger buffers, padded with zeros, and its result is copied back, by
    the blocks ``NAME_pad_BUFFER`` and ``NAME_unpad``. A buffer that is read at two different
    indices is copied for each. A padded reduction adds products of zeros.
    Raises: ScheduleError if the block is not a sum of products of elements at its own axes, under
    one loop for each axis, or if not all factors of a product are padded along a padded reduction.
    """
    block = find_block(func, name)
    what = f"pad {name!r}"
    _check_padding(block, padding, what)
    store = einsum_store(func, block, what)
    loops = own_loops(func, block, what)
    sizes = _sizes(block, padding)
    if not sizes:
        return func, []
    _check_zeros(block, store, sizes, what)
    span = Span("schedule", "pad_einsum", parent=block.span)
    before: list[Stmt] = []
    rooms: list[Buffer] = []
    made: list[str] = []
    names = Cloner(func)
    places: Rooms = {}
    for load in walk(store.value, on=Load):
        buffer, place = load.buffer, (load.buffer, load.indices)
        if buffer is store.buffer or place in places or not set(load.indices) & set(sizes):
            continue
        room = _room(func, loops[0], buffer, load.indices, sizes)
        made.append(names.name(f"{name}_pad_{buffer.name}"))
        before.append(_padded(made[-1], buffer, room, load.indices, block, span))
        places[place] = room
        rooms.append(room)
    after: list[Stmt] = []
    if set(store.indices) & set(sizes):
        room = _room(func, loops[0], store.buffer, store.indices, sizes)
        places[store.buffer, store.indices] = room
        rooms.append(room)
        made.append(names.name(f"{name}_unpad"))
        some = unless_empty(func, block)
        after.append(_unpadded(made[-1], room, store, block, span, some))
    body: Stmt = _on(_grown(block, sizes, span), places)
    by_loop = {axis.binding: sizes[axis.var] for axis in block.axes if axis.var in sizes}
    for loop in reversed(loops):
        end = by_loop.get(loop.var, loop.end)
        body = loop.replace(end=end, body=body, span=span)
    whole = seq(*before, body, *after)
    for room in reversed(rooms):
        whole = Allocate(room, whole, span=span)
    return replace_stmts(func, {loops[0]: whole}), made


def _check_padding(block: Block, padding: Sequence[int], what: str) -> None:
    if len(padding) != len(block.axes) or any(each < 1 for each in padding):
        raise ScheduleError(
            f"cannot {what}: padding takes a positive number for each of {len(block.axes)} axes, "
            f"found {list(padding)}",
            at=block,
        )


def einsum_store(func: PrimFunc, block: Block, what: str) -> Store:
    """Return the store of a block that sums products of elements at its own axes, starting at 0."""
    found = accumulation_of(func, block)
    axes = {axis.var for axis in block.axes}
    init = block.init
    reason = ""
    if found is None or found.operation is not Add or found.cond is not None:
        reason = "it is not a sum"
    elif not isinstance(init, Store) or not is_const(init.value, 0) or _is_negative(init.value):
        reason = "its sum does not start at 0"
    elif block.predicate is not None:
        reason = "it has a predicate"
    elif any(axis.kind == "opaque" for axis in block.axes):
        reason = "it has an opaque axis"
    elif not _is_product(found.gathered):
        reason = "it adds something other than products of elements"
    elif set(found.store.indices) != {axis.var for axis in block.axes if axis.kind == "spatial"}:
        reason = "its spatial axes are not those that choose the element it stores"
    else:
        for node in (found.store, *walk(found.store.value, on=Load)):
            own = [at for at in node.indices if isinstance(at, Var) and at in axes]
            if len(set(own)) != len(node.indices) or (isinstance(node, Load) and node.mask):
                reason = f"{node.buffer.name!r} is not indexed by distinct axes of the block"
    if reason or found is None:
        raise ScheduleError(f"cannot {what}: {reason}", at=block)
    return found.store


def _is_negative(value: Expr) -> bool:
    return isinstance(value, Const) and str(value.value).startswith("-")


def _is_product(value: Expr) -> bool:
    stack, loads = [value], 0
    while stack:
        node = stack.pop()
        if isinstance(node, Mul):
            stack += [node.a, node.b]
        elif isinstance(node, Cast):
            stack.append(node.value)
        elif isinstance(node, Load):
            loads += 1
        else:
            return False
    return loads > 0


def own_loops(func: PrimFunc, block: Block, what: str) -> list[For]:
    """List the loops of a block: one for each axis, perfectly nested."""
    loops = loops_above(func, block)[-len(block.axes) :]
    path = path_to(func, block)
    points = points_of(func, block)
    plain = len(loops) == len(block.axes) and path[-len(loops) - 1 : -1] == loops
    by_var = {loop.var: loop for loop in loops}
    for axis in block.axes:
        loop = by_var.get(axis.binding) if isinstance(axis.binding, Var) else None
        if (
            loop is None
            or not is_const(loop.begin, 0)
            or loop.kind != "serial"
            or loop.attrs
            or not points.alike(loop.end, axis.extent)
        ):
            plain = False
    if not plain or len({axis.binding for axis in block.axes}) != len(loops):
        raise ScheduleError(
            f"cannot {what}: it is not under its own loops, each bound to one axis",
            hint="Pad first, then split and reorder.",
            at=block,
        )
    return loops


def _sizes(block: Block, padding: Sequence[int]) -> Sizes:
    found: Sizes = {}
    for axis, by in zip(block.axes, padding, strict=True):
        number = as_int(axis.extent)
        if by == 1 or (number is not None and number % by == 0):
            continue
        if number is not None:
            found[axis.var] = const(-(-number // by) * by, axis.extent.dtype)
        else:
            found[axis.var] = (axis.extent + (by - 1)) // by * by
    return found


def _check_zeros(block: Block, store: Store, sizes: Sizes, what: str) -> None:
    """Check that the padded steps of the reduction add 0."""
    reduced = {axis.var for axis in block.axes if axis.kind == "reduce" and axis.var in sizes}
    for load in walk(store.value, on=Load):
        if load.buffer is not store.buffer and not reduced <= set(load.indices):
            raise ScheduleError(
                f"cannot {what}: {load.buffer.name!r} is not padded along the padded reduction, "
                "and 0 times infinity is not 0",
                at=block,
            )


def _room(
    func: PrimFunc, nest: Stmt, buffer: Buffer, indices: Sequence[Expr], sizes: Sizes
) -> Buffer:
    extents = [
        sizes.get(at, dim) if isinstance(at, Var) else dim
        for at, dim in zip(indices, buffer.shape, strict=True)
    ]
    shape = dims_at(func, nest, extents)
    return buffer.replace(name=f"{buffer.name}_pad", shape=shape, strides=None, scope="global")


def _padded(
    name: str, source: Buffer, room: Buffer, indices: Sequence[Expr], block: Block, span: Span
) -> Stmt:
    """Return the nest that copies a buffer into a larger one, padded with zeros."""
    extents = {axis.var: axis.extent for axis in block.axes}

    def copied(own: tuple[Var, ...]) -> Store:
        tests = [
            lt(v, extents[at])
            for v, at, old, new in zip(own, indices, source.shape, room.shape, strict=True)
            if isinstance(at, Var) and new is not old
        ]
        zero = const(0, source.dtype)
        return Store(room, own, if_then_else(logical_and(*tests), source[own], zero), span=span)

    return nest_over(name, room.shape, copied, span)


def _unpadded(
    name: str, room: Buffer, store: Store, block: Block, span: Span, some: Sequence[Expr]
) -> Stmt:
    """Return the nest that copies the result back, without the padding, where there is one."""
    extents = {axis.var: axis.extent for axis in block.axes}
    shape = [extents[at] for at in store.indices if isinstance(at, Var)]

    def copied(at: tuple[Var, ...]) -> Store:
        return Store(store.buffer, at, room[at], span=span)

    return nest_over(name, shape, copied, span, some)


def _grown(block: Block, sizes: Sizes, span: Span) -> Block:
    axes = tuple(axis.replace(extent=sizes.get(axis.var, axis.extent)) for axis in block.axes)
    return block.replace(axes=axes, reads=None, writes=None, span=span)


def _on(block: Block, places: Rooms) -> Block:
    def move(node: Load | Store) -> Load | Store | None:
        room = places.get((node.buffer, node.indices))
        return None if room is None else node.replace(buffer=room)

    return rewrite(block, move, on=(Load, Store))
