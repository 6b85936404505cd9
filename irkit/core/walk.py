"""Traversal without recursion: trees 10,000 deep and shared subexpressions are ordinary."""

from collections.abc import Iterator
from typing import TypeVar, overload

from irkit.core.node import BINDERS, CHILDREN, PARTS, USES, Node

_N = TypeVar("_N", bound=Node)


def postorder(root: Node) -> list[Node]:
    """List every node below and including ``root`` once, children before parents, in text order."""
    order: list[Node] = []
    add = order.append
    seen: set[int] = set()
    mark = seen.add
    stack: list[Node | None] = [root]
    push, pop, push_all = stack.append, stack.pop, stack.extend
    readers = CHILDREN
    while stack:
        node = pop()
        if node is None:
            add(pop())  # pyright: ignore[reportArgumentType] -- a None is always pushed on top of the node it announces
            continue
        key = id(node)
        if key in seen:
            continue
        mark(key)
        below = readers[node.__class__](node)
        if below:
            push(node)
            push(None)
            push_all(below[::-1])
        else:
            add(node)
    return order


@overload
def walk(root: Node) -> Iterator[Node]: ...
@overload
def walk(root: Node, on: type[_N]) -> Iterator[_N]: ...
@overload
def walk(root: Node, on: tuple[type[_N], ...]) -> Iterator[_N]: ...
def walk(root: Node, on: type[Node] | tuple[type[Node], ...] | None = None) -> Iterator[Node]:
    """Visit every node once, parents before children, in text order; only those of class ``on`` if
    it is given."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        key = id(node)
        if key in seen:
            continue
        seen.add(key)
        if on is None or isinstance(node, on):
            yield node
        stack.extend(CHILDREN[node.__class__](node)[::-1])


def count_nodes(root: Node) -> int:
    """Count distinct nodes: the size that tables and limits speak of."""
    return len(postorder(root))


def symbols_bound(root: Node) -> list[Node]:
    """List every variable and buffer introduced below ``root``, in text order."""
    return [symbol for node in walk(root) for symbol in BINDERS[node.__class__](node)]


def symbols_used(root: Node) -> set[Node]:
    """Collect every variable and buffer referred to below ``root``, also inside the shapes of
    buffers it introduces or uses."""
    found: set[Node] = set()
    entered: set[int] = set()  # Symbols whose parts were looked at.
    roots: list[Node] = [root]
    while roots:
        for node in walk(roots.pop()):
            held = USES[node.__class__](node)
            found.update(held)
            inside = [*held, *BINDERS[node.__class__](node)]
            if node.symbol:
                found.add(node)
                inside.append(node)
            for symbol in inside:
                if id(symbol) not in entered:
                    entered.add(id(symbol))
                    roots.extend(PARTS[symbol.__class__](symbol))
    return found
