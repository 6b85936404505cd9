"""A digest of irkit's own source files, for caches of what irkit has computed."""

import hashlib
import os
import time
from functools import cache
from pathlib import Path

_LOADED_AT = time.time()


@cache
def own_sources() -> str | None:
    """Return a digest of the paths, sizes and times of irkit's Python files: another version of
    irkit, or one that was edited, has another.

    None if a file changed after this process had begun to import irkit, or if there are no files:
    then it is not known what this process runs.
    """
    top = os.fspath(Path(__file__).parents[2])
    digest, newest, folders = hashlib.sha256(), 0.0, [top]
    while folders:
        folder = folders.pop()
        try:
            found = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            return None
        for entry in found:
            if entry.is_dir() and not entry.name.startswith(("_", ".")):
                folders.append(entry.path)
            elif entry.name.endswith(".py"):
                state = entry.stat()
                newest = max(newest, state.st_mtime)
                place = entry.path[len(top) :].lstrip(os.sep)
                digest.update(f"{place} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest() if 0.0 < newest < _LOADED_AT else None
