"""``--value``: what can be written, and that every verb on a model takes it."""

from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from onnx import TensorProto
from onnx.helper import make_node, make_tensor_value_info

from irkit.cli.flags.fixed_inputs import shapes_of, values_of
from tests.cli.command import call
from tests.frontend.onnx.models import floats, model_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n=3", 3),
        ("n=-1", -1),
        ("n=2,3", [2, 3]),
        ("n=2,", [2]),
        ("n=", []),
        ("n=0.5,2", [0.5, 2]),
        ("n=1e-3", 1e-3),
        ("n=true", True),
        ("n=true,false", [True, False]),
        ("a=b=3", 3),
    ],
)
def test_values_are_numbers_and_lists(text: str, value: Any) -> None:
    assert values_of([text]) == {text.rpartition("=")[0]: value}


def test_a_value_may_be_in_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "n=1.npy", np.array([[2, 3]]))
    found = values_of([f"n=@{tmp_path}/n=1.npy"])
    assert list(found) == ["n"]
    assert np.asarray(found["n"]).tolist() == [[2, 3]]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["n"], "does not name an input"),
        (["=3"], "does not name an input"),
        (["n=3", "n=4"], "'n' has two values"),
        (["n=2,x"], "'x' is not a number"),
        (["n=2,,3"], "'' is not a number"),
    ],
)
def test_what_is_not_a_value_is_refused(texts: list[str], said: str) -> None:
    with pytest.raises(click.BadParameter, match=said):
        values_of(texts)


@pytest.fixture
def upscale(folder: Path) -> Path:
    """Write a model whose input ``s`` decides a shape, and inputs for it."""
    model = model_of([make_node("Reshape", ["x", "s"], ["y"])], {"x": (6,)}, ["y"], opset=13)
    model.graph.input.append(make_tensor_value_info("s", TensorProto.INT64, [1]))
    (folder / "r.onnx").write_bytes(model.SerializeToString())
    np.save(folder / "s.npy", np.array([-1]))
    for size in (6, -1):
        np.savez(folder / f"{size}.npz", x=floats(6), s=np.array([size]))
    return folder


@pytest.mark.parametrize(
    "verb",
    [
        ("opt", "r.onnx", "--stop-after", "graph"),
        ("check", "r.onnx"),
        ("bisect", "r.onnx"),
        ("compile", "r.onnx", "-o", "r.irkit"),
        ("report", "r.onnx", "-o", "r.html"),
    ],
    ids=lambda verb: verb[0],
)
@pytest.mark.parametrize("value", ["s=6", "s=6,", "s=@s.npy"])
def test_a_verb_takes_the_values_of_inputs(
    upscale: Path, capsys: pytest.CaptureFixture[str], verb: tuple[str, ...], value: str
) -> None:
    code, out, err = call(capsys, *verb, "--value", value)
    assert code == 0, out + err


def test_a_verb_without_the_value_says_how_to_give_it(
    upscale: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for verb in (("opt",), ("check",), ("compile", "-o", "r.irkit")):
        code, _, err = call(capsys, verb[0], "r.onnx", *verb[1:])
        assert code == 2
        assert "(input 's') decides a shape, but is only known when the model runs" in err
        assert "--value" in err
    assert not Path("r.irkit").exists()


def test_a_package_runs_for_the_values_it_holds(
    upscale: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = ("--inputs", "6.npz", "--inputs", "-1.npz")
    code, out, err = call(capsys, "compile", "r.onnx", "-o", "r.irkit", *samples)
    assert code == 0, err
    assert "  compiled for s = [-1]\n  compiled for s = [6]\n" in out
    for value in ("6", "-1", "6,"):
        code, out, err = call(capsys, "run", "r.irkit", "--random", "--value", f"s={value}")
        assert (code, out[:14]) == (0, "y: float32[6] "), err
    assert call(capsys, "run", "r.irkit", "--random")[0] == 0
    code, _, err = call(capsys, "run", "r.irkit", "--random", "--value", "s=3")
    assert code == 2
    assert "not compiled for s = [3]; it holds:\n  s = [-1]\n  s = [6]\n" in err


def test_a_dimension_is_a_number_or_a_name_with_or_without_a_range() -> None:
    assert shapes_of(["x=batch in 1..64,3", "y=", "a=b=n"]) == {
        "x": ("batch in 1..64", 3),
        "y": (),
        "a=b": ("n",),
    }


@pytest.mark.parametrize("text", ["x=-1", "x=1,,2", "x=n in 5..2", "x=1.5", "=3", "x=a b"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a shape; write it as NAME=1,3,224,224"):
        shapes_of([text])
