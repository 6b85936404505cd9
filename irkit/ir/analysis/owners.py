"""Whose memory a buffer is: the one answer of analyses, passes and code generation to "one per
what?"."""

from irkit.core import analysis, symbols_used, walk
from irkit.ir.buffer import Buffer
from irkit.ir.build import is_thread_loop
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Allocate, For, View


class MemoryOwners:
    """Which iterations of the loops of one function have memory of their own.

    A buffer belongs to one iteration of the loops around its allocation. Of these, the threads of a
    nest share it if its scope is ``shared``. If its scope is ``private``, such as ``local``, each
    thread has its own, also if it is allocated around the loops over threads and blocks. A
    parameter belongs to the caller.
    """

    def __init__(self, func: PrimFunc) -> None:
        allocated = [allocate.buffer for allocate in walk(func.body, Allocate)]
        self.private = frozenset(buffer for buffer in allocated if buffer.is_private)
        self._own: dict[For, frozenset[Buffer]] = {}

    def own(self, loop: For) -> frozenset[Buffer]:
        """Return the buffers of which each iteration of a loop has its own."""
        if loop not in self._own:
            inside = {allocate.buffer for allocate in walk(loop.body, Allocate)}
            if is_thread_loop(loop):
                inside = {buffer for buffer in inside if not buffer.is_shared}
            self._own[loop] = (
                self.private.union(inside) if loop.kind == "thread" else frozenset(inside)
            )
        return self._own[loop]


def is_divided(stmt: Allocate) -> bool:
    """Return True if an allocation stands for several buffers, one for each thread of loops inside
    that use it."""
    if not stmt.buffer.is_private:
        return False
    loops = [loop for loop in walk(stmt.body, For) if loop.kind == "thread"]
    symbols = with_views(stmt)
    return any(not symbols.isdisjoint(symbols_used(loop)) for loop in loops)


def with_views(stmt: Allocate) -> set[Buffer]:
    """Return an allocated buffer, and the views of its memory."""
    found = {stmt.buffer}
    for view in walk(stmt.body, View):  # From the outside in.
        if view.source in found:
            found.add(view.buffer)
    return found


@analysis
def memory_owners(func: PrimFunc) -> MemoryOwners:
    """Return which iterations of the loops of a function have memory of their own."""
    return MemoryOwners(func)
