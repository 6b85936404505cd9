"""One call of a function in its own child process."""

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
    """Call a module-level function in its own child process; arguments are pickled.

    Units: seconds, bytes. Raises: whatever the function raises; ChildDied if it does not return.
    """
    with Child(Limits(seconds, memory)) as child:
        return child.call(function, *args)


def half_of_memory() -> int | None:
    """Return half of this machine's memory in bytes, or None if that is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return None
