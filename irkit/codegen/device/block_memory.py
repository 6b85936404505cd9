"""Memory of a block that no scope puts anywhere: it goes into shared memory.

A buffer in scope "global" that is allocated inside the loops over blocks, and around loops over
threads, belongs to a block. So does one between two loops over threads, with a row for each thread
of those around it.
"""

from irkit.core import substitute, walk
from irkit.ir import (
    Allocate,
    For,
    Let,
    Stmt,
    View,
    element_count,
    seq,
)
from irkit.ir.threads import element_reach, is_thread_loop, thread_number


def with_block_memory(stmt: Stmt, around: tuple[For, ...] = ()) -> Stmt:
    """Return the nest of a launch with the memory of each block in scope "shared"; ``around`` are
    the loops over threads around the statement."""
    match stmt:
        case For(kind="thread"):
            inside = (*around, stmt) if is_thread_loop(stmt) else around
            return stmt.replace(body=with_block_memory(stmt.body, inside))
        case Let() | View():
            return stmt.replace(body=with_block_memory(stmt.body, around))
        case Allocate() if _is_of_several_threads(stmt):
            return with_block_memory(_shared(stmt, around), around)
        case Allocate():
            return stmt.replace(body=with_block_memory(stmt.body, around))
        case _:
            return stmt


def _is_of_several_threads(stmt: Allocate) -> bool:
    if stmt.buffer.is_shared or stmt.buffer.is_private:
        return False
    return any(is_thread_loop(loop) for loop in walk(stmt.body, For))


def _shared(stmt: Allocate, around: tuple[For, ...]) -> Allocate:
    old = stmt.buffer
    if not around:
        new = old.replace(scope="shared").copy()
        return stmt.replace(buffer=new, body=substitute(stmt.body, {old: new}))
    rows, row = thread_number(around)
    size = element_reach(old)
    shape = (element_count((rows, size)),)
    whole = old.replace(name=f"{old.name}_all", shape=shape, strides=None, scope="shared").copy()
    own = old.replace(scope="shared", align=0).copy()
    view = View(own, whole, row * size, seq(), span=stmt.span)
    body = view.replace(body=substitute(stmt.body, {old: own}))
    return stmt.replace(buffer=whole, body=body)
