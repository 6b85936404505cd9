"""The tensors that a plan stores, and the memory plan that places them."""

import msgspec

from irkit.core import IRKitError
from irkit.graph import (
    GraphFunc,
    MemoryPlan,
    TensorType,
    Value,
    memory_plan,
    recorded_plan,
    tensors_in,
)


def memory_of(func: GraphFunc) -> MemoryPlan:
    """Return the recorded plan if it matches the function, or a new one if there is none."""
    current, recorded = memory_plan(func), recorded_plan(func)
    if recorded is None:
        return current
    lives = [
        {(slot.value, slot.item, slot.size, slot.first, slot.last) for slot in plan.slots}
        | {(room.value, room.item, None, room.first, room.last) for room in plan.rooms}
        for plan in (current, recorded)
    ]
    if lives[0] != lives[1]:
        raise IRKitError(
            f"the memory plan of {func.name!r} is older than its values",
            hint="Run plan-memory after every pass that changes the graph.",
        )
    return recorded


class StoredTensor(msgspec.Struct, frozen=True, eq=False):
    """One stored tensor, however many values and tuples stand for it: item ``item`` of the result
    that ``value`` was bound to."""

    value: Value
    item: int
    type: TensorType
    computed: bool

    @property
    def name(self) -> str:
        whole = isinstance(self.value.type, TensorType)
        return self.value.name if whole else f"{self.value.name}_{self.item}"


def stored_tensors(value: Value, *, computed: bool) -> tuple[StoredTensor, ...]:
    """Return what is stored of a value: a tensor for each that its type holds."""
    types = enumerate(tensors_in(value.type))
    return tuple(StoredTensor(value, item, type, computed) for item, type in types)
