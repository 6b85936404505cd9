"""What a pass must leave alone in its process: state that other code depends on."""

import gc
import os
import random
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec
import numpy as np


class _Kind(msgspec.Struct, frozen=True):
    """One kind of state: how it is read, and how it is set again."""

    name: str
    read: Callable[[], Any]
    write: Callable[[Any], object]


def _environment() -> dict[str, str]:
    return dict(os.environ)


def _set_environment(known: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(known)


def _folder() -> str:
    with suppress(OSError):
        return os.getcwd()
    return ""


def _set_folder(folder: str) -> None:
    if folder:
        os.chdir(folder)


def _numpy_random() -> tuple[Any, ...]:
    name, keys, *rest = np.random.get_state()
    return (name, bytes(np.asarray(keys)), *rest)


def _set_numpy_random(known: tuple[Any, ...]) -> None:
    name, keys, *rest = known
    np.random.set_state((name, np.frombuffer(keys, np.uint32), *rest))


def _set_filters(known: list[Any]) -> None:
    warnings.filters[:] = known  # pyright: ignore[reportIndexIssue] -- it is a list


def _set_path(known: list[str]) -> None:
    sys.path[:] = known


def _set_collection(enabled: bool) -> None:
    (gc.enable if enabled else gc.disable)()


_KINDS = (
    _Kind("Python's recursion limit", sys.getrecursionlimit, sys.setrecursionlimit),
    _Kind("NumPy's error state", np.geterr, lambda known: np.seterr(**known)),
    _Kind("the filters of warnings", lambda: list(warnings.filters), _set_filters),
    _Kind("the state of random", random.getstate, random.setstate),
    _Kind("the state of numpy.random", _numpy_random, _set_numpy_random),
    _Kind("the environment", _environment, _set_environment),
    _Kind("the current folder", _folder, _set_folder),
    _Kind("sys.path", lambda: list(sys.path), _set_path),
    _Kind("garbage collection", gc.isenabled, _set_collection),
)


class ProcessState:
    """The state of this process at a time."""

    def __init__(self) -> None:
        self.known = [kind.read() for kind in _KINDS]

    def changes(self) -> dict[str, str]:
        """Return what has changed since, and how, in words."""
        found: dict[str, str] = {}
        for kind, known in zip(_KINDS, self.known, strict=True):
            now = kind.read()
            if now != known:
                shown = isinstance(now, (int, str))
                found[kind.name] = f" from {known!r} to {now!r}" if shown else ""
        return found

    def restore(self) -> None:
        """Set what has changed as it was."""
        for kind, known in zip(_KINDS, self.known, strict=True):
            if kind.read() != known:
                kind.write(known)
