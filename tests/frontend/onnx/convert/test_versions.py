"""What operators took as attributes became inputs, and defaults changed: each version against
NumPy."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx.helper import make_node

import irkit
from tests.frontend.onnx.models import floats, model_of

X = floats(2, 3, 4)
S = {"axes": np.array([0, 2]), "none": np.array([], np.int64)}


def node(operator: str, *inputs: str, outputs: int = 1, **attrs: Any) -> onnx.NodeProto:
    return make_node(operator, ["x", *inputs], [f"y{at}" for at in range(outputs)], **attrs)


def results(
    made: onnx.NodeProto, opset: int, x: NDArray[Any] = X, **constants: Any
) -> list[NDArray[Any]]:
    model = model_of([made], {"x": x.shape}, list(made.output), opset=opset, constants=constants)
    return list(irkit.compile(model).run({"x": x}).values())


Case = tuple[onnx.NodeProto, int, Mapping[str, Any], Any]
CASES: dict[str, Case] = {
    "axes of ReduceSum are an attribute": (
        node("ReduceSum", axes=[0, 2]), 11, {}, X.sum((0, 2), keepdims=True)),
    "axes of ReduceSum are an input": (
        node("ReduceSum", "a", keepdims=0), 13, {"a": S["axes"]}, X.sum((0, 2))),
    "axes of ReduceMean are an attribute until 17": (
        node("ReduceMean", axes=[-1], keepdims=0), 17, {}, X.mean(-1)),
    "axes of ReduceMean are an input from 18": (
        node("ReduceMean", "a"), 18, {"a": S["axes"]}, X.mean((0, 2), keepdims=True)),
    "without axes all are reduced": (node("ReduceMax", keepdims=0), 13, {}, X.max()),
    "empty axes can mean none": (
        node("ReduceSum", "a", noop_with_empty_axes=1), 13, {"a": S["none"]}, X),
    "empty axes leave the squares of ReduceSumSquare": (
        node("ReduceSumSquare", "a", noop_with_empty_axes=1), 18, {"a": S["none"]}, X * X),
    "ReduceLogSumExp does not overflow": (
        node("ReduceLogSumExp", axes=[2], keepdims=0), 13, {}, np.log(np.exp(X).sum(2))),
    "bounds of Slice are attributes": (
        node("Slice", starts=[1, -3], ends=[2, 1 << 40], axes=[1, 2]), 9, {}, X[:, 1:2, -3:]),
    "bounds of Slice are inputs": (
        node("Slice", "s", "e", "a", "t"), 13,
        {"s": np.array([-1]), "e": np.array([-(1 << 62)]), "a": np.array([2]), "t": np.array([-2])},
        X[:, :, ::-2]),
    "parts of Split are an attribute": (
        node("Split", axis=2, split=[1, 3], outputs=2), 11, {}, [X[:, :, :1], X[:, :, 1:]]),
    "parts of Split are an input": (
        node("Split", "p", axis=2, outputs=2), 13, {"p": np.array([3, 1])},
        [X[:, :, :3], X[:, :, 3:]]),
    "the last part of Split may be smaller": (
        node("Split", axis=1, num_outputs=2, outputs=2), 18, {}, [X[:, :2], X[:, 2:]]),
    "widths of Pad are an attribute": (
        node("Pad", pads=[0, 0, 1, 0, 0, 2], value=7.0), 10, {},
        np.pad(X, ((0, 0), (0, 0), (1, 2)), constant_values=7)),
    "Pad names axes, and cuts": (
        node("Pad", "p", "", "a"), 18, {"p": np.array([-1, 2]), "a": np.array([-1])},
        np.pad(X[:, :, 1:], ((0, 0), (0, 0), (0, 2)))),
    "Pad reflects": (
        node("Pad", "p", mode="reflect"), 13, {"p": np.array([0, 2, 0, 0, 1, 3])},
        np.pad(X, ((0, 0), (2, 1), (0, 3)), mode="reflect")),
    "Pad wraps": (
        node("Pad", "p", mode="wrap"), 19, {"p": np.array([0, 2, 0, 0, 1, 3])},
        np.pad(X, ((0, 0), (2, 1), (0, 3)), mode="wrap")),
    "the defaults of Selu had fewer digits": (
        node("Selu"), 1, {}, np.where(X > 0, X, 1.6732 * np.expm1(X)) * 1.0507),
    "the slope of PRelu is one a channel": (
        node("PRelu", "s"), 6, {"s": np.array([1, 2, 3], np.float32)},
        np.where(X < 0, X * np.array([1, 2, 3], np.float32)[:, None], X)),
    "the type of Cast is a name": (node("Cast", to="INT32"), 1, {}, X.astype(np.int32)),
    "Pow broadcasts from an axis on": (
        node("Pow", "p", broadcast=1, axis=0), 1, {"p": np.array([2, 3], np.float32)},
        X ** np.array([2, 3], np.float32)[:, None, None]),
    "the exponent of Pow has a type of its own": (
        node("Pow", "p"), 15, {"p": np.array(3)}, X**3),
    "k of TopK is an attribute": (
        node("TopK", k=2, outputs=2), 9, {},
        [-np.sort(-X, -1)[..., :2], np.argsort(-X, -1)[..., :2]]),
    "LogSoftmax flattens before version 13": (
        node("LogSoftmax"), 11, {},
        X - np.log(np.exp(X).sum((1, 2), keepdims=True))),
    "Hardmax has one axis from version 13 on": (
        node("Hardmax", axis=1), 13, {},
        (np.arange(3)[:, None] == X.argmax(1)[:, None]).astype(np.float32)),
    "the first of equal elements is that of ArgMax": (
        node("ArgMax", axis=1, keepdims=0), 11, {}, X.argmax(1)),
    "scales of Upsample are an attribute": (
        node("Upsample", scales=[1.0, 2.0, 3.0]), 7, {}, X.repeat(2, 1).repeat(3, 2)),
    "Mean takes any number of tensors": (
        node("Mean", "x", "c"), 8, {"c": X[:1]}, (X + X + X[:1]) / 3),
    "IsInf can ask for one sign": (
        node("IsInf", detect_negative=0), 10, {}, np.isinf(X)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_an_operator_means_what_its_version_says(name: str) -> None:
    made, opset, constants, want = CASES[name]
    found = results(made, opset, **constants)
    expected = want if isinstance(want, list) else [want]
    for got, each in zip(found, expected, strict=True):
        assert got.shape == np.shape(each)
        np.testing.assert_allclose(got, each, rtol=2e-5, atol=1e-5)


def test_the_last_of_equal_elements_can_be_asked_for() -> None:
    x = np.array([[1, 3, 3, 0], [2, 2, 2, 2]], np.float32)
    made = node("ArgMax", axis=1, keepdims=0, select_last_index=1)
    np.testing.assert_array_equal(results(made, 13, x)[0], [2, 3])
    made = node("ArgMin", axis=1, keepdims=0, select_last_index=1)
    np.testing.assert_array_equal(results(made, 13, x)[0], [3, 3])


def test_infinities_and_nan_are_reduced_and_sorted() -> None:
    x = np.array([[1, np.inf, -np.inf, np.nan]], np.float32)
    values, places = results(node("TopK", "k", outputs=2), 11, x, k=np.array([4]))
    np.testing.assert_array_equal(places, [[3, 1, 0, 2]])
    np.testing.assert_array_equal(values, x[:, [3, 1, 0, 2]])
    low = np.full((1, 3), -np.inf, np.float32)
    (got,) = results(node("ReduceLogSumExp", axes=[1], keepdims=0), 13, low)
    np.testing.assert_array_equal(got, [-np.inf])


def test_a_constant_of_large_angles_is_exact_enough() -> None:
    signal = floats(1, 64, 1)
    (got,) = results(node("DFT", onesided=1), 19, signal)
    want = np.fft.rfft(signal[0, :, 0].astype(np.float64))
    np.testing.assert_allclose(got[0, :, 0] + 1j * got[0, :, 1], want, rtol=1e-4, atol=1e-4)
