"""Extents that a model computes and no tensor has, up to those that 64 bits do not hold."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.helper import make_node, make_tensor_value_info as info

import irkit
from irkit.core import ShapeError, walk
from irkit.frontend.onnx import import_onnx
from irkit.graph import Bind, GraphFunc, arrays_of, interpret, parse_module
from irkit.graph.sizes.computed_sizes import ComputedSizes


def test_a_tensor_of_any_computed_extent_is_made_or_the_call_refused() -> None:
    nodes = [
        make_node("Shape", ["x"], ["shape"]),
        make_node("ReduceProd", ["shape"], ["size"], keepdims=0),
        make_node("Unsqueeze", ["size", "front"], ["a"]),
        make_node("Mul", ["a", "a"], ["b"]),
        make_node("Mul", ["b", "a"], ["c"]),
        make_node("ConstantOfShape", ["c"], ["zeros"]),
    ]
    front = onnx.numpy_helper.from_array(np.array([0]), "front")
    x, y = info("x", TensorProto.INT8, ["n", 2]), info("zeros", TensorProto.FLOAT, ["k"])
    graph = helper.make_graph(nodes, "model", [x], [y], [front])
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    compiled = irkit.compile(proto, shapes={"x": ("n", 2)}, schedule="none", keep_trace=False)
    for n in (0, 1, 3):
        (found,) = compiled.run({"x": np.zeros((n, 2), np.int8)}).values()
        np.testing.assert_array_equal(found, np.zeros((2 * n) ** 3, "f4"))
    with pytest.raises(ShapeError, match=r"with n = 2097152, .* that 64 bits do not hold"):
        compiled.run({"x": np.zeros((1 << 21, 2), np.int8)})


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


def test_repeats_and_running_sums_of_open_axes_are_those_of_numpy() -> None:
    def numbers(name: str, *values: int) -> onnx.TensorProto:
        return onnx.numpy_helper.from_array(np.array(values), name)

    nodes = [
        make_node("CumSum", ["x", "one"], ["sums"]),
        make_node("CumSum", ["x", "one"], ["after"], reverse=1, exclusive=1),
        make_node("Tile", ["x", "twice"], ["tiles"]),
        make_node("Shape", ["x"], ["shape"]),
        make_node("Tile", ["x", "shape"], ["many"]),
    ]
    x = info("x", TensorProto.FLOAT, ["b", "n"])
    names = ("sums", "after", "tiles", "many")
    outputs = [info(name, TensorProto.FLOAT, [None, None]) for name in names]
    constants = [numbers("one", 1), numbers("twice", 2, 3)]
    graph = helper.make_graph(nodes, "model", [x], outputs, constants)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    module = import_onnx(proto, shapes={"x": ("b", "n in 0..9")})
    for shape in ((2, 9), (1, 1), (3, 4)):
        rows = np.random.default_rng(0).integers(-9, 9, shape).astype("f4")
        sums = rows.cumsum(1)
        wanted = (sums, rows.sum(1, keepdims=True) - sums, np.tile(rows, (2, 3)))
        found = arrays_of(interpret(module, [rows]))
        for one, other in zip(found, (*wanted, np.tile(rows, shape)), strict=True):
            np.testing.assert_array_equal(one, other)
