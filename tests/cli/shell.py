"""Call the command in this process, as a shell would."""

import sys
from pathlib import Path

import msgspec
import pytest

from irkit.cli.verbs import main


class Done(msgspec.Struct):
    """What a call left behind."""

    code: int
    out: str
    err: str


class Shell:
    """Run ``irkit`` in a folder and catch what it prints."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.folder, self.monkeypatch, self.capsys = folder, monkeypatch, capsys

    def __call__(self, *args: str) -> Done:
        self.monkeypatch.setattr(sys, "argv", ["irkit", *args])
        self.capsys.readouterr()
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        printed = self.capsys.readouterr()
        return Done(code, printed.out, printed.err)

    def write(self, name: str, text: str) -> str:
        """Write a file into the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return name
