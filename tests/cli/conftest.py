"""Folders with files for every verb, and shells in them."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.cli.command import LOOPS, PASSES
from tests.cli.shell import Shell


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder, which becomes the current one, with a model, loops, inputs and passes."""
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


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Shell]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("COLUMNS", "200")
    before = set(sys.modules)
    yield Shell(tmp_path, capsys)
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
