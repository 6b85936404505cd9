"""The command: what a shell sees, and one clear message for every mistake."""

import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from click.testing import CliRunner, Result
from onnx import TensorProto, helper, numpy_helper

import irkit
from irkit import cli
from irkit.core import IRModule
from irkit.frontend.onnx import import_onnx
from irkit.graph import Builder
from irkit.ir import as_dtype, numpy_dtype, parse_module
from irkit.phases import command
from irkit.runtime import Model
from irkit.transform import Registry, Step, Trace

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


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder with a model, loops, inputs and a module of passes."""
    weights = np.random.default_rng(0).standard_normal((8, 4)).astype(np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["data_0", "w"], ["h"]),
            helper.make_node("Softmax", ["h"], ["file"], axis=1),
        ],
        "g",
        [helper.make_tensor_value_info("data_0", TensorProto.FLOAT, ["n", 8])],
        [helper.make_tensor_value_info("file", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(weights, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    (tmp_path / "add.irs").write_text(LOOPS)
    (tmp_path / "my_passes.py").write_text(PASSES)
    np.save(tmp_path / "x.npy", np.ones((2, 8), np.float32))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    monkeypatch.delitem(sys.modules, "my_passes", raising=False)
    return tmp_path


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
        cli.main()
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
    result = CliRunner().invoke(cli.irkit, args, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result


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


def hostile(folder: Path) -> None:
    (folder / "text.onnx").write_text("no model")
    (folder / "empty").write_bytes(b"")
    (folder / "bytes.irs").write_bytes(b"\xff\xfe")
    (folder / "broken.irs").write_text("def f(A: f32[16]):\n    A[0] = = 3\n")
    (folder / "broken_passes.py").write_text("def f(:\n")
    (folder / "failing_passes.py").write_text("1 / 0\n")
    np.save(folder / "double.npy", np.ones((2, 8)))
    np.save(folder / "small.npy", np.ones((2, 7), np.float32))
    np.save(folder / "pickle.npy", np.array([{}], dtype=object))
    np.savez(folder / "many.npz", a=np.ones(3))
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }"
    (folder / "huge.npy").write_bytes(b"\x93NUMPY\x01\x00v\x00" + header.ljust(117) + b"\n")


COMPILE = ("compile", "model.onnx", "-o", "new.irkit", "--shape", "data_0=2,8")
OPT = ("opt", "add.irs")
RUN = ("run", "m.irkit")
MISTAKES: list[tuple[tuple[str, ...], str]] = [
    (("compile", "none.onnx", "-o", "new.irkit"), "File 'none.onnx' does not exist"),
    (("compile", "text.onnx", "-o", "new.irkit"), "'text.onnx' cannot be read as an ONNX model"),
    (("compile", "empty", "-o", "new.irkit"), "'empty' is no ONNX model"),
    (("compile", ".", "-o", "new.irkit"), "File '.' is a directory"),
    (("compile", "model.onnx"), "Missing option '-o'"),
    (("compile", "model.onnx", "-o", "new.irkit"), "'data_0' is not constant: f32[n, 8]"),
    ((*COMPILE[:3], "no/new.irkit", *COMPILE[4:]), "error: no/new.irkit: No such file"),
    ((*COMPILE[:3], "/proc/new.irkit", *COMPILE[4:]), "error: /proc/new.irkit: "),
    ((*COMPILE[:3], "model.onnx", *COMPILE[4:]), "must be different files"),
    ((*COMPILE, "--trace", "new.irkit"), "must be different files"),
    ((*COMPILE, "--trace", "no/new.trace"), "error: no/new.trace: No such file"),
    ((*COMPILE, "--pass", "simplify"), "1:1: in --pass 'simplify': expected a place and a colon"),
    ((*COMPILE, "--pass", "1:simplify{a="), "1:14: in --pass '1:simplify{a=': expected a value"),
    ((*COMPILE, "--pass", "1:simplfy"), "Did you mean 'simplify'"),
    ((*COMPILE, "--pass", "1:qqq"), "There are: "),
    ((*COMPILE, "--pass", "4:simplify"), "no phase 4; the phases are: 0 raw, 1 flat, 2 loops, 3"),
    ((*COMPILE, "--pass", "1:fuse-ops"), "'fuse-ops' takes GraphFunc, but level 'loop'"),
    ((*COMPILE, "--pass", "1:my_passes:none"), "has no attribute 'none'"),
    ((*COMPILE, "--pass", "1:my_passes:PrimFunc"), "is no pass"),
    ((*COMPILE, "--pass", "1:my_passes:stamp{numbr=3}"), "It has: number: int = 0"),
    ((*COMPILE, "--pass", "1:my_passes:stamp{number=x}"), "Expected `int`, got `str`"),
    ((*COMPILE, "--pass", "1:no_such_module:p"), "No module named 'no_such_module'"),
    ((*COMPILE, "--pass", "1:broken_passes:p"), "'broken_passes:p': SyntaxError"),
    ((*COMPILE, "--pass", "1:failing_passes:p"), "'failing_passes:p': ZeroDivisionError"),
    ((*COMPILE, "--pass", "1:my_passes:drop"), "phase 1: pass 'drop' on function 'matmul'"),
    # What a shell makes of --pass 1:my_passes:stamp{number=3,word=x} without quotes.
    ((*COMPILE, "--pass", "1:m:stampnumber=3", "1:m:stampword=x"), "put quotes around it"),
    ((*COMPILE, "--shape", "data_0"), "write it as NAME=1,3,224,224"),
    ((*COMPILE[:4], "--shape", "data_0=2,,8"), "write it as NAME=1,3,224,224"),
    ((*COMPILE[:4], "--shape", "data_0=-2,8"), "write it as NAME=1,3,224,224"),
    ((*COMPILE[:4], "--shape", "data_0=" + "9" * 9999), "write it as NAME=1,3,224,224"),
    ((*COMPILE[:4], "--shape", "data_0=2"), "gives input 'data_0' shape (2,), but"),
    ((*COMPILE[:4], "--shape", "other=2,8"), "no input of the model; its inputs are: data_0"),
    ((*COMPILE, "--shape", "data_0=3,8"), "'data_0' has two shapes"),
    ((*COMPILE, "--features", "avx2"), "must begin with + or -"),
    ((*COMPILE, "--cpu", "nonsense"), "LLVM does not know the processor 'nonsense'"),
    (("run", "none.irkit"), "File 'none.irkit' does not exist"),
    (("run", "model.onnx"), "'model.onnx' is no package of irkit"),
    (("run", "empty"), "'empty' is no package of irkit"),
    (RUN, "input 'data_0' is missing; the inputs are: data_0"),
    ((*RUN, "--input", "data_0"), "write it as NAME=FILE.npy"),
    ((*RUN, "--input", "other=x.npy"), "'other' is no input"),
    ((*RUN, "--input", "data_0=x.npy", "--input", "data_0=x.npy"), "'data_0' is given twice"),
    ((*RUN, "--input", "data_0=none.npy"), "cannot read 'none.npy': No such file"),
    ((*RUN, "--input", "data_0=."), "cannot read '.': Is a directory"),
    ((*RUN, "--input", "data_0=empty"), "'empty' is no .npy file"),
    ((*RUN, "--input", "data_0=pickle.npy"), "'pickle.npy' is no .npy file of numbers: Object"),
    ((*RUN, "--input", "data_0=many.npz"), "'many.npz' is no .npy file"),
    ((*RUN, "--input", "data_0=huge.npy"), "'huge.npy' is no .npy file of numbers: Unable to"),
    ((*RUN, "--input", "data_0=double.npy"), "must be of type float32, found float64"),
    ((*RUN, "--input", "data_0=small.npy"), "must have shape (2, 8), found (2, 7)"),
    ((*RUN, "--random", "-o", "no/out.npz"), "no/out.npz: No such file"),
    (("opt", "none.irs"), "File 'none.irs' does not exist"),
    (("opt", "bytes.irs"), "bytes.irs is no text"),
    (("opt", "broken.irs"), "broken.irs:2"),
    ((*OPT, "--stop-after", "4"), "no phase 4; the phases are: 0 raw, 1 flat, 2 loops, 3 cleanup"),
    ((*OPT, "--stop-after", "x"), "'x' is no phase; expected 0 to 3"),
    ((*OPT, "-o", "no/out.irs"), "no/out.irs: No such file"),
    ((*OPT, "--pass", "1:m:stampnumber=3", "1:m:stampword=x"), "put quotes around it"),
    (("trace", "none"), "File 'none' does not exist"),
    (("trace", "model.onnx"), "model.onnx is no trace of irkit"),
    (("trace", "m.trace", "--step", "9999"), "numbered from 0; there is no 9999"),
    (("trace", "m.trace", "--step", "-1"), "there is no -1"),
    (("trace", "m.trace", "--ir"), "--ir needs --step"),
    (("nonsense",), "No such command 'nonsense'"),
]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Compile once for all the mistakes that need a package or a trace."""
    return {}


