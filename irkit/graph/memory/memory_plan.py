"""Memory planning: an offset in one arena for each value, so that values that are live at different
times share memory.

Only values of the outermost body are planned. Parameters, constants and results are memory of the
caller. The operands of a concatenation can lie in its result. Values whose size is only known at a
call follow those of constant size: each has a room, as large as the largest value that is ever in
it, and the rooms lie one behind the other.
"""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from irkit.core import ALIGNMENT, Attrs, IRKitError, ShapeError, walk
from irkit.graph.flow import item_of, used_inside
from irkit.graph.function import GraphFunc
from irkit.graph.memory.shared_memory import MemoryPart, SharedMemory, bytes_of, shared_memory
from irkit.graph.nodes import Bind, Constant, Lambda, Prefix, Tuple, TupleGet, Value
from irkit.graph.types import tensors_in
from irkit.ir import Expr, Var, evaluate

_MOST_BYTES = (1 << 63) - ALIGNMENT  # Sizes are rounded up.
_SIZE, _SLOT, _ROOM = "arena_size", "slot_", "room_"
_ASSUMED = 97
"""What a dimension is assumed to be, to choose a room of a fitting size."""


class MemorySlot(msgspec.Struct, frozen=True):
    """Place of one tensor: tensor ``item`` of the value named ``value`` (0 unless it is a tuple).

    Units: ``offset`` and ``size`` in bytes; it is live from binding ``first`` to ``last``.
    """

    value: str
    item: int
    offset: int
    size: int
    first: int
    last: int


class MemoryRoom(msgspec.Struct, frozen=True):
    """Place of one tensor of symbolic size: in the room with this ``number``, counted from 0, while
    it is live."""

    value: str
    item: int
    number: int
    first: int
    last: int


class MemoryPlan(msgspec.Struct, frozen=True):
    """An arena of ``size`` bytes and the slots in it, in order of their bindings; behind them,
    rooms for what has a symbolic size."""

    size: int
    slots: tuple[MemorySlot, ...]
    rooms: tuple[MemoryRoom, ...] = ()

    def slot(self, value: str, item: int = 0) -> MemorySlot | None:
        """Return the slot of a tensor, or None if it is not in the arena."""
        for slot in self.slots:
            if slot.value == value and slot.item == item:
                return slot
        return None

    def as_attrs(self) -> Attrs:
        """Return the plan as function attributes, one per value, so that no line of text grows with
        the function."""
        rows: dict[str, list[tuple[int, ...]]] = {}
        for slot in self.slots:
            row = (slot.item, slot.offset, slot.size, slot.first, slot.last)
            rows.setdefault(_SLOT + slot.value, []).append(row)
        for room in self.rooms:
            row = (room.item, room.number, room.first, room.last)
            rows.setdefault(_ROOM + room.value, []).append(row)
        return (_SIZE, self.size), *((key, tuple(found)) for key, found in rows.items())


def recorded_plan(func: GraphFunc) -> MemoryPlan | None:
    """Return the plan recorded by a pass, or None."""
    attrs = dict(func.attrs)
    if _SIZE not in attrs:
        return None
    slots: list[MemorySlot] = []
    rooms: list[MemoryRoom] = []
    try:
        for key, rows in attrs.items():
            if key.startswith(_ROOM):
                placed = msgspec.convert(rows, tuple[tuple[int, int, int, int], ...])
                rooms += [MemoryRoom(key.removeprefix(_ROOM), *row) for row in placed]
            if key.startswith(_SLOT):
                found = msgspec.convert(rows, tuple[tuple[int, int, int, int, int], ...])
                slots += [MemorySlot(key.removeprefix(_SLOT), *row) for row in found]
        return MemoryPlan(msgspec.convert(attrs[_SIZE], int), tuple(slots), tuple(rooms))
    except msgspec.ValidationError as error:
        raise IRKitError(f"the memory plan of {func.name!r} is damaged: {error}") from None


def without_plan(attrs: Attrs) -> Attrs:
    """Return attributes without the plan."""
    return tuple(
        (key, value) for key, value in attrs if key != _SIZE and not key.startswith((_SLOT, _ROOM))
    )


class _Lifetime(msgspec.Struct):
    value: str
    item: int
    size: int | None
    first: int
    last: int
    shape: tuple[Expr, ...] = ()
    """The shape of a tensor of symbolic size."""
    element: int = 1


def memory_plan(func: GraphFunc) -> MemoryPlan:
    """Plan the memory of a function.

    An operand and a result of one step never share. Large values are placed first, each at the
    lowest offset that is free during its lifetime. Raises: IRKitError if two values have the same
    name; ShapeError if the values need more than 2**63 - 1 bytes.
    """
    shared = shared_memory(func)
    every = _lives(func, shared)
    sized = [life for life in every if life.size is not None]
    inside = {part.name: place for part, place in shared.parts.items()}
    offsets: dict[str, int] = {}
    taken = _PlacedSlots(len(sized))
    slots: list[MemorySlot] = []
    # Wholes come before their parts, which are computed earlier.
    for life in sorted(sized, key=lambda life: (life.value in inside, -(life.size or 0))):
        assert life.size is not None
        if life.value in inside:
            offset = _inner_offset(life.value, inside, offsets)
        else:
            taken.check_room(life.value, life.size)
            offset = taken.place(life.first, life.last, _aligned(life.size))
            offsets[life.value] = offset
        slots.append(MemorySlot(life.value, life.item, offset, life.size, life.first, life.last))
    size = max((slot.offset + _aligned(slot.size) for slot in slots), default=0)
    return MemoryPlan(
        size,
        tuple(sorted(slots, key=lambda s: (s.first, s.value, s.item))),
        _rooms([life for life in every if life.size is None]),
    )


