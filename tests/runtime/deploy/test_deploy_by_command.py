"""irkit compile: libraries and C sources instead of a package."""

import shutil
import subprocess
from pathlib import Path

import onnx
import pytest
from click.testing import CliRunner, Result
from onnx import TensorProto, helper

from irkit.cli.verbs import irkit
from tests.runtime.deploy.dlpack import CModel

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs cc: apt install gcc")


@pytest.fixture
def double(tmp_path: Path) -> Path:
    """Return the path of a model that doubles four numbers."""
    kind = TensorProto.FLOAT
    ends = [helper.make_tensor_value_info(name, kind, [4]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "g", ends[:1], ends[1:])
    opsets = [helper.make_opsetid("", 17)]
    path = tmp_path / "double.onnx"
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def ran(*args: object) -> Result:
    return CliRunner().invoke(irkit, ["compile", *map(str, args)])


def test_a_shared_library_with_its_header(double: Path, tmp_path: Path) -> None:
    output, header = tmp_path / "libdouble.so", tmp_path / "double.h"
    done = ran(double, "--output-kind=shared", "-o", output, "--header", header)
    assert done.exit_code == 0, done.output
    assert f"wrote {output}, {header}" in done.output
    assert "int double__run" not in header.read_text()
    assert "int double_model_run(" in header.read_text()
    assert CModel(output, "double_model").described("output") == [("y", (4,))]


def test_sources_that_cmake_builds(double: Path, tmp_path: Path) -> None:
    folder = tmp_path / "twice"
    done = ran(double, "--source-dir", folder, "--quiet")
    assert done.exit_code == 0, done.output
    names = {path.name for path in folder.iterdir()}
    files = {"twice.c", "twice.h", "twice_weights.c", "twice_weights.bin"}
    assert names == files | {"main.c", "CMakeLists.txt"}
    if shutil.which("cmake") is None:
        pytest.skip("needs cmake: apt install cmake")
    for command in (["cmake", "-S", ".", "-B", "build"], ["cmake", "--build", "build"]):
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
    shown = subprocess.run([folder / "build/twice_example"], capture_output=True, text=True)
    assert shown.stdout.startswith("y: 0 0.732673 ")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "or --source-dir"),
        (["-o", "x", "--source-dir", "y"], "exclude each other"),
        (["-o", "x", "--header", "y.h"], "--header is for a library"),
        (["-o", "x", "--name", "y"], "--name is for a library"),
        (["-o", "x", "--output-kind=shared", "--target", "rv64gc"], "made of C"),
    ],
)
def test_options_that_do_not_fit_are_errors(double: Path, args: list[str], message: str) -> None:
    done = ran(double, *args)
    assert done.exit_code == 2
    assert message in done.output


def test_a_package_for_another_target(double: Path, tmp_path: Path) -> None:
    done = ran(double, "-o", tmp_path / "double.irkit", "--target", "raspberry-pi-4", "--quiet")
    assert done.exit_code == 0, done.output
