"""Whether a buffer can share memory with one that it is computed from."""

from irkit.core import walk
from irkit.ir.analysis.dependence import dependences
from irkit.ir.analysis.enclosing import enclosing
from irkit.ir.analysis.liveness import liveness
from irkit.ir.analysis.uses import uses_of
from irkit.ir.analysis.value_numbering import ValueNumbering
from irkit.ir.buffer import Buffer, Load
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Store, View


class InPlace:
    """Buffers of one function that can be computed in place."""

    def __init__(self, func: PrimFunc) -> None:
        self.around = enclosing(func)
        self.live = liveness(func)
        self.uses = uses_of(func)
        self.dependences = dependences(func)

    def takes(self, old: Buffer, new: Buffer) -> bool:
        """Return True if ``new`` can be written to the memory of ``old``.

        While both are live, there must be only one store to the new buffer, which reads of the old
        one only the element it writes, and no two iterations may write the same element.
        """
        before, after = self.live.of(old), self.live.of(new)
        if before is None or after is None or not before.first < after.first <= before.last:
            return False
        if before.last > after.last:
            return False
        touching = {*self.uses.of(old), *self.uses.of(new)}
        if any(isinstance(stmt, View) for stmt in touching):
            return False
        both = [s for s in touching if after.first <= self.live.number(s) <= before.last]
        store = both[0] if len(both) == 1 else None
        if not isinstance(store, Store):
            return False
        if store.buffer is not new or not _reads_its_own_place(store, old):
            return False
        return all(
            self.dependences.carried(loop) is None
            for loop in self.around.loops(store)
            if self.live.number(loop) >= after.first
        )


def _reads_its_own_place(store: Store, old: Buffer) -> bool:
    numbers = ValueNumbering()
    here = [numbers.of(at) for at in store.indices]
    return all(
        load.buffer is not store.buffer
        and (load.buffer is not old or [numbers.of(at) for at in load.indices] == here)
        for load in walk(store, Load)
    )
