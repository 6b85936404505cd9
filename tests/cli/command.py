"""Runs of the command, in this process and in its own, and files for them."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import irkit
from irkit.cli import verbs

ROOT = Path(irkit.__file__).parent.parent
LOOPS = """\
def add(A: f32[16], B: f32[16], C: f32[16]):
    for i in serial(0, 16):
        with block("C"):
            v = axis.spatial(16, i)
            C[v] = A[v] + B[v]
"""
PASSES = """\
from irkit.ir import PrimFunc
from irkit.transform import define_pass


@define_pass
def stamp(func: PrimFunc, *, number: int = 0, word: str = "") -> PrimFunc:
    return func.replace(attrs=(*func.attrs, (f"stamp_{number}", word or number)))


@define_pass
def drop(func: PrimFunc) -> PrimFunc:
    return func.replace(params=func.params[:1])
"""


def shell(*args: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    """Run the command in a process of its own, in the current folder."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    command = [sys.executable, "-m", "irkit", *args]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, **options
    )


def call(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    """Run the command in this process: exit code, standard output, standard error."""
    before = sys.argv
    sys.argv = ["irkit", *args]
    try:
        verbs.main()
        code: object = 0
    except SystemExit as stop:
        code = stop.code or 0
    finally:
        sys.argv = before
    out, err = capsys.readouterr()
    assert isinstance(code, int)
    return code, out, err


def cpu_time() -> float:
    """Return the seconds that ended processes have computed: a busy machine does not matter."""
    used = os.times()
    return used.children_user + used.children_system


def compile_model(*more: str) -> Result:
    args = ["compile", "model.onnx", "-o", "m.irkit", "--shape", "data_0=2,8", *more]
    result = CliRunner().invoke(verbs.irkit, args, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result
