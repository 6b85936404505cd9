"""Write files whole or not at all."""

import errno
import os
import secrets
import shutil
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
