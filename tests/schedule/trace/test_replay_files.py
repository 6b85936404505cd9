"""What was legal in an earlier process is not checked again; other files are not believed."""

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from irkit.core import IRKitError, same, symbols_bound
from irkit.ir import PrimFunc, parse, verify
from irkit.schedule import Schedule, ScheduleTrace
from irkit.schedule.trace import replay_files
from irkit.schedule.trace.replay_memo import REPLAYS
from irkit.schedule.trace.traced_schedule import TracedSchedule

TEXT = """def f(A: f32[8, 12], B: f32[8, 12]):
    for i in serial(0, 8):
        for j in serial(0, 12):
            with block("b"):
                x = axis.spatial(8, i)
                y = axis.spatial(12, j)
                B[x, y] = A[x, y] + f32(1.0)
"""
ILLEGAL = TEXT.replace("B[x, y] = A[x, y]", "B[x, 0] = A[x, y]")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of this test."""
    monkeypatch.setenv("IRKIT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("IRKIT_CACHE", "1")
    REPLAYS.clear()
    yield tmp_path / "cache" / "replays"
    REPLAYS.clear()


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the primitives that ran, with their checks."""
    names: list[str] = []
    change: Any = TracedSchedule.__dict__["_change"]

    def noted(self: TracedSchedule, method: Any, args: Any, kwargs: Any) -> Any:
        names.append(method.__name__)
        return change(self, method, args, kwargs)

    monkeypatch.setattr(TracedSchedule, "_change", noted)
    return names


def trace_by(factor: int) -> ScheduleTrace:
    sch = Schedule(parse(TEXT))
    i, j = sch.get_loops(sch.get_block("b"))
    sch.split(i, [None, factor])
    sch.parallel(j)
    return sch.trace


TRACE = trace_by(4)


def anew(func: PrimFunc, trace: ScheduleTrace = TRACE) -> Schedule:
    """Replay a trace as a process does that starts now."""
    REPLAYS.clear()
    sch = Schedule(func)
    sch.replay(trace)
    return sch


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.replay"))


def test_a_later_process_runs_no_primitive_and_gives_the_same(folder: Path, ran: list[str]) -> None:
    first = anew(parse(TEXT))
    assert ran
    ran.clear()
    start = parse(TEXT)
    second = anew(start)
    assert ran == []
    assert same(first.func, second.func)
    assert second.func.script() == first.func.script()
    assert not verify(second.func)
    assert second.func.params == start.params
    assert not {*symbols_bound(first.func)} & {*symbols_bound(second.func)}
    assert second.trace.without_where() == first.trace.without_where()
    for sch in (first, second):  # Both go on, with the same names in the trace.
        sch.unroll(sch.get_loops(sch.get_block("b"))[1])
    assert second.trace.without_where() == first.trace.without_where()
    assert [path.stat().st_mode & 0o777 for path in (folder, *files(folder))] == [0o700, 0o600]


def test_another_process_finds_it(folder: Path) -> None:
    anew(parse(TEXT))
    (path,) = files(folder)
    code = (
        "import irkit, sys\n"
        "from irkit.schedule import Schedule\n"
        "from irkit.schedule.trace.replay_files import stored_replay\n"
        "from tests.schedule.trace.test_replay_files import TEXT, TRACE\n"
        "print(stored_replay(irkit.ir.parse(TEXT), TRACE, 'verify') is not None)\n"
    )
    env = {**os.environ, "PYTHONHASHSEED": "12"}
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "True\n", done.stderr
    assert files(folder) == [path]


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("8", "16"),
        TEXT.replace("def f", "def g"),
        TEXT.replace("A", "other"),
        TEXT.replace("def f", "@attrs(reassoc=True)\ndef f"),
        TEXT.replace("serial(0, 8)", "parallel(0, 8)"),
        TEXT.replace("A[x, y]", "A[x, 11 - y]"),
    ],
)
def test_another_function_runs_all_checks(text: str, ran: list[str]) -> None:
    anew(parse(TEXT))
    ran.clear()
    with suppress(IRKitError):
        anew(parse(text))
    assert ran


def test_another_decision_runs_all_checks(ran: list[str]) -> None:
    anew(parse(TEXT))
    other = trace_by(2)
    ran.clear()
    anew(parse(TEXT), other)
    assert ran


