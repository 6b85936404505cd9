"""Choices between results of different shapes and TopK of any number, as one program, beside the
reference of ONNX."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.helper import make_node, make_tensor_value_info as info
from onnx.reference import ReferenceEvaluator

import irkit
from irkit.core import IRKitError
from irkit.runtime import Model
from tests.frontend.onnx.control_flow.test_control_flow import model

F, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
SIZES = (1, 9)


def side(nodes: list[Any], out: str, **constants: Any) -> onnx.GraphProto:
    made = [onnx.numpy_helper.from_array(np.array(a), n) for n, a in constants.items()]
    return helper.make_graph(nodes, out, [], [info(out, F, ["a", "b"])], made)


WIDE = side([make_node("Concat", ["x", "x"], ["t"], axis=1)], "t")
FIRST_ROW = side([make_node("Slice", ["x", "s", "e"], ["o"])], "o", s=[0], e=[1])
PLACES = side(
    [make_node("NonZero", ["x"], ["nz"]), make_node("Cast", ["nz"], ["t"], to=F)], "t"
)  # [2, k]: neither extent is x's


def choosing(then: onnx.GraphProto, otherwise: onnx.GraphProto) -> onnx.ModelProto:
    nodes = [
        make_node("If", ["c"], ["y"], then_branch=then, else_branch=otherwise),
        make_node("Neg", ["y"], ["z"]),
    ]
    inputs = [info("c", BOOL, []), info("x", F, ["n", 4])]
    return model(nodes, inputs, [info("z", F, ["a", "b"])])


def agree(compiled: Model, proto: onnx.ModelProto, feeds: dict[str, Any]) -> None:
    expected = ReferenceEvaluator(proto).run(None, feeds)
    for found, wanted in zip(compiled.run(feeds).values(), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("then", [WIDE, PLACES])
def test_a_choice_between_different_shapes_is_one_program(then: onnx.GraphProto) -> None:
    proto = choosing(then, FIRST_ROW)
    compiled = irkit.compile(proto, shapes={"x": ("n in 1..9", 4)}, schedule="none")
    assert len(compiled.plan.measured) >= 2
    for n in SIZES:
        x = np.maximum(np.random.default_rng(n).standard_normal((n, 4)), 0).astype("f4")
        for c in (True, False):
            agree(compiled, proto, {"c": np.array(c), "x": x})


def test_it_is_one_program_too_where_the_caller_names_no_dimension() -> None:
    proto = choosing(WIDE, FIRST_ROW)
    proto.graph.input[1].type.tensor_type.shape.dim[0].dim_value = 3
    compiled = irkit.compile(proto, schedule="none")
    assert compiled.plan.measured
    x = np.arange(12, dtype="f4").reshape(3, 4)
    for c in (True, False):
        agree(compiled, proto, {"c": np.array(c), "x": x})


def test_sides_of_different_ranks_are_decided_at_the_call() -> None:
    flat = side([make_node("Reshape", ["x", "s"], ["o"])], "o", s=[-1])
    proto = choosing(WIDE, flat)
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    compiled = irkit.compile(proto, schedule="none")
    for c in (True, False):
        agree(compiled, proto, {"c": np.array(c), "x": np.ones((2, 4), "f4")})


def ranking(axis: int, largest: int, k: int | None) -> onnx.ModelProto:
    node = make_node("TopK", ["x", "k"], ["v", "i"], axis=axis, largest=largest)
    inputs = [info("x", F, ["n", 5, 2]), *([] if k is not None else [info("k", INT, [1])])]
    outputs = [info("v", F, ["a", "b", "c"]), info("i", INT, ["a", "b", "c"])]
    return model([node], inputs, outputs, {} if k is None else {"k": np.array([k])})


@pytest.mark.parametrize(("axis", "largest"), [(1, 1), (0, 0)])
def test_top_k_of_a_number_that_is_an_input(axis: int, largest: int) -> None:
    proto = ranking(axis, largest, None)
    compiled = irkit.compile(proto, shapes={"x": ("n in 1..9", 5, 2)}, schedule="none")
    random = np.random.default_rng(0)
    for n in SIZES:
        x = random.integers(0, 3, (n, 5, 2)).astype("f4")  # With ties.
        for k in {0, 1, x.shape[axis]}:
            agree(compiled, proto, {"x": x, "k": np.array([k])})
    with pytest.raises(IRKitError, match=r"makes 10 rows, and has room for"):
        compiled.run({"x": x, "k": np.array([10])})


def test_top_k_of_a_number_along_an_open_axis() -> None:
    proto = ranking(0, 1, 3)
    compiled = irkit.compile(proto, shapes={"x": ("n in 1..9", 5, 2)}, schedule="none")
    x = np.random.default_rng(0).standard_normal((9, 5, 2)).astype("f4")
    x[4, :, 0] = np.nan  # The largest, which the reference does not say.
    values, places = compiled.run({"x": x}).values()
    order = np.argsort(-np.where(np.isnan(x), np.inf, x), axis=0, kind="stable")[:3]
    np.testing.assert_array_equal(places, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, 0))
    with pytest.raises(IRKitError, match="fewer elements than TopK is to return"):
        compiled.run({"x": x[:2]})
