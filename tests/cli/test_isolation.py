"""A pass that takes its process down is named, whichever process that is."""

import os
import sys
from pathlib import Path

import pytest

from irkit.debug import replay
from tests.cli.command import ROOT, shell
from tests.draws import sampled

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="passes of users run isolated")

KERNEL = """\
def double(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        C[i] = A[i] + A[i]
"""
PASSES = """\
import ctypes
import os

from irkit.ir import PrimFunc
from irkit.transform import define_pass


@define_pass
def crash(func: PrimFunc) -> PrimFunc:
    ctypes.string_at(0)
    return func


@define_pass
def leave(func: PrimFunc) -> PrimFunc:
    os._exit(3)


@define_pass
def tell(func: PrimFunc) -> PrimFunc:
    with open("processes", "a") as file:
        file.write(f"{os.getpid()} {os.getppid()}\\n")
    return func


def _closure():
    @define_pass
    def unnamed(func: PrimFunc) -> PrimFunc:
        return tell(func)

    return unnamed


unnamed = _closure()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "kernel.irs").write_text(KERNEL)
    (tmp_path / "passes_that_end.py").write_text(PASSES)
    return tmp_path


@pytest.mark.parametrize(
    ("verb", "name", "end"),
    sampled(
        [
            (verb, *how)
            for how in (("crash", "with SIGSEGV"), ("leave", "exit code 3"))
            for verb in ("check", "bisect", "reduce")
        ],
        every=2,
    ),
)
def test_a_pass_of_a_users_runs_in_another_process(
    folder: Path, verb: str, name: str, end: str
) -> None:
    done = shell(verb, "kernel.irs", "--pass", f"2:passes_that_end:{name}")
    assert done.returncode == (verb != "reduce")
    said = done.stdout + done.stderr
    assert f"'{name}' on 'double': failed" in said
    assert end in said
    if verb != "reduce":
        (crash,) = folder.glob("irkit-crash-*")
        assert str(crash.name) in said
        assert replay(crash).outcome == "same"


@pytest.mark.parametrize(
    ("name", "verb"),
    sampled(
        [
            (name, verb)
            for name in ("crash", "leave")
            for verb in (("check", "--no-isolate"), ("bisect", "--no-isolate"), ("opt",))
        ],
        every=2,
    ),
)
def test_one_that_ends_this_process_is_named_all_the_same(
    folder: Path, verb: tuple[str, ...], name: str
) -> None:
    done = shell(*verb, "kernel.irs", "--pass", f"2:passes_that_end:{name}")
    assert done.returncode == (-11 if name == "crash" else 3)
    assert f"pass '{name}' on function 'double'" in done.stderr
    assert ("SIGSEGV" in done.stderr) == (name == "crash")
    (crash,) = folder.glob("irkit-crash-*")
    assert f"irkit replay {crash.name}" in done.stderr
    text = (crash / "before.irs").read_text()
    assert "def double" in text
    assert replay(crash).outcome == ("same" if name == "crash" else "different")


@pytest.mark.long
def test_passes_of_a_users_share_one_process_that_is_not_this_one(folder: Path) -> None:
    passes = (
        "--pass",
        "1:passes_that_end:tell",
        "--pass",
        "2:passes_that_end:tell",
        "--pass",
        "3:passes_that_end:tell",
    )
    found: dict[str, list[str]] = {}
    for more in ("--isolate", "", "--no-isolate"):
        (folder / "processes").unlink(missing_ok=True)
        done = shell("check", "kernel.irs", *passes, *filter(None, [more]))
        assert done.returncode == 0, done.stderr
        found[more] = (folder / "processes").read_text().splitlines()
    assert {len(lines) for lines in found.values()} == {3}
    assert {len(set(lines)) for lines in found.values()} == {1}
    parents = {more: int(lines[0].split()[1]) for more, lines in found.items()}
    assert [parents[more] == os.getpid() for more in ("--isolate", "", "--no-isolate")] == [
        False,
        False,
        True,
    ]


def test_the_row_of_a_pass_that_could_not_be_isolated_says_so(folder: Path) -> None:
    done = shell("check", "kernel.irs", "--pass", "2:passes_that_end:unnamed", "--all")
    (row,) = [line for line in done.stdout.splitlines() if "unnamed" in line]
    assert "ran in this process" in row
