"""Files are written completely or not at all."""

import os
from pathlib import Path

import pytest

from irkit.core import atomic_write


def test_the_new_file_takes_the_place_of_the_old_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with atomic_write(path) as made:
        made.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("stop", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_whatever_stops_the_block_leaves_the_old_file(
    stop: type[BaseException], tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def stopped() -> None:
        with atomic_write(path) as made:
            made.write_text("new")
            raise stop

    with pytest.raises(stop):
        stopped()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_what_cannot_be_written_is_found_before_the_block_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "none" / "file", tmp_path / "file" / "below", tmp_path):
        with pytest.raises(OSError, match=str(path)) as caught, atomic_write(path):
            raise AssertionError("the block ran")
        assert caught.value.filename == str(path)


def test_a_name_as_long_as_names_may_be_is_fine(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    with atomic_write(path) as made:
        made.write_text("new")
    assert path.read_text() == "new"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    read, write = os.pipe()
    with atomic_write(f"/dev/fd/{write}") as made:
        made.write_text("through the pipe")
    os.close(write)
    with os.fdopen(read) as pipe:
        assert pipe.read() == "through the pipe"