@pytest.mark.parametrize(("args", "words"), MISTAKES, ids=[" ".join(a)[:60] for a, _ in MISTAKES])
def test_a_mistake_is_one_message_and_changes_no_file(
    args: tuple[str, ...],
    words: str,
    folder: Path,
    compiled: dict[str, bytes],
    capsys: pytest.CaptureFixture[str],
) -> None:
    hostile(folder)
    if not compiled:
        compile_model("--quiet", "--trace", "m.trace")
        compiled.update({name: (folder / name).read_bytes() for name in ("m.irkit", "m.trace")})
    for name, data in compiled.items():
        (folder / name).write_bytes(data)
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    code, out, err = call(capsys, *args)
    assert code == 2
    assert out == ""
    assert words in err
    assert "Traceback" not in err
    assert len(re.findall(r"^[eE]rror: ", err, flags=re.MULTILINE)) == 1
    after = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    after.pop("__pycache__", None)
    assert after == before


def test_a_mistake_in_a_process_of_its_own_looks_the_same(folder: Path) -> None:
    done = shell("compile", "model.onnx", "-o", "m.irkit", "--pass", "9:simplify")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "error: there is no phase 9; the phases are: 0 raw, 1 flat, 2 loops, 3 cleanup\n"
        "  Before them comes 'graph:NAME', after them 'legalize:NAME'.\n"
    )


