"""Temporary folders go with their owners, however the process ends."""

import gc
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from irkit.inspector_web.load import Inspection
from irkit.inspector_web.record import tempdirs as under_test
from irkit.inspector_web.record.tempdirs import PREFIX, make_tempdir, remove_stale

HOLD = """
import sys, time
from irkit.inspector_web.record.tempdirs import make_tempdir
owner = type("Owner", (), {})()
print(make_tempdir(owner, "opened"), flush=True)
sys.stdin.read()
"""


class Owner:
    """Whom a folder is for."""


def holder(temp: Path) -> "subprocess.Popen[str]":
    """Start a process that holds a folder until its input ends."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temp), "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_a_folder_is_removed_with_its_owner() -> None:
    owner = Owner()
    folder = make_tempdir(owner, "opened")
    (folder / "file").write_text("x")
    del owner
    gc.collect()
    assert not folder.exists()


def test_an_inspection_that_nobody_closed_leaves_nothing() -> None:
    folder = Path(Inspection(["nothing.trace"])._folder)  # pyright: ignore[reportPrivateUsage]
    gc.collect()
    assert not folder.exists()


def test_a_process_that_ends_removes_its_folder_and_one_that_is_killed_leaves_it(
    tmp_path: Path,
) -> None:
    ended, killed = holder(tmp_path), holder(tmp_path)
    assert ended.stdout is not None
    assert killed.stdout is not None
    try:
        folders = [Path(each.stdout.readline().strip()) for each in (ended, killed) if each.stdout]
        assert all(folder.is_dir() for folder in folders)
        remove_stale(tmp_path)
        assert all(folder.is_dir() for folder in folders), "they are in use"
        killed.send_signal(signal.SIGKILL)
        ended.communicate("")
        killed.communicate()
        assert not folders[0].parent.exists()
        assert folders[1].is_dir()
        remove_stale(tmp_path)
        assert not list(tmp_path.iterdir())
    finally:
        for each in (ended, killed):
            each.kill()


def test_new_folders_links_and_other_names_are_left_alone(tmp_path: Path) -> None:
    new, old, other = (tmp_path / each for each in (f"{PREFIX}new", f"{PREFIX}old", "irkit-other"))
    for folder in (new, old, other):
        folder.mkdir()
    (tmp_path / f"{PREFIX}link").symlink_to(other)
    long_ago = time.time() - 10_000
    for folder in (old, other):
        os.utime(folder, (long_ago, long_ago))
    remove_stale(tmp_path)
    left = {each.name for each in tmp_path.iterdir()}
    assert left == {f"{PREFIX}new", f"{PREFIX}link", "irkit-other"}


def test_a_removed_parent_folder_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    under_test._home.cache_clear()  # pyright: ignore[reportPrivateUsage]
    owner = Owner()
    first = make_tempdir(owner, "a")
    assert first.is_relative_to(tmp_path)
    os.rename(first.parent, tmp_path / "away")
    assert make_tempdir(owner, "b").is_dir()
    under_test._home.cache_clear()  # pyright: ignore[reportPrivateUsage]
