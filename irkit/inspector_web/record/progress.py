"""How far a child is, as its last report."""

import json

import msgspec

from irkit.processes import report


class Progress(msgspec.Struct, frozen=True):
    """What a child is doing, and how much of it is done; 0 of 0 while that is unknown."""

    what: str = ""
    done: int = 0
    total: int = 0


def report_progress(what: str, done: int = 0, total: int = 0) -> None:
    """Report the progress of this process, if it is a child."""
    report(json.dumps({"what": what[:300], "done": done, "total": total}))


def progress_of(last: str) -> Progress:
    """Return the progress in the last report of a child; empty progress if there is none."""
    try:
        return msgspec.json.decode(last, type=Progress)
    except msgspec.DecodeError:
        return Progress()
