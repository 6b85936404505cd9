"""Activations, where the order of their conditions decides."""

import numpy as np
import onnx
from onnx import helper

from irkit.frontend.onnx import import_onnx
from irkit.graph import interpret


def test_below_the_lower_end_comes_first_where_the_ends_of_shrink_are_exchanged() -> None:
    x = np.array([-2, -1, 0, 1, 2], np.float32)
    infos = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, [5]) for n in "xy"]
    node = helper.make_node("Shrink", ["x"], ["y"], lambd=-1.5, bias=1.5)
    graph = helper.make_graph([node], "g", infos[:1], infos[1:])
    mod = import_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 9)]))
    found = interpret(mod.functions["main"], [x])
    # In the words of the standard: x + bias if x < -lambd, x - bias if x > lambd, 0 otherwise.
    np.testing.assert_array_equal(np.asarray(found).ravel(), [-0.5, 0.5, 1.5, 2.5, 0.5])
