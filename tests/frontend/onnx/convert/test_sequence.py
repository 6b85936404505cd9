"""Sequences and optionals inside a model: what takes a tensor of one gets that tensor."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.helper import make_node

import irkit
from irkit.frontend.onnx import ImportFailed
from tests.frontend.onnx.models import floats, model_of

X = floats(2, 6)


def run(*nodes: onnx.NodeProto, outputs: tuple[str, ...] = ("y",), **constants: Any) -> Any:
    values = {name: np.array(value) for name, value in constants.items()}
    model = model_of(nodes, {"x": (2, 6)}, outputs, opset=18, constants=values)
    found = [*irkit.compile(model).run({"x": X}).values()]
    return found[0] if len(found) == 1 else found


CONSTRUCT = make_node("SequenceConstruct", ["x", "n"], ["s"])
NEG = make_node("Neg", ["x"], ["n"])


@pytest.mark.parametrize(("at", "wanted"), [(0, X), (1, -X), (-1, -X), (-2, X)])
def test_a_tensor_is_taken_by_its_position(at: int, wanted: Any) -> None:
    found = run(NEG, CONSTRUCT, make_node("SequenceAt", ["s", "p"], ["y"]), p=at)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("at", [None, 0, 1, 2, -1])
def test_a_tensor_is_inserted_and_erased(at: int | None) -> None:
    place = {} if at is None else {"p": at}
    insert = make_node("SequenceInsert", ["s", "a", *place], ["t"])
    erase = make_node("SequenceErase", ["t"], ["u"])
    join = make_node("ConcatFromSequence", ["u"], ["y"], axis=0, new_axis=1)
    absolute = make_node("Abs", ["x"], ["a"])
    kept = [X, -X]
    kept.insert(2 if at is None else at, np.abs(X))
    found = run(NEG, CONSTRUCT, absolute, insert, erase, join, **place)
    np.testing.assert_array_equal(found, np.stack(kept[:-1]))


@pytest.mark.parametrize(
    ("split", "sizes"), [(4, [4, 2]), ([1, 2, 3], [1, 2, 3]), (None, [1, 1, 1, 1, 1, 1])]
)
def test_a_tensor_is_split_and_joined(split: Any, sizes: list[int]) -> None:
    given = {} if split is None else {"parts": split}
    nodes = (
        make_node("SplitToSequence", ["x", *given], ["s"], axis=1),
        make_node("SequenceLength", ["s"], ["n"]),
        make_node("SequenceAt", ["s", "one"], ["second"]),
        make_node("ConcatFromSequence", ["s"], ["y"], axis=1),
    )
    count, second, whole = run(*nodes, outputs=("n", "second", "y"), **given, one=1)
    assert count == len(sizes)
    np.testing.assert_array_equal(second, X[:, sizes[0] : sizes[0] + sizes[1]])
    np.testing.assert_array_equal(whole, X)


def test_slices_lose_their_axis_without_keepdims() -> None:
    nodes = (
        make_node("SplitToSequence", ["x"], ["s"], axis=1, keepdims=0),
        make_node("SequenceAt", ["s", "two"], ["y"]),
    )
    np.testing.assert_array_equal(run(*nodes, two=2), X[:, 2])


def test_a_loop_may_collect_a_sequence() -> None:
    body = helper.make_graph(
        [
            make_node("SequenceInsert", ["before", "x"], ["after"]),
            make_node("Identity", ["c"], ["d"]),
        ],
        "body",
        [helper.make_empty_tensor_value_info(name) for name in ("i", "c", "before")],
        [helper.make_empty_tensor_value_info(name) for name in ("d", "after")],
    )
    nodes = (
        make_node("SequenceEmpty", [], ["e"]),
        make_node("Loop", ["three", "", "e"], ["s"], body=body),
        make_node("ConcatFromSequence", ["s"], ["y"], axis=0),
    )
    np.testing.assert_array_equal(run(*nodes, three=3), np.concatenate([X, X, X]))


def test_an_optional_is_what_it_holds() -> None:
    nodes = (
        make_node("Optional", ["x"], ["o"]),
        make_node("OptionalHasElement", ["o"], ["has"]),
        make_node("OptionalHasElement", [""], ["lacks"]),
        make_node("OptionalGetElement", ["o"], ["y"]),
    )
    has, lacks, y = run(*nodes, outputs=("has", "lacks", "y"))
    assert (bool(has), bool(lacks)) == (True, False)
    np.testing.assert_array_equal(y, X)


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        (
            (make_node("SequenceAt", ["s", "p"], ["y"]),),
            "is outside a sequence of 2 tensors",
        ),
        (
            (make_node("SequenceAt", ["x", "p"], ["y"]),),
            r"input 0 \('x'\) is of type float, expected a sequence",
        ),
        ((make_node("Identity", ["s"], ["y"]),), "output 'y' is a sequence; only tensors"),
    ],
)
def test_what_is_not_known_or_not_there_is_refused(
    nodes: tuple[onnx.NodeProto, ...], said: str
) -> None:
    with pytest.raises(ImportFailed, match=said):
        run(NEG, CONSTRUCT, *nodes, p=2)


def test_an_input_may_be_an_optional_tensor() -> None:
    model = model_of([make_node("OptionalGetElement", ["x"], ["y"])], {}, ["y"], opset=18)
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, (2, 6))
    kind = helper.make_optional_type_proto(tensor)
    model.graph.input.append(helper.make_value_info("x", kind))
    np.testing.assert_array_equal(irkit.compile(model).run({"x": X})["y"], X)
