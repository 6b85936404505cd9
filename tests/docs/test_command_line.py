"""docs/command-line.md: its console blocks run, and it names every verb."""

import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from irkit.cli import VERBS
from tests.docs.pages import ROOT, Reader, switches_of

PAGE = ROOT / "docs" / "command-line.md"


def write_model(folder: Path) -> None:
    """Write a model of one layer, and an input for it."""
    weights = np.random.default_rng(0).random((8, 4), dtype=np.float32)
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w"], ["z"]),
            helper.make_node("Relu", ["z"], ["y"]),
        ],
        "layer",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4])],
        [numpy_helper.from_array(weights, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(folder / "model.onnx"))
    np.save(folder / "x.npy", np.ones((1, 8), np.float32))


def test_the_console_blocks_run(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    write_model(reader.folder)
    reader.read(PAGE)
    assert reader.ran == PAGE.read_text().count("\n$ ")
    for name in ("outputs.npz", "flat.irs", "report.html", "passes.xml", "passes.md"):
        assert (reader.folder / name).stat().st_size


def test_the_table_lists_every_verb() -> None:
    table = PAGE.read_text().partition("| verb |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `([\w-]+)` \|", table, flags=re.M) == list(VERBS)


@pytest.mark.parametrize("page", ["README.md", "docs/command-line.md", "docs/inspector.md"])
def test_the_switches_of_a_page_exist(page: str) -> None:
    text = (ROOT / page).read_text()
    commands: dict[str, set[str]] = {}
    for verb, rest in re.findall(r"^(?:    |\$ )?irkit ([\w-]+)([^#\n]*)", text, flags=re.M):
        commands.setdefault(verb, set()).update(re.findall(r"--[a-z][a-z-]+", rest))
    assert commands
    if page == "docs/command-line.md":
        table = text.partition("| switch |")[2].partition("\n\n")[0]
        commands["opt"] |= set(re.findall(r"--[a-z][a-z-]+", table))
    for verb, switches in commands.items():
        assert switches - {"--help"} <= switches_of(verb)
