"""Loops without an order that mean the same as one that runs in order."""

from irkit.core import any_node, walk
from irkit.ir import Allocate, Evaluate, For, PrimFunc
from irkit.ir.threads import (
    independence,
    is_barrier,
    is_block_loop,
    is_thread_loop,
    outermost_nests,
)


def is_apart(func: PrimFunc, loop: For) -> bool:
    """Return True if the iterations of a loop without an order certainly never meet, so that they
    could run one after the other.

    That is known of parallel and vectorized loops, of loops over blocks that are in no nest of
    threads, and of the loops of a nest without barriers, where no memory in it is shared and no
    axis occurs twice. At a barrier threads take turns, which no order of whole iterations does.
    """
    nests = [nest for nest in outermost_nests(func.body) if any(n is loop for n in walk(nest, For))]
    if not is_thread_loop(loop):
        return _holds(func, loop) and not (is_block_loop(loop) and nests)
    return bool(nests) and all(_is_plain(nest) and _holds(func, nest) for nest in nests)


def _holds(func: PrimFunc, loop: For) -> bool:
    return any(each.holds for each in independence(func) if each.loop is loop)


def _is_plain(nest: For) -> bool:
    """Return True if the threads of a nest do not wait, share no memory of their own, and count
    each axis once."""
    axes = [loop.thread for loop in walk(nest, For) if loop.kind == "thread"]
    waits = any_node(nest, Evaluate, is_barrier)
    shares = any(stmt.buffer.is_shared for stmt in walk(nest, Allocate))
    return not waits and not shares and len(axes) == len(set(axes))
