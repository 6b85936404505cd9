"""The command called in this process, as from a shell."""

import sys
from pathlib import Path

import msgspec
import pytest

from irkit.cli.verbs import main


class CommandResult(msgspec.Struct):
    """Exit code and output of a call."""

    code: int
    out: str
    err: str


class Shell:
    """Runs ``irkit`` in a folder and captures its output."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder, self.monkeypatch, self.capsys = folder, monkeypatch, capsys

    def __call__(self, *args: str) -> CommandResult:
        self.monkeypatch.setattr(sys, "argv", ["irkit", *args])
        self.capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        printed = self.capsys.readouterr()
        return CommandResult(code, printed.out, printed.err)

    def write(self, name: str, text: str) -> str:
        """Write a file into the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return name
