"""Errors in the encoding of a model are located."""

import numpy as np
import onnx
import pytest
from onnx.helper import make_node

from irkit.core import FormatError
from irkit.frontend.onnx import ImportFailed, import_onnx, load_model
from tests.frontend.onnx.models import model_of

DATA = model_of(
    [make_node("Relu", ["x"], ["a"]), make_node("Concat", ["a"], ["y"], axis=0)],
    {"x": (2, 3)},
    ["y"],
    opset=13,
).SerializeToString()


def refused(data: bytes) -> str:
    with pytest.raises(FormatError) as caught:
        load_model(data)
    return str(caught.value)


def test_the_error_of_a_truncated_file_names_the_byte_and_the_field() -> None:
    text = refused(DATA[: DATA.index(b"Relu") + 2])
    assert "cannot be read as an ONNX model at byte " in text
    assert "in the model: field 'graph' should have" in text


def test_an_error_inside_a_node_is_located_there() -> None:
    at = DATA.index(b"\x22\x06Concat")
    broken = DATA[: at + 1] + b"\x60" + DATA[at + 2 :]
    assert f"at byte {at + 2}, in graph.node[1]: field 'op_type' should have 96 bytes" in refused(
        broken
    )


@pytest.mark.parametrize(
    ("data", "claim"),
    [
        (b"\x07", "at byte 0, in the model: 7 is not the tag of a field"),
        (b"\x08", "ends inside a number"),
        (b"\x08" + b"\xff" * 10 + b"\1", "more than ten bytes"),
        (b"\x0b", "a group"),
        (b"\x0d\0", "ends inside a number"),
        (b"\x7a\x05a", "field 15 should have 5 bytes, but 1 follow"),
    ],
)
def test_the_error_of_an_invalid_encoding_names_the_cause(data: bytes, claim: str) -> None:
    assert claim in refused(data)


def test_graphs_nested_too_deeply_are_refused() -> None:
    data = b""
    for at in range(399):
        tag = (b"\x32", b"\x2a", b"\x0a")[at % 3]
        size = len(data)
        data = tag + onnx.TensorProto(dims=[size]).SerializeToString()[1:] + data
    size = len(data)
    assert "nested more than 100 deep" in refused(
        b"\x3a" + onnx.TensorProto(dims=[size]).SerializeToString()[1:] + data
    )


def test_very_many_inputs_of_a_node_are_refused_before_they_take_minutes() -> None:
    model = model_of(
        [make_node("Concat", ["x"] * 4_000, ["y"], axis=0)], {"x": (2, 3)}, ["y"], opset=13
    )
    with pytest.raises(ImportFailed, match="has 4000 inputs; up to 512"):
        import_onnx(model)


def test_an_error_does_not_quote_a_name_without_end() -> None:
    model = model_of([make_node("Relu", ["n" * 1_000_000], ["y"])], {"x": (2, 3)}, ["y"], opset=13)
    with pytest.raises(ImportFailed, match="characters left out") as caught:
        import_onnx(model)
    assert len(str(caught.value)) < 20_000


def test_a_bound_that_is_not_a_single_number_is_refused() -> None:
    bound = np.ones((1, 1), np.float32)
    node = make_node("Clip", ["x", "low"], ["y"])
    model = model_of([node], {"x": (2, 3)}, ["y"], opset=13, constants={"low": bound})
    with pytest.raises(ImportFailed, match="bound 'low' has rank 2; expected one number"):
        import_onnx(model)
