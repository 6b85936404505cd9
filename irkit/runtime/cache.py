"""Cache of files on disk, named by what they are made from: object files by their LLVM IR, others
by the keys of those who store them.

The folder is ``IRKIT_CACHE_DIR``, or ``irkit`` in the user's cache folder; ``IRKIT_CACHE=0`` turns
the cache off. Its files are executed, so they are trusted like an installed package: only the owner
can read the folder, and a folder that others can write to is not used. A damaged file counts as
missing. Where all files have more than ``IRKIT_CACHE_BYTES`` (2 GiB by default), those that were
not used for the longest time go.
"""

import hashlib
import os
import tempfile
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

from irkit.codegen import EMITTER_VERSION, compile_object, complete_target, llvm_binding
from irkit.core import IRKitError, Target, cache_folder

_MAGIC = b"irkit object 1\n"
_DIGEST = 32
_MOST_BYTES = 2 << 30
SIZE_VARIABLE = "IRKIT_CACHE_BYTES"
SUFFIXES = (".o", ".kernel", ".model")
"""The ends of names of files that may be removed: object files, kernels and whole models."""


def object_for(llvm_text: str, target: Target, *, unroll: bool = True) -> bytes:
    """Return the object file of LLVM IR text, from the cache if possible.

    ``unroll`` is that of :func:`irkit.codegen.compile_object`.
    """
    folder = cache_folder()
    if folder is None:
        return compile_object(llvm_text, target, unroll=unroll)
    name = _name(llvm_text, complete_target(target), unroll)
    found = read_cached(name)
    if found is None:
        found = compile_object(llvm_text, target, unroll=unroll)
        write_cached(name, found)
    return found


def read_cached(name: str) -> bytes | None:
    """Return what was stored under a name; None if nothing was, if it is damaged, or if there is no
    cache."""
    folder = cache_folder()
    return None if folder is None else _read(folder / name)


def write_cached(name: str, data: bytes) -> None:
    """Store data under a name, unless there is no cache, or the disk is full."""
    folder = cache_folder()
    if folder is not None:
        _write(folder / name, data)
        _BOUND.written(folder, len(data))


def cached_file(name: str) -> Path | None:
    """Return a file of the cache that others write and read, if it is there; it is used now, so it
    is not the first to go."""
    folder = cache_folder()
    if folder is None:
        return None
    path = folder / name
    try:
        os.utime(path)
    except OSError:
        return None
    return path


def stored_file(path: Path) -> None:
    """Count a file that was written to the cache."""
    _BOUND.written(path.parent, path.stat().st_size)


def most_cached_bytes() -> int:
    """Return the bytes that the files of the cache may have together.

    Raises: IRKitError if ``IRKIT_CACHE_BYTES`` is no number.
    """
    given = os.environ.get(SIZE_VARIABLE, "").strip()
    if not given:
        return _MOST_BYTES
    if not given.isdecimal():
        raise IRKitError(f"{SIZE_VARIABLE} is {given!r}; expected a number of bytes")
    return int(given)


@cache
def producer() -> bytes:
    """Return the versions of all that makes object files from LLVM IR."""
    wheel = version("llvmlite")
    return f"{EMITTER_VERSION} {wheel} {llvm_binding.llvm_version_info}".encode()


class _SizeBound:
    """What was written since the sizes of all files were added up; files of other processes count
    when they next are."""

    def __init__(self) -> None:
        self.unseen: dict[Path, int] = {}

    def written(self, folder: Path, size: int) -> None:
        """Count what was written; at times, remove what has not been used for long."""
        most = most_cached_bytes()
        first = folder not in self.unseen
        self.unseen[folder] = self.unseen.get(folder, 0) + size
        if first or self.unseen[folder] > most // 8:
            self.unseen[folder] = 0
            _remove_old(folder, most)


_BOUND = _SizeBound()


def _remove_old(folder: Path, most: int) -> None:
    found: list[tuple[float, int, str]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(SUFFIXES) and entry.is_file(follow_symlinks=False):
                state = entry.stat()
                found.append((state.st_mtime, state.st_size, entry.path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found) if total > most else ():
        with suppress(OSError):
            os.unlink(path)
        total -= size
        if total <= most - most // 4:  # Not again at the next file.
            return


def _name(llvm_text: str, target: Target, unroll: bool) -> str:
    level = str(target.opt_level) + ("" if unroll else " without unrolling")
    parts = [target.triple, target.cpu, ",".join(target.features), level, llvm_text]
    digest = hashlib.sha256(producer())
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest() + ".o"


def _read(path: Path) -> bytes | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    start = len(_MAGIC) + _DIGEST
    image = data[start:]
    if data[:start] != _MAGIC + hashlib.sha256(image).digest():
        return None
    with suppress(OSError):
        os.utime(path)  # Used now, so it is not the first to go.
    return image


def _write(path: Path, image: bytes) -> None:
    """Write to a temporary file and rename it, so that no reader sees half a file.

    A full disk is not an error.
    """
    try:
        handle, name = tempfile.mkstemp(prefix=".new", dir=path.parent)
    except OSError:
        return
    try:
        with open(handle, "wb") as file:
            file.write(_MAGIC + hashlib.sha256(image).digest() + image)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
