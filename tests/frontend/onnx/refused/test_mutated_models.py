"""Models with some bytes or fields changed compile, or are refused in words."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.helper import make_node

import irkit
from irkit.core import IRKitError
from tests.draws import few_or_all
from tests.frontend.onnx.models import floats, model_of


def small_model() -> onnx.ModelProto:
    """Use many operators on few numbers, so that most bytes mean something."""
    nodes = [
        make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1], dilations=[1, 1], group=1),
        make_node("BatchNormalization", ["c", "b", "b", "b", "v"], ["n"], epsilon=1e-3),
        make_node("MaxPool", ["n"], ["p"], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=0),
        make_node("Concat", ["p", "p"], ["k"], axis=1),
        make_node("LRN", ["k"], ["l"], size=3, alpha=0.1),
        make_node("Transpose", ["l"], ["t"], perm=[0, 2, 3, 1]),
        make_node("Reshape", ["t", "shape"], ["f"]),
        make_node("ConstantOfShape", ["ones"], ["g"], value=numpy_helper.from_array(floats(1))),
        make_node("Gemm", ["f", "g"], ["y0"], alpha=0.5, transB=1),
        make_node("Dropout", ["y0"], ["y1", "mask"]),
        make_node("Softmax", ["y1"], ["y"], axis=-1),
    ]
    constants = {
        "w": floats(1, 1, 2, 2), "b": floats(1, seed=1), "v": np.abs(floats(1, seed=2)),
        "shape": np.array([1, -1]), "ones": np.array([3, 8]),
    }  # fmt: skip
    return model_of(nodes, {"x": (1, 1, 3, 3)}, ["y"], opset=13, constants=constants)


NUMBERS = (0, -1, 1, 2, 3, 7, 1 << 31, 1 << 40, 1 << 62, -(1 << 63), (1 << 63) - 1)


def with_other_bytes(rng: np.random.Generator) -> bytes:
    data = bytearray(small_model().SerializeToString())
    for _ in range(int(rng.integers(1, 3))):
        at = int(rng.integers(len(data)))
        match int(rng.integers(3)):
            case 0:
                data[at] = int(rng.integers(256))
            case 1:
                data[at] ^= 1 << int(rng.integers(8))
            case _:
                del data[at : at + int(rng.integers(1, 4))]
    return bytes(data)


def with_other_fields(rng: np.random.Generator) -> bytes:
    """Change the model and not its encoding, which hides most changed bytes from the importer."""
    model = small_model()
    graph = model.graph

    def any_of(items: Any) -> Any:
        return items[int(rng.integers(len(items)))]

    node = any_of(graph.node)
    match int(rng.integers(8)):
        case 0 | 1 if node.attribute:
            attr = any_of(node.attribute)
            if attr.ints:
                attr.ints[int(rng.integers(len(attr.ints)))] = any_of(NUMBERS)
            attr.i, attr.f = any_of(NUMBERS), any_of([0.0, float("nan"), float("inf"), -1e30])
        case 2 if node.attribute:
            any_of(node.attribute).type = int(rng.integers(12))
        case 3:
            names = any_of([node.input, node.output])
            names[int(rng.integers(len(names)))] = any_of(["", "x", "c", "w", "y", "shape"])
        case 4:
            node.CopyFrom(any_of(graph.node))
        case 5:
            array = np.array([any_of(NUMBERS) for _ in range(int(rng.integers(1, 4)))])
            at = any_of([3, 4])
            graph.initializer[at].CopyFrom(
                numpy_helper.from_array(array, graph.initializer[at].name)
            )
        case 6:
            any_of(graph.input[0].type.tensor_type.shape.dim).dim_value = any_of(NUMBERS)
        case _:
            any_of(graph.initializer).data_type = int(rng.integers(26))
            node.op_type = any_of(graph.node).op_type
    return model.SerializeToString()


@pytest.mark.parametrize("mutate", [with_other_bytes, with_other_fields])
def test_a_mutated_model_compiles_or_is_refused(
    mutate: Callable[[np.random.Generator], bytes],
) -> None:
    compiled = 0
    count = few_or_all(50, 200)
    for seed in range(count):
        data = mutate(np.random.default_rng(seed))
        try:
            model = irkit.compile(data, verify=False)
        except IRKitError:
            continue
        except Exception as error:
            raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}") from error
        compiled += 1
        try:
            model.run({"x": floats(1, 1, 3, 3)})
        except IRKitError:
            continue  # A mutation changed the inputs.
    assert count // 40 <= compiled <= count * 3 // 4


def test_the_model_that_is_mutated_works() -> None:
    x = floats(1, 1, 3, 3)
    (got,) = irkit.compile(small_model()).run({"x": x}).values()
    assert got.shape == (1, 3)
    np.testing.assert_allclose(got.sum(), 1.0, rtol=1e-6)
