"""The command called in this process, as from a shell."""

from pathlib import Path

import msgspec
import pytest

from tests.cli.command import call


class CommandResult(msgspec.Struct):
    """Exit code and output of a call."""

    code: int
    out: str
    err: str


class Shell:
    """Runs ``irkit`` in a folder and captures its output."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.capsys = folder, capsys

    def __call__(self, *args: str) -> CommandResult:
        self.capsys.readouterr()
        return CommandResult(*call(self.capsys, *args))

    def write(self, name: str, text: str) -> str:
        """Write a file into the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return name
