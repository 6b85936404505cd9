"""Files with programs: what they hold is told from their content."""

import gzip
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest

from irkit.cli.flags import files
from irkit.cli.flags.fixed_inputs import FixedInputs
from irkit.cli.flags.programs import read_program
from irkit.core import IRKitError
from irkit.graph import GraphFunc
from irkit.ir import PrimFunc
from irkit.phases import GRAPH, compile, trace
from irkit.runtime import Model
from tests.frontend.onnx.models import model_of

LOOPS = "def f(A: f32[4]):\n    for i in serial(0, 4):\n        A[i] = f32(1.0)\n"
WEIGHTS = np.arange(2048, dtype=np.float32).reshape(2, 1024)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def model(constant: object = None) -> onnx.ModelProto:
    nodes = [onnx.helper.make_node("Relu", ["x"], ["h"])]
    nodes.append(onnx.helper.make_node("Add", ["h", "w"], ["y"]))
    constants = {"w": WEIGHTS if constant is None else constant}
    return model_of(nodes, {"x": (2, 1024)}, ["y"], opset=13, constants=constants)


@pytest.mark.parametrize("name", ["model.onnx", "model", "model.bin", "model.irs"])
def test_a_model_is_known_by_its_content(folder: Path, name: str) -> None:
    (folder / name).write_bytes(model().SerializeToString())
    program = read_program(name)
    assert isinstance(program.module["main"], GraphFunc)
    assert program.is_of_graphs
    assert not program.recorded


@pytest.mark.parametrize("name", ["loops.irs", "loops", "loops.onnx", "loops.trace"])
def test_ir_text_is_known_by_its_content(folder: Path, name: str) -> None:
    (folder / name).write_text(LOOPS)
    assert isinstance(read_program(name).module["f"], PrimFunc)


def test_a_trace_of_loops_begins_with_the_functions_as_they_were(folder: Path) -> None:
    (folder / "loops.irs").write_text(LOOPS)
    module = read_program("loops.irs").module
    trace(module).save("loops.irs")  # The name says nothing.
    program = read_program("loops.irs")
    assert program.module.script() == module.script()
    assert program.recorded


def test_a_trace_with_all_constants_begins_with_the_graph(folder: Path) -> None:
    made = compiled(model(np.array(2.0, np.float32)))
    made.trace.save("model.trace")
    program = read_program("model.trace")
    assert set(program.module.functions) == {"main"}
    done = GRAPH.run(program.module)
    assert set(done.functions) == {"main", *filter(None, made.trace.functions)}


def test_a_trace_without_its_large_constants_begins_with_the_kernels(folder: Path) -> None:
    compiled(model()).trace.save("model.trace")
    program = read_program("model.trace")
    assert program.module.functions
    assert all(isinstance(func, PrimFunc) for func in program.module.functions.values())


def compiled(proto: onnx.ModelProto) -> Model:
    return compile(proto, verify=False)


def write_other_files(folder: Path) -> None:
    (folder / "pointer.onnx").write_text("version https://git-lfs.github.com/spec/v1\noid sha\n")
    (folder / "script.py").write_text("import irkit\n")
    (folder / "text.onnx").write_text("no model")
    (folder / "text.trace").write_text("no trace")
    (folder / "noise.bin").write_bytes(b"\x00\xff\x17" * 99)
    (folder / "noise.irs").write_bytes(b"\xff\xfe\x00")
    (folder / "cut.trace").write_bytes(b"irkit-trace 2\n\xc1")
    (folder / "some.gz").write_bytes(gzip.compress(b"x"))
    compiled(model()).save(folder / "model.irkit")
    with zipfile.ZipFile(folder / "arrays.npz", "w") as archive:
        archive.writestr("a", b"")
    (folder / "half.zip").write_bytes(b"PK\x03\x04 and nothing more")


MESSAGES = {
    "pointer.onnx": "pointer of Git LFS, not the file itself\n  Run: git lfs pull",
    "script.py": "is a Python script\n  See what its passes do with: irkit inspect script.py",
    "text.onnx": "'text.onnx' cannot be read as an ONNX model",
    "text.trace": "text.trace is not an irkit trace",
    "noise.bin": "Expected an ONNX model, a trace of irkit, or IR text.",
    "noise.irs": "noise.irs is not text",
    "cut.trace": "cut.trace is damaged",
    "some.gz": "Expected an ONNX model, a trace of irkit, or IR text.",
    "model.irkit": "is a package of native code, which passes cannot run on\n  Give the model, or",
    "arrays.npz": "is a zip file; expected an ONNX model, a trace or IR text",
    "half.zip": "is a zip file; expected an ONNX model, a trace or IR text",
}


def test_other_files_are_refused_with_the_remedy(folder: Path) -> None:
    write_other_files(folder)
    for name, message in MESSAGES.items():
        with pytest.raises(IRKitError) as caught:
            read_program(name)
        assert message in str(caught.value), name


def test_text_is_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "long.irs").write_text(LOOPS * 10)
    monkeypatch.setattr(files, "MAX_TEXT_BYTES", 99)
    with pytest.raises(IRKitError, match="has more than 0 MiB of text"):
        read_program("long.irs")


def test_shapes_and_values_are_for_models(folder: Path) -> None:
    (folder / "loops.irs").write_text(LOOPS)
    with pytest.raises(IRKitError, match="--shape is for ONNX models"):
        read_program("loops.irs", FixedInputs(shapes={"x": (1, 2)}))
    with pytest.raises(IRKitError, match="--value is for ONNX models"):
        read_program("loops.irs", FixedInputs(values={"x": 1}))
