"""Files that verbs read and write: their kinds, and IR text as a module."""

import sys
from pathlib import Path

import click

from irkit.core import IRKitError, IRModule
from irkit.graph import parse_module

FILE = click.Path(exists=True, dir_okay=False)
NEW_FILE = click.Path(dir_okay=False)
NEW_FOLDER = click.Path(file_okay=False)


def read_module(file: str) -> IRModule:
    """Read IR text from a file, or from standard input if that is ``-``."""
    title = "<stdin>" if file == "-" else file
    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise IRKitError(f"{title} is not text: {error}", hint="IR text is UTF-8.") from None
    return parse_module(text, file=title)
