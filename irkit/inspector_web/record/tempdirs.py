"""Folders for what is written while the inspector runs: gone with whom they are for, and at the
latest with this process.

A process that is killed leaves its folder behind; the next one removes what nobody holds any more.
A lock says who holds it, since the number of a process may belong to another one by then.
"""

import atexit
import os
import shutil
import sys
import tempfile
import time
import weakref
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO

PREFIX = "irkit-inspect-"
_HELD = "held"
_UNHELD = 3600.0
"""Seconds after which a folder without a lock is nobody's: one that is being made has none yet."""


def make_tempdir(owner: object, name: str) -> Path:
    """Make a folder that is removed with its owner, or when this process ends."""
    process = os.getpid()
    if not _home(process).is_dir():  # Those who tidy up take away what is old.
        _home.cache_clear()
    made = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=_home(process)))
    weakref.finalize(owner, shutil.rmtree, made, ignore_errors=True)
    return made


@cache
def _home(process: int) -> Path:
    """Make the folder of this process."""
    with suppress(OSError):
        remove_stale(Path(tempfile.gettempdir()))
    made = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = (made / _HELD).open("w")
    _take(lock)
    atexit.register(_leave, made, lock, process)
    return made


def _leave(folder: Path, lock: IO[str], process: int) -> None:
    if os.getpid() == process:  # Not a fork of it, which ends sooner.
        lock.close()
        shutil.rmtree(folder, ignore_errors=True)


def remove_stale(where: Path) -> None:
    """Remove the folders of processes that are gone."""
    if sys.platform == "win32":
        return  # What is open cannot be removed there, and nothing says whose it is.
    with os.scandir(where) as entries:
        found = [each for each in entries if each.name.startswith(PREFIX)]
    for entry in found:
        with suppress(OSError):
            own = entry.stat(follow_symlinks=False).st_uid == os.getuid()
            if own and entry.is_dir(follow_symlinks=False) and _is_left(Path(entry.path)):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_left(folder: Path) -> bool:
    try:
        with (folder / _HELD).open("r+") as lock:
            return _take(lock)
    except FileNotFoundError:
        return time.time() - folder.lstat().st_mtime > _UNHELD


def _take(lock: IO[str]) -> bool:
    """Hold a file for as long as it is open; False if another process does."""
    if sys.platform == "win32":
        return True
    import fcntl  # Not there on Windows.

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
