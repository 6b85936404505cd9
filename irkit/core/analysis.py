"""Analyses: results about an immutable function or statement, computed once and cached for its
lifetime."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from irkit.core.node import Node

_F = TypeVar("_F", bound=Node)
_R = TypeVar("_R")


def analysis(compute: Callable[[_F], _R]) -> Callable[[_F], _R]:
    """Cache the result of an analysis for as long as the function, or the statement, that it
    describes is alive.

    A result can hold what is inside of that and symbols but never the described itself, which it
    would then keep alive forever.
    """
    known: WeakKeyDictionary[_F, _R] = WeakKeyDictionary()

    @wraps(compute)
    def cached(func: _F) -> _R:
        try:
            return known[func]
        except KeyError:
            found = known[func] = compute(func)
            return found

    return cached
