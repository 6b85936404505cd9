"""Extents that a model computes and no tensor has, up to those that 64 bits do not hold."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.helper import make_node, make_tensor_value_info as info

import irkit
from irkit.core import ShapeError, walk
from irkit.graph import Bind, GraphFunc, parse_module
from irkit.graph.sizes.computed_sizes import ComputedSizes


def test_a_tensor_of_any_computed_extent_is_made_or_the_call_refused() -> None:
    nodes = [
        make_node("Size", ["x"], ["size"]),
        make_node("Unsqueeze", ["size", "front"], ["a"]),
        make_node("Mul", ["a", "a"], ["b"]),
        make_node("Mul", ["b", "a"], ["c"]),
        make_node("ConstantOfShape", ["c"], ["zeros"]),
    ]
    front = onnx.numpy_helper.from_array(np.array([0]), "front")
    x, y = info("x", TensorProto.INT8, ["n"]), info("zeros", TensorProto.FLOAT, ["k"])
    graph = helper.make_graph(nodes, "model", [x], [y], [front])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    compiled = irkit.compile(proto, shapes={"x": ("n",)}, schedule="none", keep_trace=False)
    for n in (0, 1, 3):
        (found,) = compiled.run({"x": np.zeros(n, np.int8)}).values()
        np.testing.assert_array_equal(found, np.zeros(n**3, "f4"))
    with pytest.raises(ShapeError, match=r"with n = 4194304, .* that 64 bits do not hold"):
        compiled.run({"x": np.zeros(1 << 22, np.int8)})


def test_what_a_kernel_reads_is_no_size() -> None:
    module = parse_module("""
def main(x: i64[3]):
    y: i64[()] = call("first", x)
    return y

def first(x: i64[3], y: i64[()]):
    y[()] = x[0]
""")
    main = module["main"]
    assert isinstance(main, GraphFunc)
    (bind,) = walk(main, Bind)
    assert ComputedSizes(main.body, module.functions).scalar(bind.var) is None
