"""Legal replays in a private folder, for later processes of the same user.

A file is believed only if this user's own irkit wrote it: the folder and its files are the user's
and closed to everybody else, and each file is signed with a secret that is made in the folder and
covers the replay's name. So a file that was damaged, renamed, or brought from elsewhere counts as
missing, and nothing of it is decoded.

The name is a digest of all that a replay depends on: the text of the start function, with extents,
attributes and every name, the steps, how they were checked, and the version and sources of irkit.
Other decisions or shapes have other names, so they run all checks. ``IRKIT_CACHE=0`` turns the
files off.
"""

import hashlib
import hmac
import os
import pickle
import secrets
import stat
import sys
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from irkit.core import cache_folder
from irkit.ir import PrimFunc, script
from irkit.schedule.trace.replay_memo import Replay, names_of
from irkit.schedule.trace.schedule_trace import ScheduleTrace

MOST_FILES = 4096
MOST_BYTES = 1 << 20
_SECRET = "secret"
_BYTES = 32  # Of a secret, and of a signature.


def stored_replay(func: PrimFunc, trace: ScheduleTrace, check: str) -> Replay | None:
    """Return what a replay gave in an earlier process, or None if no file can be believed."""
    folder = _folder()
    if folder is None:
        return None
    name = _name(func, trace, check)
    secret, data = _private_bytes(folder / _SECRET), _private_bytes(folder / name)
    if secret is None or data is None or len(secret) != _BYTES:
        return None
    signature, image = data[:_BYTES], data[_BYTES:]
    if not hmac.compare_digest(signature, _signature(secret, name, image)):
        return None
    try:
        found = pickle.loads(image)  # Signed by this user's irkit.
    except Exception:  # A pickle can raise anything.
        return None
    return found if isinstance(found, Replay) else None


def store_replay(replay: Replay, trace: ScheduleTrace, check: str) -> None:
    """Keep a legal replay for later processes; it is no error if that fails."""
    folder = _folder()
    if folder is None:
        return
    try:
        image = pickle.dumps(replay, protocol=5)
    except (RecursionError, pickle.PicklingError, TypeError, AttributeError):
        return  # Nested too deep, or with parts that the user defined inside a function.
    secret = _secret(folder)
    if secret is None or len(image) > MOST_BYTES:
        return
    name = _name(replay.start, trace, check)
    _make_room(folder)
    _write(folder / name, _signature(secret, name, image) + image)


def _folder() -> Path | None:
    """Return the folder, created if necessary; None if it is not the user's alone."""
    caches = cache_folder()
    if caches is None or not hasattr(os, "getuid") or _sources() is None:
        return None
    folder = caches / "replays"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    closed = stat.S_ISDIR(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o700
    return folder if closed and found.st_uid == os.getuid() else None


def _private_bytes(path: Path) -> bytes | None:
    """Return the content of a regular file that is the user's and closed to everybody else."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            found = os.fstat(file.fileno())
            private = stat.S_ISREG(found.st_mode) and not found.st_mode & 0o077
            if not private or found.st_uid != os.getuid() or found.st_nlink != 1:
                return None
            return file.read(_BYTES + MOST_BYTES)
    except OSError:
        return None


def _secret(folder: Path) -> bytes | None:
    """Return the secret of a folder, made if there is none."""
    path = folder / _SECRET
    if not path.exists():
        try:
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secrets.token_bytes(_BYTES))
        except OSError:
            return None
    found = _private_bytes(path)
    return found if found is not None and len(found) == _BYTES else None


def _signature(secret: bytes, name: str, image: bytes) -> bytes:
    return hmac.new(secret, name.encode() + b"\n" + image, hashlib.sha256).digest()


def _write(path: Path, data: bytes) -> None:
    """Write a file anew and put it in place of whatever is there, even a link or a pipe."""
    try:
        handle, name = tempfile.mkstemp(prefix=".new", dir=path.parent)
    except OSError:
        return
    try:
        with open(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)


def _make_room(folder: Path) -> None:
    """Delete the older half of the files once there are many."""
    try:
        with os.scandir(folder) as entries:
            files = [each for each in entries if each.name.endswith(".replay")]
        if len(files) >= MOST_FILES:
            oldest = sorted(files, key=lambda each: each.stat().st_mtime_ns)
            for each in oldest[: MOST_FILES // 2]:
                Path(each.path).unlink(missing_ok=True)
    except OSError:
        return


def _name(func: PrimFunc, trace: ScheduleTrace, check: str) -> str:
    known = _sources() or ""
    steps = repr(trace.without_where().steps)
    parts = (known, sys.version, func.name, repr(names_of(func)), script(func), steps, check)
    return _digest(parts) + ".replay"


def _digest(parts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


@cache
def _sources() -> str | None:
    """Return a digest of the version and the sources of irkit as installed; None if it is not in
    files, where nobody can tell one from another."""
    root = Path(__file__).parents[2]
    found: list[str] = []
    try:
        found.append((root / "__init__.py").read_text())  # It has the version.
        for package in ("core", "ir", "schedule", "transform"):
            for path in sorted((root / package).rglob("*.py")):
                state = path.stat()
                found.append(f"{path} {state.st_size} {state.st_mtime_ns}")
    except OSError:
        return None
    return _digest(found) if len(found) > 1 else None
