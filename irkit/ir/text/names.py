"""The order in which the printer names what a function introduces: that of the text."""

from irkit.core import Node, deep_recursion
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


@deep_recursion
def bound_symbols(stmt: Stmt, memo: Memo | None = None) -> list[Node]:
    """Return what statements bind, in text order; ``memo`` caches it for their parts."""
    found = list[Node]()
    _add_bound(stmt, found, None if memo is None else memo.symbols)
    return found


_KEPT = (For, If, Block)  # Statements worth caching: all others are one step away from them.
_NAMELESS = frozenset({Store, Evaluate, Assert})  # Passed over in sequences without a call.


def _add_bound(stmt: Stmt, found: list[Node], known: dict[int, tuple[Node, ...]] | None) -> None:
    """Add what a statement and those below it bind."""
    if known is None or stmt.__class__ not in _KEPT:
        _add_below(stmt, found, known)
    elif id(stmt) in known:
        found += known[id(stmt)]
    else:
        begin = len(found)
        _add_below(stmt, found, known)
        if len(found) - begin <= MAX_LINES:
            known[id(stmt)] = tuple(found[begin:])


def _add_below(stmt: Stmt, found: list[Node], known: dict[int, tuple[Node, ...]] | None) -> None:
    match stmt:
        case Store() | Evaluate() | Assert():
            pass
        case Seq():
            for inner in stmt.stmts:
                if inner.__class__ not in _NAMELESS:
                    _add_bound(inner, found, known)
        case For() | Let():
            found.append(stmt.var)
            _add_bound(stmt.body, found, known)
        case Allocate() | View():
            found.append(stmt.buffer)
            _add_bound(stmt.body, found, known)
        case If():
            _add_bound(stmt.then, found, known)
            if stmt.otherwise is not None:
                _add_bound(stmt.otherwise, found, known)
        case Block():
            found.extend([axis.var for axis in stmt.axes])
            if stmt.init is not None:
                _add_bound(stmt.init, found, known)
            _add_bound(stmt.body, found, known)
        case _:
            pass
