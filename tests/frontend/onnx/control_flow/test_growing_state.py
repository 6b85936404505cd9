"""State of a loop that grows, beside the reference of ONNX, and what a full one says."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.helper import make_node, make_tensor_value_info as info
from onnx.reference import ReferenceEvaluator

import irkit
from irkit.codegen import Repeat
from irkit.core import IRKitError
from irkit.frontend.onnx import import_onnx
from irkit.graph import interpret
from tests.frontend.onnx.control_flow.test_control_flow import model

F, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def growing(added: str, axis: int) -> onnx.GraphProto:
    """Append what ``added`` names until the sum is large; ``count`` is a state beside it."""
    nodes = [
        make_node("ReduceSum", ["a", "axes"], ["row"], keepdims=1),
        make_node("Concat", ["a", added], ["next"], axis=axis),
        make_node("ReduceSum", ["next"], ["total"], keepdims=0),
        make_node("Less", ["total", "limit"], ["again"]),
        make_node("Add", ["b", "total"], ["sum"]),
    ]
    ins = [info("i", INT, []), info("c", BOOL, []), info("a", F, None), info("b", F, [])]
    outs = [info("again", BOOL, []), info("next", F, None), info("sum", F, [])]
    axes = onnx.numpy_helper.from_array(np.array([axis], np.int64), "axes")
    return helper.make_graph(nodes, "body", ins, outs, [axes])


def loop_model(added: str, axis: int, most: int | None) -> onnx.ModelProto:
    constants: dict[str, Any] = {"go": np.array(True), "zero": np.float32(0)}
    if most is not None:
        constants["m"] = np.array(most, np.int64)
    inputs = ["m" if most is not None else "", "go", "x", "zero"]
    nodes = [
        make_node("Loop", inputs, ["last", "sum"], body=growing(added, axis), name="grower"),
        make_node("Neg", ["last"], ["y"]),
    ]
    outs = [info("y", F, ["p", "q"]), info("sum", F, [])]
    return model(nodes, [info("x", F, ["n", 3]), info("limit", F, [])], outs, constants)


@pytest.mark.parametrize(
    ("added", "axis", "most"),
    [("row", 0, None), ("row", 0, 40), ("row", 1, 40), ("a", 0, None)],
)
def test_a_state_grows_in_room_for_the_most(added: str, axis: int, most: int | None) -> None:
    proto = loop_model(added, axis, most)
    compiled = irkit.compile(proto, shapes={"x": ("n in 1..9", 3)}, schedule="none")
    reference = ReferenceEvaluator(proto)
    for n in (1, 4):
        x = np.ones((n, 3), np.float32)
        for limit in (0.0, 1000.0):
            feeds = {"x": x, "limit": np.float32(limit)}
            for found, expected in zip(
                compiled.run(feeds).values(), reference.run(None, feeds), strict=True
            ):
                np.testing.assert_array_equal(found, expected)


def test_one_that_makes_all_iterations_has_a_shape_that_is_known() -> None:
    body = growing("row", 0)
    body.node.append(make_node("Or", ["c", "c"], ["on"]))
    del body.output[0]
    body.output.insert(0, info("c", BOOL, []))
    proto = loop_model("row", 0, 40)
    proto.graph.node[0].attribute[0].g.CopyFrom(body)
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 2
    compiled = irkit.compile(proto, schedule="none")
    assert compiled.plan.outputs[0].shape == (42, 3)
    assert any(isinstance(region, Repeat) for region in compiled.plan.regions)
    feeds = {"x": np.full((2, 3), 1e-6, np.float32), "limit": np.float32(0)}
    (expected, _) = ReferenceEvaluator(proto).run(None, feeds)
    np.testing.assert_allclose(compiled.run(feeds)["y"], expected, rtol=1e-5)


def test_one_that_is_full_stops_with_the_loop_and_the_iteration() -> None:
    proto = loop_model("a", 0, None)
    feeds = {"x": np.ones((4, 3), np.float32), "limit": np.float32(1e9)}
    compiled = irkit.compile(proto, shapes={"x": ("n in 1..9", 3)}, schedule="none")
    where = "makes 8192 rows, and has room for 4100: .*, in iteration 11 of loop 'grower'$"
    with pytest.raises(IRKitError, match=where):
        compiled.run(feeds)
    with pytest.raises(IRKitError, match=where):
        compiled.profile(feeds)
    module = import_onnx(proto, shapes={"x": (4, 3)})
    with pytest.raises(IRKitError, match=r"takes 8192 rows .*, in iteration 11 of loop 'grower'$"):
        interpret(module, [feeds["x"], feeds["limit"]])


@pytest.mark.parametrize("first", [True, False])
def test_state_of_the_caller_is_then_undefined_if_it_was_written(first: bool) -> None:
    proto = loop_model("a", 0, None)
    node = make_node("Neg", ["h" if first else "y"], ["after"])
    if first:
        proto.graph.node.insert(0, node)
    else:
        proto.graph.node.extend([make_node("ReduceSum", ["y"], ["s"], keepdims=0),
                                 make_node("Add", ["h", "s"], ["after"])])  # fmt: skip
    proto.graph.input.append(info("h", F, [2]))
    proto.graph.output.append(info("after", F, [2]))
    compiled = irkit.compile(proto, state={"h": "after"}, schedule="none")
    feeds = {"x": np.ones((4, 3), np.float32), "limit": np.float32(1e9), "h": np.ones(2, "f4")}
    with pytest.raises(IRKitError) as raised:
        compiled.run(feeds)
    assert ("what the state h holds now is undefined" in raised.value.message) == first
    assert (feeds["h"] == 1).all() != first