def test_an_illegal_replay_is_refused_each_time_and_not_kept(folder: Path) -> None:
    anew(parse(TEXT))
    for _ in range(2):
        with pytest.raises(IRKitError):
            anew(parse(ILLEGAL))
    assert len(files(folder)) == 1


def test_other_sources_of_irkit_run_all_checks(
    ran: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    anew(parse(TEXT))
    ran.clear()
    monkeypatch.setattr(replay_files, "own_sources", lambda: "other")
    anew(parse(TEXT))
    assert ran


class Hostile:
    """Creates a file where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def signed_elsewhere(folder: Path, path: Path) -> None:
    """Put the file that another user's irkit wrote for the very same replay there."""
    shutil.copytree(folder, folder.parent / "kept")
    shutil.rmtree(folder)
    anew(parse(TEXT))
    shutil.copyfile(folder.parent / "kept" / path.name, path)


def named_as_another(folder: Path, path: Path) -> None:
    anew(parse(TEXT), trace_by(2))
    (other,) = [each for each in files(folder) if each != path]
    other.replace(path)


DAMAGE: dict[str, Callable[[Path, Path], object]] = {
    "empty": lambda folder, path: path.write_bytes(b""),
    "cut": lambda folder, path: path.write_bytes(path.read_bytes()[:-1]),
    "longer": lambda folder, path: path.write_bytes(path.read_bytes() + b"."),
    "first byte": lambda folder, path: path.write_bytes(b"?" + path.read_bytes()[1:]),
    "last byte": lambda folder, path: path.write_bytes(path.read_bytes()[:-1] + b"?"),
    "no signature": lambda folder, path: path.write_bytes(path.read_bytes()[32:]),
    "folder in its place": lambda folder, path: (path.unlink(), path.mkdir()),
    "pipe in its place": lambda folder, path: (path.unlink(), os.mkfifo(path, 0o600)),
    "a link": lambda folder, path: path.symlink_to(path.rename(folder / "moved")),
    "two names": lambda folder, path: (folder / "second").hardlink_to(path),
    "readable by others": lambda folder, path: path.chmod(0o644),
    "open folder": lambda folder, path: folder.chmod(0o755),
    "linked folder": lambda folder, path: folder.symlink_to(folder.rename(folder.parent / "x")),
    "no secret": lambda folder, path: (folder / "secret").unlink(),
    "short secret": lambda folder, path: (folder / "secret").write_bytes(b"secret"),
    "secret of others": lambda folder, path: (folder / "secret").chmod(0o644),
    "signed elsewhere": signed_elsewhere,
    "named as another": named_as_another,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_cannot_be_believed_counts_as_missing(
    damage: str, folder: Path, ran: list[str]
) -> None:
    first = anew(parse(TEXT))
    (path,) = files(folder)
    DAMAGE[damage](folder, path)
    ran.clear()
    again = anew(parse(TEXT))
    assert ran, f"believed although: {damage}"
    assert same(first.func, again.func)


@pytest.mark.skipif(
    not hasattr(os, "getuid") or os.getuid() != 0, reason="needs to give files away"
)
def test_a_file_of_another_user_counts_as_missing(folder: Path, ran: list[str]) -> None:
    anew(parse(TEXT))
    for path in (*files(folder), folder):
        os.chown(path, 12345, -1)
        ran.clear()
        anew(parse(TEXT))
        assert ran
        os.chown(path, os.getuid(), -1)


def test_nothing_unsigned_is_decoded(folder: Path) -> None:
    anew(parse(TEXT))
    (path,) = files(folder)
    mark = folder.parent / "mark"
    image = pickle.dumps(Hostile(mark))
    for data in (image, bytes(32) + image, path.read_bytes()[:32] + image):
        path.write_bytes(data)
        anew(parse(TEXT))
        assert not mark.exists()


def test_the_switch_turns_the_files_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IRKIT_CACHE", "0")
    anew(parse(TEXT))
    assert not folder.exists()


def test_the_older_half_goes_once_there_are_many(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_files.FILES, "most_files", 4)
    for number in range(5):
        anew(parse(TEXT.replace("def f", f"def f{number}")))
    assert len(files(folder)) == 3
