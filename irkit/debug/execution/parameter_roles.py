"""Which parameters decide what a function accesses, or how often: their values need care."""

from collections.abc import Iterable

from irkit.core import Node, children, walk
from irkit.ir import Allocate, Block, Buffer, Expr, For, Let, Load, PrimFunc, Store, Var, View

Symbol = Var | Buffer


def steering(func: PrimFunc) -> set[Symbol]:
    """Return the parameters whose values decide what is accessed or how often: those in indices,
    sizes, offsets and bounds of loops, also through other memory and names."""
    flows: dict[Symbol, set[Symbol]] = {}
    places: list[Expr] = []
    for node in walk(func):
        match node:
            case Store():
                flows.setdefault(node.buffer, set()).update(_read_by((node.value,)))
                places += node.indices
            case Load():
                places += node.indices
            case Let():
                flows.setdefault(node.var, set()).update(_read_by((node.value,)))
            case For():
                places += (node.begin, node.end)
            case Block():
                for axis in node.axes:
                    flows.setdefault(axis.var, set()).update(_read_by((axis.binding,)))
            case View():
                flows.setdefault(node.buffer, set()).add(node.source)
                flows.setdefault(node.source, set()).add(node.buffer)
                places += (node.offset, *node.buffer.shape)
            case Allocate():
                places += node.buffer.shape
            case _:
                pass
    reached = _read_by(places)
    todo = list(reached)
    while todo:
        for source in flows.get(todo.pop(), ()):
            if source not in reached:
                reached.add(source)
                todo.append(source)
    return {param for param in func.params if param in reached}


def accumulates(func: PrimFunc) -> bool:
    """Return True if a function reads what it has written, as a reduction does: then one element of
    the result depends on many elements of an input."""
    source = _sources(func)
    stored = {_memory(store.buffer, source) for store in walk(func, Store)}
    return any(_memory(load.buffer, source) in stored for load in walk(func, Load))


def overwrites(func: PrimFunc) -> bool:
    """Return True if some iterations of a loop store to the same element, by its indices: the last
    one that does decides, so one element of the result depends on many of an input."""
    return any(
        not any(loop.var in walk(index, Var) for index in store.indices)
        for loop in walk(func, For)
        for store in walk(loop.body, Store)
    )


def inputs_of(func: PrimFunc) -> set[Symbol]:
    """Return the parameters whose values are read: scalars, and buffers that are loaded from."""
    source = _sources(func)
    read = {_memory(load.buffer, source) for load in walk(func, Load)}
    return {param for param in func.params if isinstance(param, Var) or param in read}


def _sources(func: PrimFunc) -> dict[Buffer, Buffer]:
    return {view.buffer: view.source for view in walk(func, View)}


def _memory(buffer: Buffer, source: dict[Buffer, Buffer]) -> Buffer:
    while buffer in source:
        buffer = source[buffer]
    return buffer


def _read_by(exprs: Iterable[Expr]) -> set[Symbol]:
    """Return what any of the expressions reads; each node is visited once."""
    found: set[Symbol] = set()
    seen: set[int] = set()
    todo: list[Node] = list(exprs)
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Load):
            found.add(node.buffer)
        elif isinstance(node, Var):
            found.add(node)
        todo += children(node)
    return found
