"""Write files whole or not at all; the folder of caches."""

import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Generator[Path]:
    """Yield a temporary path that replaces ``path`` when the block ends without an exception.

    Otherwise the old file stays and nothing is left beside it. Raises: OSError, on entry, if the
    folder does not exist or cannot be written to.
    """
    given = Path(path)
    if given.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    special = given.exists() and not given.is_file()
    final = given if special else Path(os.path.realpath(path))
    folder = Path(tempfile.gettempdir()) if special else final.parent
    partial = folder / f".{secrets.token_hex(8)}.partial"
    try:
        partial.touch(exist_ok=False)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    try:
        yield partial
        if special:
            _pour(partial, final)
        else:
            partial.replace(final)
    finally:
        partial.unlink(missing_ok=True)


def _pour(source: Path, device: Path) -> None:
    """Copy to a device or a pipe, which must not be replaced by a file."""
    with source.open("rb") as made, device.open("wb") as file:
        shutil.copyfileobj(made, file)


def cache_folder() -> Path | None:
    """Return the folder of caches, created if necessary; None if caching is off or others can
    write to the folder.

    It is ``IRKIT_CACHE_DIR``, or ``irkit`` in the user's cache folder; ``IRKIT_CACHE=0`` turns
    caching off, and ``IRKIT_CACHE=memory`` that on disk.
    """
    environment = os.environ
    if environment.get("IRKIT_CACHE") in ("0", "memory"):
        return None
    given = environment.get("IRKIT_CACHE_DIR")
    if given:
        return _usable(Path(given))
    root = environment.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return _usable(Path(root) / "irkit")


def _usable(folder: Path) -> Path | None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except OSError:
        return None
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o022):
        return None
    return folder if stat.S_ISDIR(found.st_mode) else None
