"""Files that verbs read and write: their kinds, text, and modules beside them."""

import sys
from pathlib import Path

import click

from irkit.core import IRKitError

FILE = click.Path(exists=True, dir_okay=False)
FILE_OR_FOLDER = click.Path(exists=True)
NEW_FILE = click.Path(dir_okay=False)
NEW_FOLDER = click.Path(file_okay=False)


MAX_TEXT_BYTES = 64 << 20
"""Of IR text: a larger file is not what a person wrote or a pass printed. Units: bytes."""


def add_current_directory() -> None:
    """Make modules in the current directory importable, as ``python -m`` does."""
    if "" not in sys.path:
        sys.path.insert(0, "")


def read_text(file: str) -> tuple[str, str]:
    """Read text from a file, or from standard input if that is ``-``; return it with its title.

    Raises: IRKitError if it is not UTF-8, or too large.
    """
    title = "<stdin>" if file == "-" else file
    if file == "-":
        data = sys.stdin.buffer.read(MAX_TEXT_BYTES + 1)
    else:
        with Path(file).open("rb") as opened:
            data = opened.read(MAX_TEXT_BYTES + 1)
    if len(data) > MAX_TEXT_BYTES:
        raise IRKitError(f"{title} has more than {MAX_TEXT_BYTES >> 20} MiB of text")
    try:
        return data.decode(), title
    except UnicodeDecodeError as error:
        raise IRKitError(f"{title} is not text: {error}", hint="IR text is UTF-8.") from None
