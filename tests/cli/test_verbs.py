"""The command as a whole: help, version, and a model from file to results."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import irkit
from irkit.cli import verbs
from irkit.ir import parse_module
from tests.cli.command import LOOPS, ROOT, cpu_time, shell


def test_help_answers_at_once(folder: Path) -> None:
    times: list[float] = []
    for _ in range(5):
        begin = cpu_time()
        done = shell("--help")
        times.append(cpu_time() - begin)
        assert done.returncode == 0
        for verb in ("compile", "run", "opt", "trace"):
            assert verb in done.stdout
    assert min(times) < 0.2


def test_help_loads_neither_numpy_nor_llvm(folder: Path) -> None:
    code = (
        "import sys\nfrom irkit import cli\nsys.argv = ['irkit', '--help']\n"
        "try:\n    cli.main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'llvmlite', 'onnx', 'rich', 'msgspec'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": str(ROOT)})


@pytest.mark.parametrize("verb", verbs.VERBS)
def test_every_verb_says_what_it_does_in_the_same_words(verb: str) -> None:
    result = CliRunner().invoke(verbs.irkit, [verb, "--help"])
    assert result.exit_code == 0
    assert f"irkit {verb} " in result.output


def test_the_version_is_known_without_an_installation() -> None:
    result = CliRunner().invoke(verbs.irkit, ["--version"])
    assert result.output == f"irkit, version {irkit.__version__}\n"


def test_a_model_is_compiled_run_and_its_trace_is_shown(folder: Path) -> None:
    """Go the whole way in processes of their own, as a user does."""
    spec = "1:my_passes:stamp{number=3, word=here}"
    shape = ("--shape", "data_0=2,8")
    done = shell(
        "compile", "model.onnx", "-o", "m.irkit", *shape, "--pass", spec, "--trace", "m.trace"
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "m.irkit: 2 kernels" in done.stdout
    assert re.search(r"│ 1 +│ stamp +│ +2 │ +2 │", done.stdout)
    done = shell("run", "m.irkit", "--input", "data_0=x.npy", "-o", "out.npz")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("file: float32[2, 4] from 0.")
    with np.load("out.npz") as saved:
        assert saved["file"].shape == (2, 4)
        np.testing.assert_allclose(saved["file"].sum(axis=1), 1, rtol=1e-5)
    listed = shell("trace", "m.trace")
    assert listed.returncode == 0
    (line,) = [line for line in listed.stdout.splitlines() if "stamp" in line and "matmul" in line]
    assert line.split()[1:3] == ["*", "1"]
    changed = shell("trace", "m.trace", "--step", line.split()[0])
    assert re.search(r'^\+@attrs.*stamp_3="here"', changed.stdout, flags=re.MULTILINE)
    after = shell("trace", "m.trace", "--step", line.split()[0], "--ir")
    assert parse_module(after.stdout)


def test_a_closed_pipe_is_not_an_error(folder: Path) -> None:
    (folder / "many.irs").write_text("\n".join(LOOPS.replace("add", f"f{n}") for n in range(40)))
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "irkit", "opt", "many.irs"]
    done = subprocess.run(
        command,
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    os.close(write)
    assert done.returncode == 1
    assert done.stderr == b""
