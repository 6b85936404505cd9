"""The solver z3, which the extra ``prove`` installs; it is loaded when the first proof needs it."""

import gc
import threading
from contextlib import ContextDecorator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from irkit.core import IRKitError


def has_z3() -> bool:
    """Return True if z3 is installed."""
    return find_spec("z3") is not None


@cache
def z3_module() -> Any:
    """Return the module ``z3``.

    Raises: IRKitError if it is not installed.
    """
    try:
        return import_module("z3")
    except ImportError as error:
        raise IRKitError(
            "proofs need z3, which is not installed",
            hint="Install it with: pip install 'irkit[prove]'",
        ) from error


class _PausedCollector(ContextDecorator):
    """Keep the garbage collector off while z3 works, and afterwards as it was.

    A context of z3 serves one thread at a time. Its objects stand in cycles, its calls let other
    threads run, and whichever thread collects garbage frees objects of a context that is in use:
    the process then dies or hangs.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._was_on = False

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._was_on = gc.isenabled()
                gc.disable()
            self._inside += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside and self._was_on:
                gc.enable()


paused_collector = _PausedCollector()
