"""The command: what a shell sees, and one clear message for every mistake."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from click.testing import CliRunner

import irkit
from irkit import cli
from irkit.core import IRModule
from irkit.frontend.onnx import import_onnx
from irkit.graph import Builder
from irkit.ir import as_dtype, numpy_dtype, parse_module
from irkit.transform import Step, Trace
from tests.cli.command import LOOPS, ROOT, call, compile_model, cpu_time, shell


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


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verb_says_what_it_does_in_the_same_words(verb: str) -> None:
    result = CliRunner().invoke(cli.irkit, [verb, "--help"])
    assert result.exit_code == 0
    assert f"irkit {verb} " in result.output


def test_the_version_is_known_without_an_installation() -> None:
    result = CliRunner().invoke(cli.irkit, ["--version"])
    assert result.output == f"irkit, version {irkit.__version__}\n"


def test_a_model_is_compiled_run_and_looked_into(folder: Path) -> None:
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


def test_the_same_seed_gives_the_same_random_inputs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compile_model()
    for seed in ("1", "1", "2"):
        code, out, _ = call(capsys, "run", "m.irkit", "--random", "--seed", seed, "-o", "o.npz")
        assert code == 0
        assert "ran in" in out
        with np.load("o.npz") as saved:
            (folder / f"{seed}.npy").write_bytes(saved["file"].tobytes())
    assert (folder / "1.npy").read_bytes() != (folder / "2.npy").read_bytes()


def test_a_quiet_compilation_says_nothing(folder: Path) -> None:
    assert compile_model("--quiet").output == ""


def test_a_table_in_a_file_is_not_cut_off(folder: Path) -> None:
    shape = ("--shape", "data_0=2,8")
    done = shell("compile", "model.onnx", "-o", "m.irkit", *shape, env={"COLUMNS": "20"})
    assert "eliminate-common-subexpressions" in done.stdout
    assert "…" not in done.stdout
    assert "\x1b" not in done.stdout


def test_a_name_with_brackets_is_no_markup(folder: Path) -> None:
    args = ["compile", "model.onnx", "-o", "a[red]b.irkit", "--shape", "data_0=2,8"]
    result = CliRunner().invoke(cli.irkit, args)
    assert "a[red]b.irkit: 2 kernels" in result.output


@pytest.mark.parametrize("stop", ["0", "1", "2", "3"])
def test_opt_prints_what_can_be_read_again(
    stop: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(capsys, "opt", "add.irs", "--stop-after", stop)
    assert code == 0
    assert parse_module(out).functions["add"]
    assert ('with block("C")' in out) == (stop == "0")
    (folder / "again.irs").write_text(out)
    assert call(capsys, "opt", "again.irs", "--stop-after", stop)[:2] == (0, out)


def test_opt_reads_standard_input_and_writes_files(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = shell("opt", "-", "--pass", "1:my_passes:stamp", input=LOOPS)
    assert printed.returncode == 0, printed.stderr
    assert "@attrs(stamp_0=0)" in printed.stdout
    assert call(capsys, "opt", "add.irs", "-o", "out.irs") == (0, "", "")
    assert parse_module((folder / "out.irs").read_text())


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
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


def test_an_array_of_bf16_comes_back_as_it_was_saved(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    b = Builder()
    main = b.finish(b.op("relu", b.param("x", (4,), "bf16")))
    irkit.compile(IRModule({"main": main})).save("half.irkit")
    np.save("half.npy", np.array([1, -2, 3, 4], numpy_dtype(as_dtype("bf16"))))
    code, out, _ = call(capsys, "run", "half.irkit", "--input", "x=half.npy")
    assert code == 0
    assert out.startswith("relu: bfloat16[4] from 0 to 4\n")


def test_outputs_of_any_name_are_saved(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compile_model()  # The output is called "file", which numpy.savez takes for its own.
    assert call(capsys, "run", "m.irkit", "--random", "-o", "o.npz")[0] == 0
    with zipfile.ZipFile("o.npz") as archive:
        assert archive.namelist() == ["file.npy"]


def test_a_trace_of_hundreds_of_steps_is_listed_quickly(folder: Path) -> None:
    light = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    module: Any = import_onnx(light / "light_squeezenet.onnx")
    steps: list[Step] = []
    for pipeline in (irkit.GRAPH, irkit.DEFAULT):
        for step in pipeline.steps(module, verify=False):
            steps.append(step)
            module = step.applied_to(module)
    Trace.of(steps).save(folder / "m.trace")
    assert len(steps) > 300
    times: list[float] = []
    for _ in range(2):
        begin = cpu_time()
        done = shell("trace", "m.trace")
        times.append(cpu_time() - begin)
        assert len(done.stdout.splitlines()) == len(steps)
    assert min(times) < 2
