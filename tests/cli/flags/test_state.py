"""``--state``: outputs over inputs, and caches, from the command line."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.helper import make_node

from tests.cli.command import call


@pytest.fixture
def decoder(folder: Path) -> str:
    """Write a model with a state that grows and one that does not."""
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [
            make_node("Concat", ["past", "x"], ["present"], axis=1),
            make_node("ReduceSum", ["present", "axes"], ["s"], keepdims=1),
            make_node("Add", ["h", "x"], ["h_next"]),
        ],
        "g",
        [
            info("past", TensorProto.FLOAT, (2, "past", 3)),
            info("x", TensorProto.FLOAT, (2, 1, 3)),
            info("h", TensorProto.FLOAT, (2, 1, 3)),
        ],
        [info(name, TensorProto.FLOAT, None) for name in ("present", "s", "h_next")],
        [helper.make_tensor("axes", TensorProto.INT64, (1,), (1,))],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), "m.onnx")
    return "m.onnx"


STATE = ("--state", "past=present,1,4", "--state", "h=h_next")
SHAPE = ("--shape", "past=2,past in 0..4,3")


def test_a_package_with_state_runs_with_room_for_its_caches(
    decoder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(capsys, "compile", decoder, "-o", "m.irkit", "--quiet", *SHAPE, *STATE)[0] == 0
    for name, shape in (
        ("past", (2, 3, 3)),
        ("x", (2, 1, 3)),
        ("h", (2, 1, 3)),
        ("full", (2, 4, 3)),
    ):
        np.save(f"{name}.npy", np.ones(shape, np.float32))
    given = [f"--input={name}={name}.npy" for name in ("x", "h")]
    code, out, err = call(capsys, "run", "m.irkit", *given, "--input=past=past.npy", "--profile")
    assert code == 0, err
    assert "present: float32[2, 4, 3]" in out
    assert "s: float32[2, 1, 3] from 4 to 4" in out
    assert "h_next: float32[2, 1, 3] from 2 to 2" in out
    code, _, err = call(capsys, "run", "m.irkit", *given, "--input=past=full.npy")
    assert code == 2
    assert "the cache 'past' is full" in err


def test_other_verbs_see_state_as_an_attribute(
    decoder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(capsys, "opt", decoder, *SHAPE, *STATE, "--stop-after", "0")
    assert code == 0
    assert "state=((0, 0, 1, 4), (2, 2))" in out
    assert call(capsys, "check", decoder, *SHAPE, *STATE)[0] == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("past", "does not pair an input with an output"),
        ("past=present,1", "does not pair an input with an output"),
        ("past=present,a,4", "does not pair an input with an output"),
        ("past=s", "'past', whose type differs"),
        ("q=s", "'q' is not an input"),
    ],
)
def test_what_is_no_pair_is_refused(
    decoder: str, given: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = call(capsys, "compile", decoder, "-o", "m.irkit", *SHAPE, "--state", given)
    assert code != 0
    assert said in " ".join(err.split())


def test_state_of_ir_text_is_an_attribute(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "k.irs").write_text("def f(x: f32[4]):\n    x[0] = f32(1.0)\n")
    code, _, err = call(capsys, "opt", "k.irs", "--state", "x=y")
    assert code != 0
    assert "state is an attribute in IR text" in err
