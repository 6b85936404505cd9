"""What the threads of a launch may put into memory that they share.

Memory of the scope ``shared`` belongs to all threads of a block, wherever its allocation stands
below their loops. So each of them may put there a copy of what all of them see, but no value of its
own where another one puts another.
"""

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
    uses_of,
)
from irkit.schedule.analysis.accesses import variables


def check_shared(func: PrimFunc, primitive: str) -> None:
    """Refuse a function in which threads may overwrite what others put into shared memory.

    Raises: ScheduleError, at the loop of the threads.
    """
    for loop in walk(func, on=For):
        if not loop.thread.startswith("threadIdx"):
            continue
        allocated = {allocate.buffer for allocate in walk(loop.body, on=Allocate)}
        shared = {buffer for buffer in allocated if buffer.scope == "shared"}
        if shared:
            _check_threads(func, loop, shared, allocated - shared, primitive)


def _check_threads(
    func: PrimFunc, loop: For, shared: set[Buffer], own: set[Buffer], primitive: str
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
            f"cannot {primitive}: threads {loop.var.name!r} share what they put there, and there "
            f"{reason}",
            hint="Keep in another scope what each thread has for itself.",
            at=loop,
        )


def _differing(loop: For) -> set[Var]:
    """List the variables whose values the threads of a loop do not share."""
    found = {loop.var}
    for node in walk(loop.body, on=(Let, Block)):  # From outside in: what is used is known before.
        pairs = (
            [(node.var, node.value)]
            if isinstance(node, Let)
            else [(axis.var, axis.binding) for axis in node.axes]
        )
        found.update(var for var, value in pairs if variables(value) & found)
    return found
