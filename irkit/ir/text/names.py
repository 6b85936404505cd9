"""The order in which the printer names what a function introduces: that of the text."""

from irkit.core import Node
from irkit.ir.function import PrimFunc, dimension_vars
from irkit.ir.stmt import (
    Allocate,
    Assert,
    Block,
    Evaluate,
    For,
    If,
    Let,
    Seq,
    Stmt,
    Store,
    View,
)
from irkit.ir.text.memo import MAX_LINES, Memo


def symbols_in_order(func: PrimFunc, memo: Memo | None = None) -> list[Node]:
    """Return what a function introduces, in the order in which names are assigned."""
    return [*func.params, *dimension_vars(func.params), *bound_symbols(func.body, memo)]


def bound_symbols(stmt: Stmt, memo: Memo | None = None) -> list[Node]:
    """Return what statements bind, in text order; ``memo`` caches it for their parts."""
    found = list[Node]()
    stack: list[Node | tuple[int, int]] = [stmt]
    known = {} if memo is None else memo.symbols
    while stack:
        node = stack.pop()
        cls = node.__class__
        if cls in _NAMELESS:
            continue
        if isinstance(node, tuple):
            if len(found) - node[1] <= MAX_LINES:
                known[node[0]] = tuple(found[node[1] :])
            continue
        if memo is not None and cls in _KEPT:
            if id(node) in known:
                found += known[id(node)]
                continue
            stack.append((id(node), len(found)))
        if isinstance(node, For):
            found.append(node.var)
            stack.append(node.body)
        else:
            _push_bound(node, found, stack)
    return found


_KEPT = (For, If, Block)  # Statements worth caching: all others are one step away from them.
_NAMELESS = (Store, Evaluate, Assert)


def _push_bound(node: Node, found: list[Node], stack: list[Node | tuple[int, int]]) -> None:
    """Add what one statement binds, and push the statements inside it."""
    match node:
        case Seq():
            stack.extend(reversed(node.stmts))
        case Let():
            found.append(node.var)
            stack.append(node.body)
        case Allocate() | View():
            found.append(node.buffer)
            stack.append(node.body)
        case If():
            stack.extend(part for part in (node.otherwise, node.then) if part is not None)
        case Block():
            found.extend(axis.var for axis in node.axes)
            stack.extend(part for part in (node.body, node.init) if part is not None)
        case _:
            pass
