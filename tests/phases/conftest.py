"""A shell in a folder of its own, from which passes of the user's own can be imported."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.phases.command import Shell


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Shell]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("COLUMNS", "200")
    before = set(sys.modules)
    yield Shell(tmp_path, monkeypatch, capsys)
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
