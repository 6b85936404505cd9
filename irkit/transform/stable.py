"""Repeat a change until it has nothing left to do."""

from collections.abc import Callable
from typing import TypeVar

from irkit.core import IRKitError

_T = TypeVar("_T")


def until_stable(change: Callable[[_T], _T], bound: int) -> Callable[[_T], _T]:
    """Make a function that applies ``change``, such as a pass, until it returns what it was given.

    Raises: IRKitError if it still changes something after ``bound`` rounds.
    """

    def repeated(ir: _T) -> _T:
        for _ in range(bound):
            result = change(ir)
            if result is ir:
                return ir
            ir = result
        if change(ir) is ir:
            return ir
        name = getattr(change, "name", getattr(change, "__qualname__", repr(change)))
        raise IRKitError(
            f"{name!r} did not come to rest in {bound} rounds",
            hint="Two rewrites may undo each other; look at the applications of one more round.",
        )

    return repeated
