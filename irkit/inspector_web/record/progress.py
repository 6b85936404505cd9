"""How far a child is, in a small file: the pipe to the child is for its result."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from irkit.core import atomic_write

OnProgress = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is."""

NAME = "progress.json"


class Progress(msgspec.Struct, frozen=True):
    """What a child is doing, and how much of it is done; 0 of 0 while that is unknown."""

    what: str = ""
    done: int = 0
    total: int = 0


def write_progress(folder: str | Path, what: str, done: int = 0, total: int = 0) -> None:
    """Write the progress file of a folder; the child calls this."""
    with suppress(OSError), atomic_write(Path(folder) / NAME) as partial:
        partial.write_text(json.dumps({"what": what, "done": done, "total": total}))


def read_progress(folder: str | Path) -> Progress:
    """Read the progress file of a folder; empty progress if there is none."""
    try:
        return msgspec.json.decode((Path(folder) / NAME).read_bytes(), type=Progress)
    except (OSError, msgspec.DecodeError):
        return Progress()


def progress_writer(folder: str) -> OnProgress:
    """Return a callback that writes the progress file of a folder."""
    return lambda what, done, total: write_progress(folder, what, done, total)
