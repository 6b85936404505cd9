"""irkit compile: libraries and C sources instead of a package."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from click.testing import CliRunner, Result
from onnx import TensorProto, helper

from irkit import compile as compile_model
from irkit.cli.verbs import irkit
from irkit.core import IRModule
from irkit.graph import Dimension, GraphFunc, parse, with_dimensions
from irkit.runtime import build_library
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


def test_a_library_is_run_by_the_command(double: Path, tmp_path: Path) -> None:
    output = tmp_path / "libdouble.so"  # A word of C, so the prefix is another one.
    assert ran(double, "--output-kind=shared", "-o", output).exit_code == 0
    given = tmp_path / "x.npy"
    np.save(given, np.array([1, 2, 3, 4], "f4"))
    done = CliRunner().invoke(irkit, ["run", str(output), "--input", f"x={given}"])
    assert done.exit_code == 0, done.output
    assert "y: float32[4] from 2 to 8\nran in " in done.output
    done = CliRunner().invoke(irkit, ["run", str(output), "--random"])
    assert done.exit_code == 0, done.output
    for more, said in (
        (["--name", "other"], "has no function other_version"),
        (["--profile"], "the kernels of a library cannot be measured apart"),
        ([], "input 'x' is missing"),
    ):
        done = CliRunner().invoke(irkit, ["run", str(output), *more])
        assert done.exit_code != 0
        assert said in f"{done.output}{done.exception}"


def test_a_library_with_open_sizes_and_a_cache_is_run_by_the_command(tmp_path: Path) -> None:
    func = parse(
        "def main(k: f32[2, n, 3], past: f32[2, m, 3]):\n"
        "    present = concat(past, k, axis=1)\n    y: f32[2, 3] = sum(present, axes=(1,))\n"
        "    r = (y, present)\n    return r\n"
    )
    assert isinstance(func, GraphFunc)
    dims = {"n": Dimension("n", 1, 5), "m": Dimension("m", 0, 5)}
    module = IRModule({"main": with_dimensions(func, dims)})
    model = compile_model(module, target="c", state={"past": ("present", 1, 5)}, keep_trace=False)
    build_library(model, tmp_path / "libcached.so", "shared", name="cached")
    done = CliRunner().invoke(irkit, ["run", str(tmp_path / "libcached.so"), "--random"])
    assert done.exit_code == 0, done.output
    assert "present: float32[2, 2, 3]" in done.output
