"""The primitive shift_to_unsigned: make an operand of a sum of products unsigned."""

from irkit.core import Node, ScheduleError, Span, rewrite, substitute
from irkit.ir import (
    Add,
    Allocate,
    Axis,
    Block,
    Buffer,
    Cast,
    DType,
    For,
    Load,
    Mul,
    PrimFunc,
    Stmt,
    Store,
    Var,
    cast,
    const,
    replace_stmts,
    seq,
)
from irkit.schedule.analysis.reduction_steps import unless_empty
from irkit.schedule.analysis.sizes import dims_at
from irkit.schedule.primitives.blocks.pad_einsum import einsum_store, own_loops
from irkit.schedule.rewrite.clone import Cloner
from irkit.schedule.rewrite.nests import nest_over
from irkit.schedule.state.lookup import find_block


def shift_to_unsigned(func: PrimFunc, name: str, buffer: Buffer) -> tuple[PrimFunc, list[str]]:
    """Replace a signed operand of a sum of two integers' products by itself plus half the range.

    ``NAME_unsigned`` shifts the operand, ``NAME_sums`` adds the other one up along the reduction,
    and ``NAME_shift`` takes their product away from the result: all of it wraps around, so the
    result is exact. Instructions that multiply unsigned by signed bytes need this.
    Raises: ScheduleError if the block is not such a sum under one loop for each axis.
    """
    block = find_block(func, name)
    what = f"shift {buffer.name!r} in {name!r}"
    store = einsum_store(func, block, what)
    own, other = _operands(block, store, buffer, what)
    loops = own_loops(func, block, what)
    span = Span("schedule", "shift_to_unsigned", parent=block.span)
    kind, half = DType("u", own.dtype.bits), 1 << (own.dtype.bits - 1)
    dtype = store.buffer.dtype
    shifted = buffer.replace(name=f"{buffer.name}_unsigned", dtype=kind, scope="global").copy()
    raw = store.buffer.replace(name=f"{store.buffer.name}_shifted", scope="global").copy()
    axes = {axis.var: axis for axis in block.axes}
    kept = [axes[at] for at in other.indices if isinstance(at, Var) and axes[at].kind == "spatial"]
    extents = dims_at(func, loops[0], [axis.extent for axis in kept])
    sums = Buffer(f"{other.buffer.name}_sums", extents, dtype)
    names = Cloner(func)
    made = [names.name(f"{name}_{end}") for end in ("unsigned", "sums", "shift")]

    def moved(at: tuple[Var, ...]) -> Store:
        return Store(shifted, at, cast(buffer[at], kind) ^ const(half, kind), span=span)

    def placed(at: tuple[Var, ...]) -> Store:
        places = dict(zip(store.indices, at, strict=True))
        less = sums[tuple(places[axis.var] for axis in kept)] * const(half, dtype)
        return Store(store.buffer, at, raw[at] - less, span=span)

    places: dict[Node, Buffer] = {buffer: shifted, store.buffer: raw}

    def move(node: Load | Store) -> Load | Store | None:
        place = places.get(node.buffer)
        if place is None:
            return None
        changed = node.replace(buffer=place)
        return changed.replace(dtype=kind) if node.buffer is buffer else changed

    body: Stmt = rewrite(block, move, on=(Load, Store)).replace(reads=None, writes=None)
    for loop in reversed(loops):
        body = loop.replace(body=body, span=span)
    reduced = [axis for axis in block.axes if axis.kind == "reduce"]
    some = unless_empty(func, block)
    whole = seq(
        nest_over(made[0], buffer.shape, moved, span),
        _sums_nest(made[1], sums, kept, reduced, other, span),
        body,
        nest_over(made[2], [axes[at].extent for at in _spatial(store)], placed, span, some),
    )
    for room in (raw, sums, shifted):
        whole = Allocate(room, whole, span=span)
    return replace_stmts(func, {loops[0]: whole}), made


def _spatial(store: Store) -> list[Var]:
    return [at for at in store.indices if isinstance(at, Var)]


def _operands(block: Block, store: Store, buffer: Buffer, what: str) -> tuple[Load, Load]:
    """Return the load of the operand and that of the other one."""
    value = store.value
    reason = ""
    found = list[Load]()
    term = value.b if isinstance(value, Add) else None
    if isinstance(term, Mul):
        for factor in (term.a, term.b):
            inner = factor.value if isinstance(factor, Cast) else factor
            found += [inner] if isinstance(inner, Load) else []
    if len(found) != 2 or found[0].buffer is found[1].buffer:
        reason = "it is not a sum of products of two buffers"
    elif buffer not in (found[0].buffer, found[1].buffer):
        reason = f"{buffer.name!r} is no factor of its products"
    elif buffer.dtype.kind != "i" or store.buffer.dtype.kind != "i":
        reason = f"{buffer.name!r} or the sum is not signed"
    elif store.buffer.dtype.bits <= buffer.dtype.bits:
        reason = "the sum is not wider than the operand"
    elif any(len(set(load.indices)) != len(load.indices) for load in found):
        reason = "an operand is read along a diagonal"
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=block)
    return (found[0], found[1]) if found[0].buffer is buffer else (found[1], found[0])


def _sums_nest(
    name: str, sums: Buffer, kept: list[Axis], reduced: list[Axis], other: Load, span: Span
) -> Stmt:
    """Return the nest that adds an operand up along the axes of the reduction."""
    axes = [
        Axis(axis.var.copy(), axis.extent, Var(f"c{at}", axis.var.dtype), axis.kind)
        for at, axis in enumerate((*kept, *reduced))
    ]
    own = {old.var: new.var for old, new in zip((*kept, *reduced), axes, strict=True)}
    at = tuple([own[axis.var] for axis in kept])
    term = cast(substitute(other, own), sums.dtype)
    body = Store(sums, at, sums[at] + term, span=span)
    made: Stmt = Block(
        name, tuple(axes), body, Store(sums, at, const(0, sums.dtype), span=span), span=span
    )
    for axis in reversed(axes):
        assert isinstance(axis.binding, Var)
        made = For(axis.binding, const(0, axis.binding.dtype), axis.extent, made, span=span)
    return made
