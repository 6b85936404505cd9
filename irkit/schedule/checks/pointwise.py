"""Check that a block stores each element once, at its own axes."""

from irkit.core import ScheduleError
from irkit.ir import Block, PrimFunc, Store
from irkit.schedule.analysis.accesses import at_own_axes, only_store, writes_beside
from irkit.schedule.analysis.injective import is_injective


class NotOneForOne(ScheduleError):
    """Refusal of a consumer that does not read its producer element by element, so that its axes
    have to be solved for."""


def pointwise_store(func: PrimFunc, block: Block, verb: str) -> Store:
    """Return the store of a block that writes each element once: at distinct axes of its own, or,
    to move it, at any indices that differ at different points."""
    store = only_store(block)
    reason = ""
    if store is None:
        reason = "its body is not a single store"
    elif block.init is not None or any(axis.kind != "spatial" for axis in block.axes):
        reason = "it reduces"
    elif block.predicate is not None:
        reason = "it has a predicate"
    elif writes_beside(func, block, store.buffer):
        reason = f"{store.buffer.name!r} is written by other blocks too"
    elif not at_own_axes(store, block.axes) and not (
        verb == "move" and is_injective(store.indices, block.axes)
    ):
        reason = "it does not write at its own axes, each once"
    if reason or store is None:
        kind = NotOneForOne if verb == "move" else ScheduleError
        raise kind(f"cannot {verb} block {block.name!r}: {reason}", at=block)
    return store
