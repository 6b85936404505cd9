"""``irkit check --target A --target B``, as a user calls it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from irkit.cli.checks import target_check
from irkit.core import Target, rewrite, substitute, walk
from irkit.ir import Allocate, Const, PrimFunc
from tests.cli.command import call
from tests.runtime.device.test_opencl import needs_opencl

KERNEL = """\
def scale(A: f32[n, 4], C: f32[n, 4]):
    for i in serial(0, n):
        for j in serial(0, 4):
            C[i, j] = A[i, j] * f32(2.0)
"""
TWO = ("--target", "interpreter", "--target", "host")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "scale.irs").write_text(KERNEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def plant(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plant a bug: the legalisation of a target turns 2 into 3."""

    def three(node: Const) -> Const | None:
        return node.replace(value=3.0) if node.value == 2.0 else None

    def wrong(func: PrimFunc, target: Target) -> PrimFunc:
        return rewrite(func, three, on=Const)

    monkeypatch.setattr(target_check, "_legalised", wrong)


REVERSED = """\
def reversed(A: f32[4, 8], C: f32[4, 8]):
    for b in thread(0, 4, "blockIdx.x"):
        T = alloc(f32[8])
        for t in thread(0, 8, "threadIdx.x"):
            T[t] = A[b, t]
        for u in thread(0, 8, "threadIdx.x"):
            C[b, u] = T[7 - u]
"""


@needs_opencl
def test_a_program_with_loops_over_threads_is_compared_on_a_device(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "reversed.irs").write_text(REVERSED)
    arguments = ("check", "reversed.irs", "--target", "host", "--target", "opencl", "--samples=1")
    code, out, _ = call(capsys, *arguments, "--no-contract")
    assert (code, "same" in out) == (0, True)

    def wrong(func: PrimFunc, target: Target) -> PrimFunc:
        if target.device is None:
            return func
        (home,) = walk(func.body, Allocate)
        return substitute(func, {home.buffer: home.buffer.replace(scope="local").copy()})

    monkeypatch.setattr(target_check, "_legalised", wrong)
    code, out, _ = call(capsys, *arguments, "--no-contract")
    assert (code, "differs" in out) == (1, True)


def test_targets_that_agree_have_exit_code_0(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(capsys, "check", "scale.irs", *TWO, "--no-contract")
    assert code == 0
    assert "interpreter, host" in out
    assert "same" in out
    assert "differs" not in out


def test_the_line_of_a_planted_bug_is_printed(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    code, out, _ = call(capsys, "check", "scale.irs", *TWO, "--samples", "1", "--dim", "n=2")
    assert code == 1
    assert "the interpreter gives what interpreter gives" in out
    assert "scale.irs:4" in out
    assert "C_flat" in out
    assert "by interpreter" in out
    code, out, _ = call(capsys, "check", "scale.irs", *TWO, "--json", "--schedule", "none")
    found = json.loads(out)
    (made,) = found["targets"]
    assert (code, found["ok"], made["status"], made["right"]) == (
        1,
        False,
        "differs",
        "interpreter",
    )
    assert made["line"]["written"] == "scale.irs:4"


def test_kernels_of_a_model_run_on_its_data(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "model.irs").write_text(
        "def main(x: f32[4, 8], w: f32[8, 3]):\n    y = matmul(x, w)\n"
        "    z = relu(y)\n    return z\n"
    )
    code, out, err = call(capsys, "check", "model.irs", *TWO)
    assert code == 0, out + err
    assert "matmul" in out
    assert "1 inputs" in out


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--target", "host"), "two different targets"),
        (("--target", "host", "--target", "host"), "two different targets"),
        (("--no-contract",), "--no-contract is for --target"),
        (("--target", "host", "--target", "apple-m2"), "nothing on this machine runs"),
        (("--target", "host", "--target", "c@no-cc"), "apt install no-cc"),
    ],
)
def test_mistakes_say_what_to_write(
    folder: Path, capsys: pytest.CaptureFixture[str], args: Any, said: str
) -> None:
    code, out, err = call(capsys, "check", "scale.irs", *args)
    assert code != 0
    assert said in out + err


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler: apt install gcc")
def test_c_agrees_bit_for_bit_without_contraction(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = ("--target", "host", "--target", "c", "--no-contract")
    code, out, _ = call(capsys, "check", "scale.irs", *both)
    assert code == 0
    assert "rounds" not in out
