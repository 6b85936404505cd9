"""Legal replays in signed files of a private folder, for later processes of the same user.

The name is a digest of all that a replay depends on: the text of the start function, with extents,
attributes and every name, the steps, how they were checked, and the version and sources of irkit.
Other decisions or shapes have other names, so they run all checks.
"""

import hashlib
import pickle
import sys
from collections.abc import Iterable

from irkit.core import SignedFiles, own_sources
from irkit.ir import PrimFunc, script
from irkit.schedule.trace.replay_memo import Replay, names_of
from irkit.schedule.trace.schedule_trace import ScheduleTrace

FILES = SignedFiles("replays", ".replay", most_files=4096, most_bytes=1 << 20)


def stored_replay(func: PrimFunc, trace: ScheduleTrace, check: str) -> Replay | None:
    """Return what a replay gave in an earlier process, or None if no file can be believed."""
    name = _name(func, trace, check)
    image = None if name is None else FILES.read(name)
    if image is None:
        return None
    try:
        found = pickle.loads(image)  # Signed by this user's irkit.
    except Exception:  # A pickle can raise anything.
        return None
    return found if isinstance(found, Replay) else None


def store_replay(replay: Replay, trace: ScheduleTrace, check: str) -> None:
    """Keep a legal replay for later processes; it is no error if that fails."""
    name = _name(replay.start, trace, check)
    if name is None:
        return
    try:
        image = pickle.dumps(replay, protocol=5)
    except (RecursionError, pickle.PicklingError, TypeError, AttributeError):
        return  # Nested too deep, or with parts that the user defined inside a function.
    FILES.write(name, image)


def _name(func: PrimFunc, trace: ScheduleTrace, check: str) -> str | None:
    """Return a name for a replay; None if it is not known which sources of irkit run."""
    known = own_sources()
    if known is None:
        return None
    steps = repr(trace.without_where().steps)
    return _digest(
        (known, sys.version, func.name, repr(names_of(func)), script(func), steps, check)
    )


def _digest(parts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()
