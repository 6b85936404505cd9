"""Refuse a primitive that puts into a memory scope what the scope does not hold, or takes from one
what an instruction wants elsewhere."""

from irkit.core import ScheduleError, walk
from irkit.ir import (
    Allocate,
    InstructionCall,
    PrimFunc,
    Store,
    defined_scopes,
    instructions_want_memory,
    memory_problem,
    memory_scope,
)


def check_scopes(func: PrimFunc, primitive: str) -> None:
    """Check the types of the elements of all buffers, and where operands of instructions lie.

    Raises: ScheduleError naming the buffer and what its scope holds, or the scope that an
    instruction wants.
    """
    if defined_scopes():  # irkit's own scopes hold anything.
        _check_types(func, primitive)
    if instructions_want_memory():
        for node in walk(func, (Store, InstructionCall)):
            problem = memory_problem(node)
            if problem is not None:
                raise ScheduleError(
                    f"{primitive}: {problem}",
                    at=node,
                    hint="Stage the operand there before: cache_read or cache_write, then "
                    "set_scope.",
                )


def _check_types(func: PrimFunc, primitive: str) -> None:
    for stmt in walk(func, Allocate):
        row = memory_scope(stmt.buffer.scope)
        problem = "" if row is None else row.type_problem(stmt.buffer.dtype)
        if problem:
            raise ScheduleError(f"{primitive}: buffer {stmt.buffer.name!r}: {problem}", at=stmt)
