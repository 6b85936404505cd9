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
    """Give a path to write to, which takes the place of ``path`` when the block ends well.

    Whatever stops the block leaves the old file, and no new one beside it. Raises: OSError, at
    the beginning, if there is no such folder or nothing may be written there.
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
    """Write to what must not be replaced by a file: a device or a pipe."""
    with source.open("rb") as made, device.open("wb") as file:
        shutil.copyfileobj(made, file)
