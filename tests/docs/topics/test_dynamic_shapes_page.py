"""docs/dynamic-shapes.md: its blocks run in order, on small models of the names they use."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import irkit
from irkit.graph import parse_module
from tests.docs.pages import ROOT, blocks_of

PAGE = ROOT / "docs" / "dynamic-shapes.md"
FLOAT = TensorProto.FLOAT

CACHE = "f32[1, 8, 1024, 64]"
KEEPING = f"""\
@attrs(inputs=("token", "position", "keys", "values"), outputs=("logits", "keys", "values"))
def main(token: f32[1, 8, 1, 64], position: i64[1], keys: {CACHE}, values: {CACHE}):
    at = expand_dims(position, axes=(1,))
    k = scatter(keys, at, token, axis=2)
    v = scatter(values, at, token, axis=2)
    s = sum(k, axes=(2,))
    r = (s, k, v)
    return r
"""


def write(
    name: str,
    nodes: list[Any],
    inputs: dict[str, list[Any]],
    outputs: list[str],
    kind: int = FLOAT,
    result: int | None = None,
) -> None:
    infos = [helper.make_tensor_value_info(each, kind, dims) for each, dims in inputs.items()]
    results = [helper.make_tensor_value_info(each, result or kind, None) for each in outputs]
    graph = helper.make_graph(
        nodes, "g", infos, results, [helper.make_tensor("axes", TensorProto.INT64, (1,), (2,))]
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), name)


def test_every_example_of_the_page_runs_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    node = helper.make_node
    write(
        "bert.onnx",
        [node("Mul", ["ids", "mask"], ["y"])],
        {"ids": ["b", "s"], "mask": ["b", "s"]},
        ["y"],
        TensorProto.INT64,
    )
    write(
        "cell.onnx",
        [node("Add", ["h", "x"], ["h_next"]), node("Tanh", ["h_next"], ["y"])],
        {"h": [1, 64], "x": [1, 64]},
        ["h_next", "y"],
    )
    write(
        "head.onnx",
        [node("NonMaxSuppression", ["boxes", "scores", "axes"], ["selected"])],
        {"boxes": [1, "n", 4], "scores": [1, 80, "n"]},
        ["selected"],
        result=TensorProto.INT64,
    )
    write(
        "decoder.onnx",
        [
            node("Concat", ["past", "x"], ["present"], axis=2),
            node("ReduceSum", ["present", "axes"], ["logits"]),
        ],
        {"past": [1, 8, "past", 64], "x": [1, 8, 1, 64]},
        ["present", "logits"],
    )
    row = np.ones((1, 8, 1, 64), np.float32)
    exporting = SimpleNamespace(export=SimpleNamespace(export=lambda *given: given))
    scope: dict[str, Any] = {
        "irkit": irkit,
        "numpy": np,
        "sequence": [np.ones((1, 64), np.float32)] * 3,
        "tokens": [row] * 4,
        "torch": exporting,  # The tests that read no model of PyTorch run without it.
        "import_torch": lambda _: parse_module(KEEPING),
        **dict.fromkeys(("decoder", "token", "position")),
        "boxes": np.array([[[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3]]], np.float32),
        "scores": np.ones((1, 80, 3), np.float32),
    }
    found = [block for block in blocks_of(PAGE) if block.kind == "python"]
    assert len(found) == 5
    exec(compile(found[0].text, PAGE.name, "exec"), scope)
    exec(compile(found[1].text, PAGE.name, "exec"), scope)
    # Two boxes of each class, as many as the model wants of one.
    np.testing.assert_array_equal(scope["found"][:, 1], np.repeat(np.arange(80), 2))
    exec(compile(found[2].text, PAGE.name, "exec"), scope)
    np.testing.assert_array_equal(scope["h"], np.full((1, 64), 3))
    exec(compile(found[3].text, PAGE.name, "exec"), scope)
    assert scope["cache"].length == 4
    np.testing.assert_array_equal(scope["logits"], np.full((1, 8, 1, 64), 4))
    exec(compile(found[4].text, PAGE.name, "exec"), scope)
    assert np.count_nonzero(scope["keys"]) == np.count_nonzero(scope["values"]) == 4 * 8 * 64
    np.testing.assert_array_equal(scope["logits"], np.full((1, 8, 64), 4))
