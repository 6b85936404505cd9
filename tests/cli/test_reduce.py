"""``irkit reduce``, as a user calls it."""

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import irkit
from irkit.ir import parse
from irkit.phases import pipeline_for
from tests.cli.shell import Shell

KERNEL = """\
def copy(A: f32[n, 4], C: f32[n, 4]):
    for i in serial(0, n):
        for j in serial(0, 4):
            C[i, j] = A[i, j]


def scale(A: f32[n, 4], C: f32[n, 4]):
    for i in serial(0, n):
        for j in serial(0, 4):
            C[i, j] = A[i, j] * f32(2.0) + A[i, 0]
"""
PASS = '''\
from irkit.core import rewrite
from irkit.ir import Mul, PrimFunc
from irkit.transform import define_pass


@define_pass
def lose(func: PrimFunc, *, mended: bool = False) -> PrimFunc:
    """Lose the second factor."""
    return func if mended else rewrite(func, lambda e: e.a if e.dtype.is_float else None, on=Mul)
'''
RAISING = '''\
from irkit.core import walk
from irkit.ir import Mul, PrimFunc
from irkit.transform import define_pass


@define_pass
def fail(func: PrimFunc) -> PrimFunc:
    """Raise at a product of floats."""
    for node in walk(func, Mul):
        if node.dtype.is_float:
            raise KeyError("product")
    return func


@define_pass
def hang(func: PrimFunc) -> PrimFunc:
    """Run forever at a product of floats."""
    while any(node.dtype.is_float for node in walk(func, Mul)):
        pass
    return func
'''
PLACED = "2:lose_in_a_test:lose"


@pytest.fixture
def folder(shell: Shell) -> Shell:
    shell.write("kernel.irs", KERNEL)
    shell.write("lose_in_a_test.py", PASS)
    return shell


def test_a_folder_holds_the_smallest_case_and_a_test_that_fails(folder: Shell) -> None:
    done = folder("reduce", "kernel.irs", "--pass", PLACED, "-o", "small")
    assert done.code == 0, done.err
    assert "'lose' on 'scale': differs" in done.out
    assert "before: " in done.out
    assert "after:  6 nodes on 2 lines, 1 passes, 1 input elements" in done.out
    assert "Run it with: python -m pytest small/test_reduced.py" in done.out
    small = folder.folder / "small"
    assert {path.name for path in small.iterdir()} == {
        "reduced.irs",
        "pipeline.txt",
        "inputs.npz",
        "test_reduced.py",
    }
    func = parse((small / "reduced.irs").read_text())
    assert pipeline_for((small / "pipeline.txt").read_text(), func).names == ("lose",)
    assert list(np.load(small / "inputs.npz")) == ["C"]


def test_the_test_fails_in_a_process_of_its_own_until_the_pass_is_fixed(folder: Shell) -> None:
    folder("reduce", "kernel.irs", "--pass", PLACED)
    environment = {"PYTHONPATH": str(Path(irkit.__file__).parent.parent)}
    call = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    first = subprocess.run(
        [*call, "reduced/test_reduced.py"],
        capture_output=True,
        env=environment,
        text=True,
        check=False,
    )
    assert first.returncode == 1
    assert "phase 2: 'lose' on 'scale': differs" in first.stdout
    folder.write("lose_in_a_test.py", PASS.replace("mended: bool = False", "mended: bool = True"))
    del sys.modules["lose_in_a_test"]
    runpy.run_path("reduced/test_reduced.py")["test_lose_keeps_the_meaning_of_scale"]()


def test_the_files_of_a_reduced_case_can_be_reduced_again(folder: Shell) -> None:
    folder("reduce", "kernel.irs", "--pass", PLACED)
    text = (folder.folder / "reduced/pipeline.txt").read_text()
    options = ("--pipeline", text, "--inputs", "reduced/inputs.npz", "-o", "again")
    done = folder("reduce", "reduced/reduced.irs", *options)
    assert done.code == 0, done.err
    for name in ("reduced.irs", "pipeline.txt", "test_reduced.py"):
        first, second = (folder.folder / each / name for each in ("reduced", "again"))
        assert first.read_text() == second.read_text()


def test_a_case_that_does_not_fail_is_refused_and_nothing_is_written(folder: Shell) -> None:
    done = folder("reduce", "kernel.irs", "-o", "small")
    assert done.code == 2
    assert "nothing to reduce: every step keeps the meaning of 'copy', 'scale'" in done.err
    assert not (folder.folder / "small").exists()


def test_one_function_can_be_chosen(folder: Shell) -> None:
    done = folder("reduce", "kernel.irs", "--pass", PLACED, "--function", "copy")
    assert done.code == 2
    assert "every step keeps the meaning of 'copy'\n" in done.err
    assert "no function 'nowhere'" in folder("reduce", "kernel.irs", "--function", "nowhere").err


def test_a_pipeline_and_places_in_another_exclude_each_other(folder: Shell) -> None:
    done = folder("reduce", "kernel.irs", "--pass", PLACED, "--pipeline", "1:simplify")
    assert done.code == 2
    assert "--pipeline names all passes" in done.err


def test_a_crash_folder_can_be_reduced(folder: Shell) -> None:
    folder.write("raise_in_a_test.py", RAISING)
    folder("opt", "kernel.irs", "--pass", "3:raise_in_a_test:fail")
    (crash,) = folder.folder.glob("irkit-crash-*")
    done = folder("reduce", crash.name)
    assert done.code == 0, done.err
    assert "KeyError" in done.out
    assert "after:  6 nodes on 2 lines, 1 passes" in done.out
    (test,) = _tests("reduced/test_reduced.py")
    with pytest.raises(AssertionError, match="KeyError"):
        test()


@pytest.mark.long
def test_a_pass_that_never_ends_is_reduced_under_a_time_limit(folder: Shell) -> None:
    folder.write("raise_in_a_test.py", RAISING)
    placed = ("--pass", "3:raise_in_a_test:hang")
    done = folder("reduce", "kernel.irs", *placed, "--pass-timeout", "0.1", "--seconds", "20")
    assert done.code == 0, done.err
    assert "did not end within 0.1 s" in done.out
    assert "2 lines, 1 passes" in done.out
    (test,) = _tests("reduced/test_reduced.py")
    with pytest.raises(AssertionError, match="did not end"):
        test()


def _tests(path: str) -> list[Any]:
    return [each for name, each in runpy.run_path(path).items() if name.startswith("test_")]
