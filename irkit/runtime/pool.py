"""The thread pool of this process: linked on first use, stopped at fork and exit."""

import atexit
import ctypes
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from irkit.codegen import (
    ENTER,
    MAX_POOL_THREADS,
    POOL_DISMISS,
    POOL_FORKED,
    POOL_RESIZE,
    POOL_THREADS,
    emit_pool,
    has_llvm,
    host_target,
    why_serial,
)
from irkit.core import IRKitError
from irkit.runtime.cache import object_for
from irkit.runtime.jit import Library

VARIABLE = "IRKIT_NUM_THREADS"
_lock = threading.Lock()
_linked: list[Library] = []
_asked: list[int] = []


def link(
    objects: Sequence[bytes],
    symbols: Iterable[str],
    pool: bytes = b"",
    imports: Mapping[str, int] | None = None,
) -> Library:
    """Link object files into this process, with the thread pool if they have parallel loops.

    ``pool`` is an object file of the pool, for a process without LLVM that has none yet;
    ``imports`` are addresses of other functions that the objects call.
    Raises: IRKitError if a symbol is missing, an object file is damaged, or ``IRKIT_NUM_THREADS``
    is not a number of threads.
    """
    own = {ENTER: _pool(pool).address(ENTER)} if has_parallel_loops(objects) else {}
    return Library(objects, symbols, {**own, **(imports or {})})


def has_parallel_loops(objects: Sequence[bytes]) -> bool:
    """Return True if object files have parallel loops, for which they need the pool."""
    return any(ENTER.encode() in image for image in objects)


def num_threads() -> int:
    """Return how many threads run a parallel loop.

    This is the number set, else ``IRKIT_NUM_THREADS``, else the number of processors this process
    may use; fewer if the system provided fewer threads.
    """
    if _waits_for_a_package():
        return _asked[0] if _asked else _default_count()
    return ctypes.CFUNCTYPE(ctypes.c_int)(_pool().address(POOL_THREADS))()


def set_num_threads(count: int) -> None:
    """Set how many threads run a parallel loop, from now on and in the whole process.

    Results do not depend on it. Raises: IRKitError if it is not from 1 to 512.
    """
    if isinstance(count, bool) or not isinstance(count, int):  # pyright: ignore[reportUnnecessaryIsInstance] -- users' code
        raise _invalid_count("the number of threads", repr(count))
    _check(count, "the number of threads", repr(count))
    problem = why_serial(host_target())
    if problem and count > 1:
        raise IRKitError(f"parallel loops run on one thread here: {problem}")
    if _waits_for_a_package():
        _asked[:] = [count]
    else:
        _resize(_pool(), count)


def _waits_for_a_package() -> bool:
    """Return True if there is no pool, nor LLVM to make it: that of a package will be used."""
    return not _linked and not has_llvm()


def _pool(image: bytes = b"") -> Library:
    with _lock:
        return _linked[0] if _linked else _link_pool(image)


def _link_pool(image: bytes) -> Library:
    """Link the pool. It is never unloaded: its workers run its code."""
    count = _asked[0] if _asked else _default_count()
    names = (ENTER, POOL_RESIZE, POOL_THREADS, POOL_DISMISS, POOL_FORKED)
    library = Library([_pool_image(image)], names)
    _linked.append(library)
    _resize(library, count)
    dismiss: Any = ctypes.CFUNCTYPE(None)(library.address(POOL_DISMISS))
    forked: Any = ctypes.CFUNCTYPE(None)(library.address(POOL_FORKED))
    # Forking with other threads alive is unsafe, and Python warns about it.
    os.register_at_fork(before=dismiss, after_in_child=forked)
    atexit.register(dismiss)
    return library


def _pool_image(image: bytes) -> bytes:
    """Return the object file of the pool; without LLVM, that of a package."""
    if has_llvm():
        host = host_target()
        return object_for(emit_pool(host), host)
    if not image:
        raise IRKitError(
            "parallel loops need llvmlite, or a package that holds the pool of threads",
            hint="pip install llvmlite, or compile the model again with this version of irkit.",
        )
    return image


def _resize(library: Library, count: int) -> None:
    ctypes.CFUNCTYPE(None, ctypes.c_int)(library.address(POOL_RESIZE))(count)


def _default_count() -> int:
    """Return the number of threads from the environment, else the usable processors."""
    given = os.environ.get(VARIABLE, "").strip()
    if given:
        if not (given.isascii() and given.isdigit()):
            raise _invalid_count(VARIABLE, repr(given))
        return _check(int(given[:9]), VARIABLE, repr(given))
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)), MAX_POOL_THREADS)
    return min(os.cpu_count() or 1, MAX_POOL_THREADS)


def _check(count: int, what: str, found: str) -> int:
    if not 1 <= count <= MAX_POOL_THREADS:
        raise _invalid_count(what, found)
    return count


def _invalid_count(what: str, found: str) -> IRKitError:
    return IRKitError(
        f"{what} must be a whole number from 1 to {MAX_POOL_THREADS}, found {found[:40]}"
    )
