"""Check that threads of a launch do not overwrite each other's values in shared memory.

Memory of the scope ``shared`` is common to all threads of a block, wherever its allocation is below
their loops. Several threads may store to one element only if all store the same value.
"""

from collections.abc import Set

from irkit.core import ScheduleError, walk
from irkit.ir import (
    Allocate,
    Block,
    Buffer,
    Expr,
    For,
    Let,
    Load,
    PrimFunc,
    Store,
    Var,
    dependences,
    statements,
    uses_of,
)
from irkit.ir.analysis import memory_owners
from irkit.schedule.analysis.accesses import variables


def check_shared(func: PrimFunc, primitive: str) -> None:
    """Check that no thread overwrites what another stores in shared memory.

    Raises: ScheduleError at the thread loop.
    """
    for loop in statements(func).loops:
        if not loop.thread.startswith("threadIdx"):
            continue
        allocated = {allocate.buffer for allocate in walk(loop.body, on=Allocate)}
        shared = {buffer for buffer in allocated if buffer.is_shared}
        if shared:
            _check_threads(func, loop, shared, memory_owners(func).own(loop), primitive)


def _check_threads(
    func: PrimFunc, loop: For, shared: set[Buffer], own: Set[Buffer], primitive: str
) -> None:
    memory, differing = uses_of(func).memory, _differing(loop)

    def differs(value: Expr) -> bool:
        loads = walk(value, on=Load)
        return bool(variables(value) & differing) or any(
            memory(load.buffer) in own for load in loads
        )

    stores = [
        store
        for store in walk(loop.body, on=Store)
        if memory(store.buffer) in shared and differs(store.value)
    ]
    reason = dependences(func).overwritten(loop, stores)
    if reason:
        raise ScheduleError(
            f"cannot {primitive}: threads {loop.var.name!r} share that memory, and {reason}",
            hint="Use another scope for data that belongs to one thread.",
            at=loop,
        )


def _differing(loop: For) -> set[Var]:
    """Collect the variables whose values differ between the threads of a loop."""
    found = {loop.var}
    for node in walk(
        loop.body, on=(Let, Block)
    ):  # From the outside in, so that uses come after definitions.
        pairs = (
            [(node.var, node.value)]
            if isinstance(node, Let)
            else [(axis.var, axis.binding) for axis in node.axes]
        )
        found.update(var for var, value in pairs if variables(value) & found)
    return found