def test_a_mistake_of_ours_is_not_hidden(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*args: object) -> None:
        raise AssertionError("ours")

    monkeypatch.setattr(Registry, "of", broken)
    with pytest.raises(AssertionError, match="ours"):
        call(capsys, *OPT, "--pass", "1:simplify")


def test_too_little_memory_is_said_without_a_trace(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*args: object) -> None:
        raise MemoryError("Unable to allocate 3 TiB")

    compile_model("--quiet")
    monkeypatch.setattr(Model, "run", full)
    code, _, err = call(capsys, *RUN, "--random")
    assert (code, err) == (2, "error: there is not enough memory: Unable to allocate 3 TiB\n")


@pytest.mark.parametrize("when", ["compile", "save", "trace"])
def test_an_interrupted_compilation_leaves_neither_package_nor_trace(
    when: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*args: object, **options: object) -> None:
        raise KeyboardInterrupt

    places: dict[str, tuple[Any, str]] = {
        "compile": (command, "compile"),
        "save": (Model, "save"),
        "trace": (Trace, "save"),
    }
    monkeypatch.setattr(*places[when], interrupted)
    (folder / "new.irkit").write_text("old")
    before = sorted(os.listdir(folder))
    code, _, err = call(capsys, *COMPILE, "--trace", "new.trace")
    assert (code, err.strip()) == (130, "Stopped.")
    assert sorted(os.listdir(folder)) == before
    assert (folder / "new.irkit").read_text() == "old"


def test_control_c_leaves_no_file(folder: Path) -> None:
    (folder / "slow_passes.py").write_text(
        "import time\nfrom irkit.ir import PrimFunc\nfrom irkit.transform import define_pass\n\n"
        "@define_pass\ndef wait(func: PrimFunc) -> PrimFunc:\n"
        "    open('waiting', 'w').close()\n    time.sleep(60)\n    return func\n"
    )
    args = [*COMPILE, "--trace", "new.trace", "--pass", "1:slow_passes:wait"]
    process = subprocess.Popen(
        [sys.executable, "-m", "irkit", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    with process:
        for _ in range(600):
            if (folder / "waiting").exists():
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert (out, err.strip()) == ("", "Stopped.")
    assert not [name for name in os.listdir(folder) if "new" in name or "partial" in name]


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
