"""Analyses: functions of an immutable function, computed once and forgotten with it."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from irkit.core.module import Function

_F = TypeVar("_F", bound=Function)
_R = TypeVar("_R")


def analysis(compute: Callable[[_F], _R]) -> Callable[[_F], _R]:
    """Make an analysis remember its result for as long as the function it is about lives.

    A result may hold statements and symbols, but never the function itself: what is remembered
    would keep alive what it is remembered for.
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
