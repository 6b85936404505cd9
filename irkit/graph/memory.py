"""Memory planning: an offset in one arena for each value, so that values that are live at different
times share memory.

Only values of the outermost body are planned. Parameters, constants and results are memory of the
caller; the executor allocates values of symbolic size.
"""

import msgspec
import numpy as np

from irkit.core import ALIGNMENT, Attrs, IRKitError, ShapeError
from irkit.graph.flow import used_inside
from irkit.graph.function import GraphFunc
from irkit.graph.nodes import Bind, Constant, Lambda, Tuple, TupleGet, Value
from irkit.graph.types import TensorType, TupleType, tensors_in
from irkit.ir import as_int

_MOST_BYTES = (1 << 63) - ALIGNMENT  # Sizes are rounded up.
_SIZE, _SLOT = "arena_size", "slot_"


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


class MemoryPlan(msgspec.Struct, frozen=True):
    """An arena of ``size`` bytes and the slots in it, in order of their bindings."""

    size: int
    slots: tuple[MemorySlot, ...]

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
            rows.setdefault(slot.value, []).append(row)
        return (
            (_SIZE, self.size),
            *((_SLOT + value, tuple(found)) for value, found in rows.items()),
        )


def recorded_plan(func: GraphFunc) -> MemoryPlan | None:
    """Return the plan recorded by a pass, or None."""
    attrs = dict(func.attrs)
    if _SIZE not in attrs:
        return None
    slots: list[MemorySlot] = []
    try:
        for key, rows in attrs.items():
            if key.startswith(_SLOT):
                found = msgspec.convert(rows, tuple[tuple[int, int, int, int, int], ...])
                slots += [MemorySlot(key.removeprefix(_SLOT), *row) for row in found]
        return MemoryPlan(msgspec.convert(attrs[_SIZE], int), tuple(slots))
    except msgspec.ValidationError as error:
        raise IRKitError(f"the memory plan of {func.name!r} is damaged: {error}") from None


def without_plan(attrs: Attrs) -> Attrs:
    """Return attributes without the plan."""
    return tuple((key, value) for key, value in attrs if key != _SIZE and not key.startswith(_SLOT))


class _Lifetime(msgspec.Struct):
    value: str
    item: int
    size: int | None
    first: int
    last: int


def memory_plan(func: GraphFunc) -> MemoryPlan:
    """Plan the memory of a function.

    An operand and a result of one step never share. Large values are placed first, each at the
    lowest offset that is free during its lifetime. Raises: IRKitError if two values have the same
    name; ShapeError if the values need more than 2**63 - 1 bytes.
    """
    lives = sorted(_lives(func), key=lambda life: -(life.size or 0))
    taken = _PlacedSlots(len(lives))
    slots: list[MemorySlot] = []
    for life in lives:
        assert life.size is not None
        taken.check_room(life.value, life.size)
        offset = taken.place(life.first, life.last, _aligned(life.size))
        slots.append(MemorySlot(life.value, life.item, offset, life.size, life.first, life.last))
    size = max((slot.offset + _aligned(slot.size) for slot in slots), default=0)
    return MemoryPlan(size, tuple(sorted(slots, key=lambda s: (s.first, s.value, s.item))))


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


def _lives(func: GraphFunc) -> list[_Lifetime]:
    """Return from which binding to which each planned tensor is needed."""
    owned: dict[Value, tuple[_Lifetime, ...]] = {param: _elsewhere(param) for param in func.params}
    names: set[str] = set()
    for at, bind in enumerate(func.body.bindings):
        for value in used_inside(bind.step):
            for life in owned.get(value, ()):
                # A function value keeps what it refers to alive for as long as it can be called.
                last = len(func.body.bindings) if isinstance(bind.step, Lambda) else at
                life.last = max(life.last, last)
        made = _storage(bind, at, owned)
        computes = not isinstance(bind.step, (Constant, Lambda, Tuple, TupleGet))
        if computes and bind.var.name in names:
            raise IRKitError(
                f"two values are named {bind.var.name!r}, but a plan needs unique names"
            )
        names.add(bind.var.name)
        owned[bind.var] = made
    results = {id(life) for life in owned.get(func.body.result, ())}
    every = {id(life): life for lives in owned.values() for life in lives}
    return [life for key, life in every.items() if key not in results and life.size is not None]


def _storage(
    bind: Bind, at: int, owned: dict[Value, tuple[_Lifetime, ...]]
) -> tuple[_Lifetime, ...]:
    """Return the tensors of a value; tuples share those of their items."""
    step = bind.step
    if isinstance(step, (Constant, Lambda)):
        return _elsewhere(bind.var)
    if isinstance(step, Tuple):
        return tuple(life for item in step.items for life in owned[item])
    if isinstance(step, TupleGet):
        return _part(step, owned)
    sizes = [_bytes(leaf) for leaf in tensors_in(bind.var.type)]
    return tuple(_Lifetime(bind.var.name, item, size, at, at) for item, size in enumerate(sizes))


def _elsewhere(value: Value) -> tuple[_Lifetime, ...]:
    """Return the tensors of an input or a constant, which the plan does not place."""
    return tuple(
        _Lifetime(value.name, item, None, 0, 0) for item, _ in enumerate(tensors_in(value.type))
    )


def _part(step: TupleGet, owned: dict[Value, tuple[_Lifetime, ...]]) -> tuple[_Lifetime, ...]:
    """Return the tensors of one item."""
    lives, kind = owned[step.value], step.value.type
    assert isinstance(kind, TupleType)
    counts = [len(tensors_in(item)) for item in kind.items]
    assert sum(counts) == len(lives), step
    begin = sum(counts[: step.index])
    return lives[begin : begin + counts[step.index]]


def _bytes(kind: TensorType) -> int | None:
    count = kind.dtype.bytes
    for extent in kind.shape:
        number = as_int(extent)
        if number is None:
            return None
        count *= number
    return count


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
