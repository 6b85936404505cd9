"""Expressions and statements that were valid in the function verified last: the next one has most
of them.

A pass makes a function of the parts of another. Nodes never change, so an expression that was valid
needs no second look: only whether the symbols that it uses are in scope. Nor do the fields of a
statement, and of all below it.
"""

import threading
from collections.abc import Mapping, Set
from types import MappingProxyType
from weakref import ref

from irkit.core import Node
from irkit.ir.function import PrimFunc

ValidExpressions = Mapping[int, tuple[Node, ...]]
"""The variables and buffers that an expression uses, by its ``id``."""
NONE: ValidExpressions = MappingProxyType({})
NO_STATEMENTS = frozenset[int]()


class _Latest(threading.local):
    """The latest valid function of this thread, if it is alive, and its expressions."""

    def __init__(self) -> None:
        self.func: ref[PrimFunc] | None = None
        self.expressions: ValidExpressions = NONE
        self.statements: Set[int] = NO_STATEMENTS


_LATEST = _Latest()


def valid_before() -> tuple[PrimFunc | None, ValidExpressions]:
    """Return the function of this thread that was valid last, and its expressions.

    As long as the function lives, none of their ``id`` means another expression: callers keep it.
    """
    func = None if _LATEST.func is None else _LATEST.func()
    return func, NONE if func is None else _LATEST.expressions


def statements_valid_before() -> Set[int]:
    """Return the ``id`` of each statement of that function, as long as it lives."""
    func = None if _LATEST.func is None else _LATEST.func()
    return NO_STATEMENTS if func is None else _LATEST.statements


def remember_valid(
    func: PrimFunc, expressions: ValidExpressions, statements: Set[int] = NO_STATEMENTS
) -> None:
    """Keep the expressions and statements of a valid function for as long as it lives."""
    _LATEST.func = ref(func)
    _LATEST.expressions, _LATEST.statements = expressions, statements
