"""docs/deployment.md: its commands make a program that runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.docs.pages import ROOT, blocks_of

PAGE = ROOT / "docs" / "deployment.md"


def mlp(path: Path) -> None:
    """Write a network of two layers."""
    rng = np.random.default_rng(0)
    weights = {"v": rng.random((8, 6), "f4"), "w": rng.random((6, 3), "f4")}
    nodes = [
        helper.make_node("MatMul", ["x", "v"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("MatMul", ["b", "w"], ["y"]),
    ]
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [1, 8]), ("y", [1, 3]))
    ]
    given = [numpy_helper.from_array(array, name) for name, array in weights.items()]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], given)
    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs cc: apt install gcc")
@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake: apt install cmake")
def test_the_commands_lead_from_a_model_to_a_program_that_runs(tmp_path: Path) -> None:
    _, _, part = PAGE.read_text().partition("## A model without Python\n")
    (block, *_) = [each for each in blocks_of(PAGE) if each.text in part and each.kind == "sh"]
    assert "--source-dir" in block.text
    mlp(tmp_path / "mlp.onnx")
    # The commands of the environment that runs the tests.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-e", "-c", block.text],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "mlp.h").exists()
    printed = done.stdout.splitlines()[-1]
    assert printed.startswith("y: "), done.stdout
    assert len(printed.split()) == 4
