"""Element types that the suite's node cases leave out, tensors without elements, and outputs that
nothing computes."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from numpy.typing import DTypeLike, NDArray
from onnx import helper, numpy_helper
from onnx.helper import make_node

import irkit
from irkit.fuzz.generators.reference.onnx_reference import reference_outputs
from tests.draws import sampled
from tests.frontend.onnx.models import floats, model_of

F16, F64, BF16 = np.dtype(np.float16), np.dtype(np.float64), np.dtype(ml_dtypes.bfloat16)


def of_type(dtype: np.dtype[Any]) -> int:
    return int(helper.np_dtype_to_tensor_dtype(dtype))


def network(dtype: np.dtype[Any]) -> onnx.ModelProto:
    """Use every operator that takes floats; each weight is a number that the type holds."""
    nodes = [
        make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1]),
        make_node("BatchNormalization", ["c", "pos", "b", "b", "pos"], ["n"]),
        make_node("LRN", ["n"], ["l"], size=3, alpha=0.1),
        make_node("Sigmoid", ["l"], ["s"]),
        make_node("MaxPool", ["s"], ["m"], kernel_shape=[2, 2], strides=[2, 2]),
        make_node("AveragePool", ["s"], ["a"], kernel_shape=[2, 2], strides=[2, 2]),
        make_node("Sub", ["m", "a"], ["d"]),
        make_node("Tanh", ["d"], ["t"]),
        make_node("Concat", ["m", "t"], ["k"], axis=1),
        make_node("GlobalAveragePool", ["k"], ["p"]),
        make_node("Flatten", ["p"], ["f"]),
        make_node("Gemm", ["f", "g", "h"], ["e"], alpha=0.5),
        make_node("Div", ["e", "pos"], ["q"]),
        make_node("Clip", ["q", "low"], ["r"]),
        make_node("Softmax", ["r"], ["y"]),
    ]
    constants = {
        "w": floats(4, 2, 3, 3) / 4, "b": floats(4, seed=1), "pos": np.abs(floats(4, seed=2)) + 1,
        "g": floats(8, 4, seed=3), "h": floats(4, seed=4), "low": np.float32(-0.25),
    }  # fmt: skip
    held = {name: np.asarray(array).astype(dtype) for name, array in constants.items()}
    return model_of(nodes, {"x": (1, 2, 6, 6)}, ["y", "k", "e"], opset=14, constants=held,
                    dtype=of_type(dtype))  # fmt: skip


def as_f32(model: onnx.ModelProto) -> onnx.ModelProto:
    made = onnx.ModelProto()
    made.CopyFrom(model)
    made.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    for tensor in made.graph.initializer:
        array = numpy_helper.to_array(tensor).astype(np.float32)
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    return made


# Each value is rounded to the type a few times on its way: some units in the last place.
@pytest.mark.parametrize(
    ("dtype", "bound"), sampled([(F16, 5e-3), (BF16, 4e-2), (F64, 1e-6)], every=2)
)
def test_a_network_of_any_float_type_agrees_with_the_reference(
    dtype: np.dtype[Any], bound: float
) -> None:
    model = network(dtype)
    x = floats(1, 2, 6, 6, seed=5).astype(dtype)
    got = irkit.compile(model, verify=True).run({"x": x})
    want = reference_outputs(as_f32(model), {"x": x.astype(np.float32)})
    for name, array in want.items():
        assert got[name].dtype == dtype
        np.testing.assert_allclose(got[name].astype(np.float64), array, rtol=bound, atol=bound)


def run(node: onnx.NodeProto, **feeds: NDArray[Any]) -> NDArray[Any]:
    graph = helper.make_graph(
        [node],
        "graph",
        [
            helper.make_tensor_value_info(name, of_type(array.dtype), array.shape)
            for name, array in feeds.items()
        ],
        [helper.make_empty_tensor_value_info("y")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8)
    return irkit.compile(model).run(feeds)["y"]


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint32, np.uint64])
def test_products_of_integer_matrices_wrap_around(dtype: DTypeLike) -> None:
    info = np.iinfo(dtype)
    rng = np.random.default_rng(0)
    a = rng.integers(info.min, info.max, (3, 20), dtype=dtype)
    b = rng.integers(info.min, info.max, (20, 17), dtype=dtype)
    np.testing.assert_array_equal(run(make_node("MatMul", ["a", "b"], ["y"]), a=a, b=b), a @ b)
    node = make_node("Gemm", ["a", "b"], ["y"], transB=1)
    np.testing.assert_array_equal(run(node, a=a, b=b.T.copy()), a @ b)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
def test_quotients_of_integers_round_toward_zero(dtype: DTypeLike) -> None:
    a, b = np.array([-7, 7, -8, 5, 0], dtype), np.array([2, -2, 3, -3, 4], dtype)
    got = run(make_node("Div", ["a", "b"], ["y"]), a=a, b=b)
    np.testing.assert_array_equal(got, np.array([-3, -3, -2, -1, 0], dtype))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_pools_of_bytes_pad_with_less_than_everything(dtype: DTypeLike) -> None:
    x = np.full((1, 1, 2, 2), np.iinfo(dtype).min, dtype)
    node = make_node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], pads=[1, 1, 1, 1])
    np.testing.assert_array_equal(run(node, x=x), np.full((1, 1, 3, 3), np.iinfo(dtype).min))


def test_nan_goes_through_pools_and_activations() -> None:
    x = np.array([[[1, np.nan, 2, 3]]], np.float32)
    pooled = run(make_node("MaxPool", ["x"], ["y"], kernel_shape=[2]), x=x)
    np.testing.assert_array_equal(pooled, [[[np.nan, np.nan, 3]]])
    np.testing.assert_array_equal(run(make_node("Relu", ["x"], ["y"]), x=x), x)
    np.testing.assert_array_equal(run(make_node("Clip", ["x"], ["y"]), x=x), x)


EMPTY: list[tuple[onnx.NodeProto, tuple[tuple[int, ...], ...], Callable[..., NDArray[Any]]]] = [
    (make_node("Tanh", ["a"], ["y"]), ((0, 3),), np.tanh),
    (make_node("Tanh", ["a"], ["y"]), ((),), np.tanh),
    (make_node("Add", ["a", "b"], ["y"]), ((2, 0), (1,)), np.add),
    (make_node("MatMul", ["a", "b"], ["y"]), ((2, 0), (0, 3)), np.matmul),
    (make_node("Softmax", ["a"], ["y"]), ((2, 0),), np.tanh),
    (make_node("Concat", ["a", "b"], ["y"], axis=1), ((2, 0), (2, 3)),
     lambda a, b: np.concatenate([a, b], axis=1)),
    (make_node("Flatten", ["a"], ["y"]), ((3, 0, 2),), lambda a: a.reshape(3, 0)),
]  # fmt: skip


@pytest.mark.parametrize(("node", "shapes", "want"), EMPTY)
def test_tensors_without_elements_or_axes_are_tensors(
    node: onnx.NodeProto, shapes: tuple[tuple[int, ...], ...], want: Callable[..., NDArray[Any]]
) -> None:
    arrays = [np.ones(shape, np.float32) for shape in shapes]
    got = run(node, **dict(zip("ab", arrays, strict=False)))
    expected = want(*arrays)
    assert got.shape == np.shape(expected)
    np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_outputs_may_be_inputs_weights_and_one_value_under_several_names() -> None:
    nodes = [
        make_node("Identity", ["x"], ["a"]),
        make_node("Identity", ["a"], ["b"]),
        make_node("Relu", ["b"], ["c"]),
        make_node("Identity", ["c"], ["d"]),
    ]
    w = floats(2, seed=1)
    names = ["a", "x", "w", "d", "c", "b"]
    model = model_of(nodes, {"x": (2, 3)}, names, opset=13, constants={"w": w})
    x = floats(2, 3)
    got = irkit.compile(model).run({"x": x})
    assert list(got) == names
    for name in "axb":
        np.testing.assert_array_equal(got[name], x)
        assert not np.shares_memory(got[name], x)
    for name in "cd":
        np.testing.assert_array_equal(got[name], np.maximum(x, 0))
    np.testing.assert_array_equal(got["w"], w)
    got["w"][:] = 0
    np.testing.assert_array_equal(irkit.compile(model).run({"x": x})["w"], w)


def test_a_model_without_nodes_gives_back_its_input() -> None:
    x = floats(2, 3)
    model = model_of([], {"x": (2, 3)}, ["x"], opset=13)
    np.testing.assert_array_equal(irkit.compile(model).run({"x": x})["x"], x)
