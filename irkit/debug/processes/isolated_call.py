"""One call of a function in a child process of its own."""

import os
from collections.abc import Callable
from typing import Any, TypeVar

from irkit.debug.processes.child import Child, Limits

_T = TypeVar("_T")


def isolate(
    function: Callable[..., _T],
    *args: Any,
    seconds: float | None = None,
    memory: int | None = None,
) -> _T:
    """Call a function of a module, with arguments that pickle, in a child process of its own.

    Units: seconds, bytes. Raises: whatever it raises; ChildDied if it does not come back.
    """
    with Child(Limits(seconds, memory)) as child:
        return child.call(function, *args)


def half_of_memory() -> int | None:
    """Return half of what this machine has (bytes), or None if that is not known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return None
