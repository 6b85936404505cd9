"""Every misuse of the command is one message and leaves no file."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irkit.cli import compile
from irkit.core import IRKitError
from irkit.frontend.onnx import load_converter
from irkit.runtime import Model
from irkit.transform import Registry, Trace
from tests.cli.command import ROOT, call, compile_model, shell


def write_malformed_files(folder: Path) -> None:
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
    (("compile", "empty", "-o", "new.irkit"), "'empty' is not an ONNX model"),
    (("compile", ".", "-o", "new.irkit"), "File '.' is a directory"),
    (("compile", "model.onnx"), "Missing option '-o'"),
    (
        ("compile", "model.onnx", "-o", "new.irkit"),
        "leaves shapes of inputs open (data_0: f32[n, 8]), and nothing is compiled",
    ),
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
    ((*COMPILE, "--pass", "1:my_passes:PrimFunc"), "is not a pass"),
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
    ((*COMPILE[:4], "--shape", "other=2,8"), "not an input of the model; its inputs are: data_0"),
    ((*COMPILE, "--shape", "data_0=3,8"), "'data_0' has two shapes"),
    ((*COMPILE, "--features", "avx2"), "must begin with + or -"),
    ((*COMPILE, "--cpu", "nonsense"), "LLVM does not know the processor 'nonsense'"),
    (("run", "none.irkit"), "File 'none.irkit' does not exist"),
    (("run", "model.onnx"), "'model.onnx' is not a package of irkit"),
    (("run", "empty"), "'empty' is not a package of irkit"),
    (RUN, "input 'data_0' is missing; the inputs are: data_0"),
    ((*RUN, "--input", "data_0"), "write it as NAME=FILE.npy"),
    ((*RUN, "--input", "other=x.npy"), "'other' is not an input"),
    ((*RUN, "--input", "data_0=x.npy", "--input", "data_0=x.npy"), "'data_0' is given twice"),
    ((*RUN, "--input", "data_0=none.npy"), "cannot read 'none.npy': No such file"),
    ((*RUN, "--input", "data_0=."), "cannot read '.': Is a directory"),
    ((*RUN, "--input", "data_0=empty"), "'empty' is not an .npy file"),
    ((*RUN, "--input", "data_0=pickle.npy"), "'pickle.npy' is not an .npy file of numbers: Object"),
    ((*RUN, "--input", "data_0=many.npz"), "'many.npz' is not an .npy file"),
    ((*RUN, "--input", "data_0=huge.npy"), "'huge.npy' is not an .npy file of numbers: Unable to"),
    ((*RUN, "--input", "data_0=double.npy"), "must be of type float32, found float64"),
    ((*RUN, "--input", "data_0=small.npy"), "must have shape (2, 8), found (2, 7)"),
    ((*RUN, "--random", "-o", "no/out.npz"), "no/out.npz: No such file"),
    (("opt", "none.irs"), "File 'none.irs' does not exist"),
    (("opt", "bytes.irs"), "bytes.irs is not text"),
    (("opt", "broken.irs"), "broken.irs:2"),
    ((*OPT, "--stop-after", "4"), "no phase 4; the phases are: 0 raw, 1 flat, 2 loops, 3 cleanup"),
    ((*OPT, "--stop-after", "x"), "'x' is not a phase; expected 0 to 3"),
    ((*OPT, "-o", "no/out.irs"), "no/out.irs: No such file"),
    ((*OPT, "--pass", "1:m:stampnumber=3", "1:m:stampword=x"), "put quotes around it"),
    (("trace", "none"), "File 'none' does not exist"),
    (("trace", "model.onnx"), "model.onnx is not an irkit trace"),
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
    write_malformed_files(folder)
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
    for name in [name for name in after if name.startswith(("irkit-crash-", "__pycache__"))]:
        del after[name]  # A pass that fails leaves a folder about it.
    assert after == before


def test_a_mistake_in_a_process_of_its_own_looks_the_same(folder: Path) -> None:
    done = shell("compile", "model.onnx", "-o", "m.irkit", "--pass", "9:simplify")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "error: there is no phase 9; the phases are: 0 raw, 1 flat, 2 loops, 3 cleanup\n"
        "  'graph:NAME' runs before them, 'legalize:NAME' after them.\n"
    )


def test_a_mistake_of_ours_is_not_hidden(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*args: object) -> None:
        raise AssertionError("ours")

    monkeypatch.setattr(Registry, "with_entry_points", broken)
    with pytest.raises(AssertionError, match="ours"):
        call(capsys, *OPT, "--pass", "1:simplify")


def test_too_little_memory_is_an_error_without_a_traceback(
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
        "compile": (compile, "compile"),
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
        # Tests that run in the background ignore the signal, and would hand that down.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
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


MODULES = {
    "exits_at_import": "import sys\nsys.exit(0)\n",
    "raises_at_import": "class Own(BaseException): pass\nraise Own('no')\n",
    "raises_in_a_pass": """\
from irkit.ir import PrimFunc
from irkit.transform import define_pass


class Own(BaseException): pass


@define_pass
def made(func: PrimFunc) -> PrimFunc:
    raise Own("no")
""",
}


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("exits_at_import", "error: cannot load pass 'exits_at_import:made': SystemExit: 0"),
        ("raises_at_import", "error: cannot load pass 'raises_at_import:made': Own: no"),
        ("raises_in_a_pass", "raises_in_a_pass.py:10 raised Own: no"),
    ],
)
def test_a_module_that_ends_the_process_or_raises_anything_is_named(
    module: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / f"{module}.py").write_text(MODULES[module])
    (tmp_path / "copy.irs").write_text("def f(A: f32[4], C: f32[4]):\n    C[0] = A[0]\n")
    command = [sys.executable, "-m", "irkit", "opt", "copy.irs", "-o", "new.irs"]
    done = subprocess.run(
        [*command, "--pass", f"1:{module}:made"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])},
    )
    assert (done.returncode, (tmp_path / "new.irs").exists()) == (2, False)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_converter_whose_module_exits_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "exits_in_a_test.py").write_text(MODULES["exits_at_import"])
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(IRKitError, match="'exits_in_a_test:f' cannot be loaded: SystemExit: 0"):
        load_converter("exits_in_a_test:f")
