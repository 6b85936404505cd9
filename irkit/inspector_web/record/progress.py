"""How far a child is, told by a small file: the pipe to it is for the answer."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from irkit.core import atomic_write

OnProgress = Callable[[str, int, int], None]


NAME = "progress.json"


class Progress(msgspec.Struct, frozen=True):
    """What is being done, and how much of it there is; 0 of 0 while that is unknown."""

    what: str = ""
    done: int = 0
    total: int = 0


def write_progress(folder: str | Path, what: str, done: int = 0, total: int = 0) -> None:
    """Say how far it is; what the child calls."""
    with suppress(OSError), atomic_write(Path(folder) / NAME) as partial:
        partial.write_text(json.dumps({"what": what, "done": done, "total": total}))


def read_progress(folder: str | Path) -> Progress:
    """Read what was said last; nothing is as good as any answer."""
    try:
        return msgspec.json.decode((Path(folder) / NAME).read_bytes(), type=Progress)
    except (OSError, msgspec.DecodeError):
        return Progress()


def progress_writer(folder: str) -> OnProgress:
    return lambda what, done, total: write_progress(folder, what, done, total)
