"""Traversal without recursion: trees 100,000 deep and shared subexpressions are ordinary.

An expression holds expressions only, and in a statement it introduces nothing; a test checks that
for every class. So who looks for statements does not enter expressions, nine nodes of ten.
"""

from collections.abc import Iterator
from typing import TypeVar, overload

from irkit.core.node import BINDERS, CHILDREN, PARTS, STATEMENTS, USES, Node

_N = TypeVar("_N", bound=Node)


def may_be_expression(on: type[Node] | tuple[type[Node], ...]) -> bool:
    """Return True if an expression can be of one of some classes."""
    classes: list[type[Node]] = list(on) if isinstance(on, tuple) else [on]
    while classes:
        each = classes.pop()
        if getattr(each, "expression", True):  # Also if it is no class of nodes: others report it.
            return True
        classes += each.__subclasses__()
    return False


def statements_postorder(root: Node) -> list[Node]:
    """Return every node below and including ``root`` that is no expression, children first."""
    order: list[Node] = []
    seen: set[int] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, below_done = stack.pop()
        if below_done:
            order.append(node)
        elif id(node) not in seen and not node.expression:
            seen.add(id(node))
            stack.append((node, True))
            stack += [(child, False) for child in STATEMENTS[node.__class__](node)[::-1]]
    return order


def postorder(root: Node) -> list[Node]:
    """Return every node below and including ``root`` once, children first, in text order."""
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
    """Yield every node once, parents first, in text order; with ``on``, only nodes of those
    classes."""
    seen: set[int] = set()
    stack = [root]
    enters = on is None or may_be_expression(on)
    pop, push_all, mark = stack.pop, stack.extend, seen.add
    readers = CHILDREN if enters else STATEMENTS
    while stack:
        node = pop()
        key = id(node)
        if key in seen:
            continue
        mark(key)
        if on is None or isinstance(node, on):
            yield node
        if enters or not node.expression:
            push_all(readers[node.__class__](node)[::-1])


def count_nodes(root: Node) -> int:
    """Count distinct nodes: the size used in tables and limits."""
    return len(postorder(root))


def symbols_bound(root: Node) -> list[Node]:
    """Return every variable and buffer introduced below ``root``, in text order."""
    if root.expression:  # A tensor expression can introduce the axes of a reduction.
        return [symbol for node in walk(root) for symbol in BINDERS[node.__class__](node)]
    found: list[Node] = []
    seen: set[int] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if id(node) not in seen and not node.expression:
            seen.add(id(node))
            found += BINDERS[node.__class__](node)
            stack += STATEMENTS[node.__class__](node)[::-1]
    return found


def symbols_used(root: Node) -> set[Node]:
    """Return every variable and buffer referred to below ``root``, including those in the shapes of
    buffers that it introduces or uses."""
    found: set[Node] = set()
    entered: set[int] = set()  # Symbols whose parts have been visited.
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
