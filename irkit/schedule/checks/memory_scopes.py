"""Refuse a primitive that puts into a memory scope what the scope does not hold."""

from irkit.core import ScheduleError, walk
from irkit.ir import Allocate, PrimFunc, defined_scopes, memory_scope


def check_scopes(func: PrimFunc, primitive: str) -> None:
    """Check the types of the elements of all buffers.

    Raises: ScheduleError naming the buffer and what its scope holds.
    """
    if not defined_scopes():
        return  # irkit's own scopes hold anything.
    for stmt in walk(func, Allocate):
        row = memory_scope(stmt.buffer.scope)
        problem = "" if row is None else row.type_problem(stmt.buffer.dtype)
        if problem:
            raise ScheduleError(f"{primitive}: buffer {stmt.buffer.name!r}: {problem}", at=stmt)
