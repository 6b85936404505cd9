"""Temporary folders of the inspector, removed with their owner and at the latest with the process.

A process that is killed leaves its folder behind; the next process removes folders that nobody
locks any more. A lock is used and not the process number, which may be in use again by then.
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
_LOCK_FILE = "held"
_STALE_SECONDS = 3600.0
"""Age at which a folder without a lock file is stale: a new folder does not have one yet."""


def make_tempdir(owner: object, name: str) -> Path:
    """Make a folder that is removed with its owner, or when this process ends."""
    process = os.getpid()
    if not _home(process).is_dir():  # A cleaner of old files may have removed it.
        _home.cache_clear()
    made = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=_home(process)))
    weakref.finalize(owner, shutil.rmtree, made, ignore_errors=True)
    return made


@cache
def _home(process: int) -> Path:
    """Make the parent folder for all temporary folders of this process."""
    with suppress(OSError):
        remove_stale(Path(tempfile.gettempdir()))
    made = Path(tempfile.mkdtemp(prefix=PREFIX))
    lock = (made / _LOCK_FILE).open("w")
    _try_lock(lock)
    atexit.register(_remove_home, made, lock, process)
    return made


def _remove_home(folder: Path, lock: IO[str], process: int) -> None:
    if os.getpid() == process:  # And not a fork, which ends sooner.
        lock.close()
        shutil.rmtree(folder, ignore_errors=True)


def remove_stale(where: Path) -> None:
    """Remove the folders of processes that have ended."""
    if sys.platform == "win32":
        return  # There are no such locks there, so nothing tells whose a folder is.
    with os.scandir(where) as entries:
        found = [each for each in entries if each.name.startswith(PREFIX)]
    for entry in found:
        with suppress(OSError):
            own = entry.stat(follow_symlinks=False).st_uid == os.getuid()
            if own and entry.is_dir(follow_symlinks=False) and _is_abandoned(Path(entry.path)):
                shutil.rmtree(entry.path, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    try:
        with (folder / _LOCK_FILE).open("r+") as lock:
            return _try_lock(lock)
    except FileNotFoundError:
        return time.time() - folder.lstat().st_mtime > _STALE_SECONDS


def _try_lock(lock: IO[str]) -> bool:
    """Lock a file for as long as it is open; return False if another process holds the lock."""
    if sys.platform == "win32":
        return True
    import fcntl  # Missing on Windows.

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
