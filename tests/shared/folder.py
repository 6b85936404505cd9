"""The folder that all processes of one run of pytest write to, and results kept in it."""

import atexit
import fcntl
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

_T = TypeVar("_T")
_VARIABLE = "IRKIT_TEST_RUN"
# Workers and the processes that tests start inherit it from the first process.
_OWNED = _VARIABLE not in os.environ
_OWNER = os.getpid()
if _OWNED:
    os.environ[_VARIABLE] = tempfile.mkdtemp(prefix="irkit-tests-")
FOLDER = Path(os.environ[_VARIABLE])


def once(name: str, make: Callable[[], _T]) -> _T:
    """Return what ``make`` gives, made by one process of this run and pickled for the others."""
    path = FOLDER / f"{name}.pickle"
    with open(path.with_suffix(".lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            return pickle.loads(path.read_bytes())
        made = make()
        path.write_bytes(pickle.dumps(made))
        return made


@atexit.register
def _remove() -> None:
    if _OWNED and os.getpid() == _OWNER:  # Not in a process forked from it.
        shutil.rmtree(FOLDER, ignore_errors=True)