def _inner_offset(value: str, inside: Mapping[str, MemoryPart], offsets: Mapping[str, int]) -> int:
    """Return where a part lies, perhaps a part of a part."""
    offset = 0
    while value in inside:
        offset += inside[value].offset
        value = inside[value].whole.name
    return offset + offsets[value]


def _rooms(lives: Sequence[_Lifetime]) -> tuple[MemoryRoom, ...]:
    """Choose a room for each tensor of symbolic size, one that is free while it is live.

    The largest come first, by an assumed size of all dimensions: so a room that is free is never
    too small by it, and the smallest one wastes the least. A plan is right for any sizes.
    """
    found: list[MemoryRoom] = []
    taken: list[list[_Lifetime]] = []
    for life in sorted(lives, key=lambda life: -_assumed_bytes(life)):
        free = [
            number
            for number, others in enumerate(taken)
            if all(life.first > other.last or life.last < other.first for other in others)
        ]
        number = free[-1] if free else len(taken)
        if not free:
            taken.append([])
        taken[number].append(life)
        found.append(MemoryRoom(life.value, life.item, number, life.first, life.last))
    return tuple(sorted(found, key=lambda room: (room.first, room.value, room.item)))


def _assumed_bytes(life: _Lifetime) -> float:
    count = float(life.element)
    for extent in life.shape:
        sizes = dict.fromkeys(walk(extent, Var), _ASSUMED)
        count *= float(evaluate(extent, sizes))
    return count


class _PlacedSlots:
    """Slots placed so far, as columns: first and last binding, begin and end in bytes."""

    def __init__(self, capacity: int) -> None:
        self.rows = np.zeros((4, capacity), np.int64)
        self.count = 0

    def check_room(self, value: str, size: int) -> None:
        """Raise ShapeError if an offset behind a value might not fit into 64 bits."""
        top = int(self.rows[3, : self.count].max(initial=0))
        if top + size > _MOST_BYTES:
            raise ShapeError(
                f"value {value!r} of {size} bytes does not fit behind {top} bytes of other values; "
                f"expected at most {_MOST_BYTES} bytes together"
            )

    def place(self, first: int, last: int, size: int) -> int:
        """Place a slot at the lowest offset that is free from ``first`` to ``last``, and return the
        offset."""
        used = self.rows[:, : self.count]
        used = used[:, (used[0] <= last) & (used[1] >= first)]
        used = used[:, np.argsort(used[2], kind="stable")]
        tops = np.maximum.accumulate(np.concatenate([[0], used[3]]))
        gaps = np.flatnonzero(used[2] - tops[:-1] >= size)
        offset = int(tops[gaps[0]] if len(gaps) else tops[-1])
        self.rows[:, self.count] = first, last, offset, offset + size
        self.count += 1
        return offset


def _lives(func: GraphFunc, shared: SharedMemory) -> list[_Lifetime]:
    """Return from which binding to which each planned tensor is needed."""
    owned: dict[Value, tuple[_Lifetime, ...]] = {param: _elsewhere(param) for param in func.params}
    names: set[str] = set()
    for at, bind in enumerate(func.body.bindings):
        for value in used_inside(bind.step):
            for life in owned.get(value, ()):
                # A function value keeps what it refers to alive for as long as it can be called.
                last = len(func.body.bindings) if isinstance(bind.step, Lambda) else at
                life.last = max(life.last, last)
        view = shared.views.get(bind.var)
        made = _storage(bind, at, owned) if view is None else owned[view.whole]
        computes = view is None and not isinstance(
            bind.step, (Constant, Lambda, Prefix, Tuple, TupleGet)
        )
        if computes and bind.var.name in names:
            raise IRKitError(
                f"two values are named {bind.var.name!r}, but a plan needs unique names"
            )
        names.add(bind.var.name)
        owned[bind.var] = made
    for part, place in shared.parts.items():  # The memory of a whole is needed for all its parts.
        (inner,), (outer,) = owned[part], owned[place.whole]
        outer.first, outer.last = min(outer.first, inner.first), max(outer.last, inner.last)
    results = {id(life) for life in owned.get(func.body.result, ())}
    every = {id(life): life for lives in owned.values() for life in lives}
    return [
        life
        for key, life in every.items()
        if key not in results and (life.size is not None or life.shape)
    ]


def _storage(
    bind: Bind, at: int, owned: dict[Value, tuple[_Lifetime, ...]]
) -> tuple[_Lifetime, ...]:
    """Return the tensors of a value; tuples share those of their items, and a prefix that of the
    whole."""
    step = bind.step
    if isinstance(step, (Constant, Lambda)):
        return _elsewhere(bind.var)
    if isinstance(step, Tuple):
        return tuple(life for item in step.items for life in owned[item])
    if isinstance(step, Prefix):
        return owned[step.value]
    if isinstance(step, TupleGet):
        return item_of(step, owned[step.value])
    return tuple(
        _Lifetime(bind.var.name, item, bytes_of(leaf), at, at, leaf.shape, leaf.dtype.bytes)
        for item, leaf in enumerate(tensors_in(bind.var.type))
    )


def _elsewhere(value: Value) -> tuple[_Lifetime, ...]:
    """Return the tensors of an input or a constant, which the plan does not place."""
    return tuple(
        _Lifetime(value.name, item, None, 0, 0) for item, _ in enumerate(tensors_in(value.type))
    )


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
