"""A wrong ONNX model shrinks to the wrong node, and stays a valid model."""

from typing import Any

import msgspec
import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from irkit.debug import NO_SCHEDULE, InputSet
from irkit.frontend.onnx import convert
from irkit.fuzz.generators import Unusable
from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.generators.onnx_models.model_samples import draw_model, model_results
from irkit.fuzz.generators.sample import Sample
from irkit.fuzz.judge import judge
from irkit.fuzz.picks import picks_of
from irkit.fuzz.shrink.make_small import make_small
from irkit.fuzz.shrink.models import smaller_models
from irkit.phases import GRAPH
from tests.draws import sampled

FLOAT, BOOL = TensorProto.FLOAT, TensorProto.BOOL


def floats(numbers: Any) -> NDArray[np.float32]:
    return np.asarray(numbers, np.float32)


def info(name: str, *shape: int, kind: int = FLOAT) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def sample_of(
    nodes: list[Any], inputs: list[Any], outputs: list[Any], *args: Any, opset: int = 15
) -> Sample:
    weights = [numpy_helper.from_array(floats([[1, -2], [3, 4]]), "w")]
    graph = helper.make_graph(nodes, "main", inputs, outputs, weights)
    imports = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    arrays = dict(zip((each.name for each in inputs), args, strict=True))
    expected, allowed = model_results(model, arrays, whole=True)
    given = (InputSet("whole", "whole numbers", args),)
    data = model.SerializeToString()
    return Sample("onnx", data, GRAPH, NO_SCHEDULE, given, (expected,), (allowed,))


def model_of(sample: Sample) -> onnx.ModelProto:
    assert isinstance(sample.ir, bytes)
    return onnx.load_model_from_string(sample.ir)


def drawn(number: int) -> Sample:
    """Draw a model of this number, or of the next one that gives one."""
    while True:
        try:
            return draw_model(picks_of(number))
        except Unusable:
            number += 8


def test_a_damaged_model_has_no_smaller_ones() -> None:
    sample = msgspec.structs.replace(drawn(0), damaged=True, inputs=(), expected=(), allowed=())
    assert smaller_models(sample) == []


def parts_of(sample: Sample) -> list[Sample]:
    """Return the models with one part less."""
    return [made for move in smaller_models(sample) if (made := move(sample)) is not None]


@pytest.mark.parametrize("number", sampled(range(8), every=3))
def test_every_part_of_a_right_model_is_right(number: int) -> None:
    sample = drawn(number)
    nodes = len(model_of(sample).graph.node)
    for made in parts_of(sample):
        assert judge(made, native=False).ok
        assert len(model_of(made).graph.node) <= nodes


def test_a_wrong_model_shrinks_to_the_wrong_node(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = [
        helper.make_node("Constant", [], ["k"], value=numpy_helper.from_array(floats([2]))),
        helper.make_node("Mul", ["x", "k"], ["a"]),
        helper.make_node("Gemm", ["a", "w"], ["b"], transB=1, alpha=2.0),
        helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("Add", ["c", "a"], ["d"]),
        helper.make_node("Sub", ["d", "k"], ["e"]),
    ]
    x = floats([[1, 2], [-3, 1]])
    outputs = [info("c", 2, 2), info("e", 2, 2)]
    sample = sample_of(nodes, [info("x", 2, 2)], outputs, x, opset=13)
    assert judge(sample).ok
    monkeypatch.setitem(convert.CONVERTERS, "Relu", lambda node: node.input(0))
    small = make_small(sample, judge(sample), judge)
    (node,) = model_of(small.sample).graph.node
    assert node.op_type == "Relu"
    assert small.size.stages == 1
    assert small.size.passes == 0
    assert not judge(small.sample).ok
    monkeypatch.undo()
    assert judge(small.sample).ok


def test_a_constant_that_a_node_needs_is_never_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = numpy_helper.from_array(np.asarray([4], np.int64))
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Constant", [], ["four"], value=shape),
        helper.make_node("Reshape", ["a", "four"], ["b"]),
        helper.make_node("Relu", ["b"], ["c"]),
    ]
    sample = sample_of(nodes, [info("x", 2, 2)], [info("c", 4)], floats([[1, 2], [-3, 1]]))
    monkeypatch.setitem(
        convert.CONVERTERS, "Reshape", lambda node: node.op("full", shape=(4,), value=7)
    )
    small = make_small(sample, judge(sample), judge)
    model = model_of(small.sample)
    assert [node.op_type for node in model.graph.node] == ["Reshape"]
    assert [each.name for each in model.graph.initializer] == ["four"]


def test_values_read_inside_of_branches_are_kept() -> None:
    then = helper.make_graph([helper.make_node("Neg", ["a"], ["t"])], "then", [], [info("t", 2)])
    other = helper.make_graph([helper.make_node("Abs", ["b"], ["o"])], "other", [], [info("o", 2)])
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Neg", ["x"], ["b"]),
        helper.make_node("If", ["cond"], ["c"], then_branch=then, else_branch=other),
        helper.make_node("Neg", ["c"], ["d"]),
    ]
    inputs = [info("x", 2), info("cond", kind=BOOL)]
    sample = sample_of(nodes, inputs, [info("d", 2)], floats([1, -2]), np.array(True))
    seen = 0
    for made in parts_of(sample):
        graph = model_of(made).graph
        onnx.checker.check_model(model_of(made), full_check=True)  # pyright: ignore[reportUnknownMemberType]
        if [node.op_type for node in graph.node] == ["If"]:
            names = {each.name for each in graph.input}
            assert names == {"a", "b", "cond"}
            assert made.expected[0] is not None
            assert made.expected[0][0].tolist() == [-1, 0]
        seen += "If" in [node.op_type for node in graph.node]
    assert seen > 1


def test_bytes_that_are_not_a_model_have_no_parts() -> None:
    sample = draw_sample("onnx", picks_of(0))
    damaged = msgspec.structs.replace(sample, ir=b"\xff\xfe")
    assert smaller_models(damaged) == []
