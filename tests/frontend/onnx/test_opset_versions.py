"""Operators mean what they meant in the model's own version of the operator set."""

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx.helper import make_node

from irkit.frontend.onnx import ImportFailed, UnsupportedModel
from tests.frontend.onnx.models import floats, run_node

X = floats(2, 3, 4)


def softmax(x: NDArray[np.float32], axes: tuple[int, ...]) -> NDArray[np.float32]:
    powers = np.exp(x - x.max(axis=axes, keepdims=True))
    return powers / powers.sum(axis=axes, keepdims=True)


@pytest.mark.parametrize(
    ("opset", "attrs", "axes"),
    [
        (9, {}, (1, 2)),
        (9, {"axis": 2}, (2,)),
        (9, {"axis": 0}, (0, 1, 2)),
        (12, {"axis": -2}, (1, 2)),
        (13, {}, (2,)),
        (13, {"axis": 1}, (1,)),
        (13, {"axis": -3}, (0,)),
    ],
)
def test_softmax_flattens_before_version_13_and_takes_one_axis_from_then_on(
    opset: int, attrs: dict[str, int], axes: tuple[int, ...]
) -> None:
    (got,) = run_node(make_node("Softmax", ["x"], ["y"], **attrs), {"x": X}, opset=opset)
    np.testing.assert_allclose(got, softmax(X, axes), rtol=1e-5)


STATISTICS = {
    "scale": floats(3, seed=1),
    "bias": floats(3, seed=2),
    "mean": floats(3, seed=3),
    "var": np.abs(floats(3, seed=4)) + 0.5,
}
NORM_INPUTS = ["x", *STATISTICS]


def normal(x: NDArray[np.float32], mean: NDArray[np.float32], var: NDArray[np.float32]) -> object:
    scale, bias, m, v = (
        a.reshape(-1, 1) for a in (STATISTICS["scale"], STATISTICS["bias"], mean, var)
    )
    return scale * (x - m) / np.sqrt(v + 1e-5) + bias


@pytest.mark.parametrize("opset", [7, 8, 9, 13, 14, 15])
def test_batch_normalization_with_one_output_uses_the_given_statistics(opset: int) -> None:
    node = make_node("BatchNormalization", NORM_INPUTS, ["y"])
    (got,) = run_node(node, {"x": X}, opset=opset, constants=STATISTICS)
    want = normal(X, STATISTICS["mean"], STATISTICS["var"])
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_batch_normalization_at_version_6_infers_only_where_is_test_says_so() -> None:
    node = make_node("BatchNormalization", NORM_INPUTS, ["y"], is_test=1)
    (got,) = run_node(node, {"x": X}, opset=6, constants=STATISTICS)
    want = normal(X, STATISTICS["mean"], STATISTICS["var"])
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    node = make_node("BatchNormalization", NORM_INPUTS, ["y"])
    with pytest.raises(ImportFailed, match="training mode is supported from version 14"):
        run_node(node, {"x": X}, opset=6, constants=STATISTICS)


def test_batch_normalization_trains_where_training_mode_says_so_from_version_14_on() -> None:
    node = make_node(
        "BatchNormalization", NORM_INPUTS, ["y", "m", "v"], training_mode=1, momentum=0.8
    )
    got, mean, var = run_node(node, {"x": X}, opset=14, constants=STATISTICS)
    own_mean, own_var = X.mean(axis=(0, 2)), X.var(axis=(0, 2))
    np.testing.assert_allclose(got, normal(X, own_mean, own_var), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(mean, STATISTICS["mean"] * 0.8 + own_mean * 0.2, rtol=1e-5)
    np.testing.assert_allclose(var, STATISTICS["var"] * 0.8 + own_var * 0.2, rtol=1e-5)


def test_batch_normalization_with_running_outputs_trains_before_version_14_and_is_refused() -> None:
    node = make_node("BatchNormalization", NORM_INPUTS, ["y", "m", "v"])
    with pytest.raises(ImportFailed, match="training mode is supported from version 14"):
        run_node(node, {"x": X}, opset=9, constants=STATISTICS)
    with pytest.raises(ImportFailed, match=r"output 1 \('m'\) is not supported"):
        run_node(node, {"x": X}, opset=14, constants=STATISTICS)


def test_clip_takes_its_bounds_from_attributes_before_version_11() -> None:
    node = make_node("Clip", ["x"], ["y"], min=-0.5, max=0.25)
    (got,) = run_node(node, {"x": X}, opset=6)
    np.testing.assert_array_equal(got, np.clip(X, np.float32(-0.5), np.float32(0.25)))
    (got,) = run_node(make_node("Clip", ["x"], ["y"], min=0.1), {"x": X}, opset=10)
    np.testing.assert_array_equal(got, np.maximum(X, np.float32(0.1)))


def test_clip_takes_its_bounds_from_inputs_from_version_11_on() -> None:
    bounds = {"low": np.float32(-0.5), "high": np.float32(0.25)}
    node = make_node("Clip", ["x", "low", "high"], ["y"])
    (got,) = run_node(node, {"x": X}, opset=11, constants=bounds)
    np.testing.assert_array_equal(got, np.clip(X, np.float32(-0.5), np.float32(0.25)))
    node = make_node("Clip", ["x", "", "high"], ["y"])
    (got,) = run_node(node, {"x": X}, opset=13, constants=bounds)
    np.testing.assert_array_equal(got, np.minimum(X, np.float32(0.25)))


def test_clip_without_bounds_leaves_values_alone_even_infinities() -> None:
    x = np.array([np.inf, -np.inf, 1.0], dtype=np.float32)
    (got,) = run_node(make_node("Clip", ["x"], ["y"]), {"x": x}, opset=11)
    np.testing.assert_array_equal(got, x)


@pytest.mark.parametrize(
    ("opset", "attrs", "kind"),
    [(6, {"is_test": 1}, np.float32), (7, {"ratio": 0.9}, np.float32), (10, {}, np.bool_)],
)
def test_dropout_passes_its_input_on_with_a_mask_of_the_type_of_its_version(
    opset: int, attrs: dict[str, float], kind: type[np.generic]
) -> None:
    got, mask = run_node(make_node("Dropout", ["x"], ["y", "m"], **attrs), {"x": X}, opset=opset)
    np.testing.assert_array_equal(got, X)
    np.testing.assert_array_equal(mask, np.ones(X.shape, kind))
    assert mask.dtype == kind


def test_dropout_that_trains_is_refused_in_every_version() -> None:
    with pytest.raises(ImportFailed, match="training mode"):
        run_node(make_node("Dropout", ["x"], ["y"]), {"x": X}, opset=6)
    on = {"ratio": np.float32(0.5), "mode": np.array(True)}
    with pytest.raises(ImportFailed, match="training mode"):
        run_node(
            make_node("Dropout", ["x", "ratio", "mode"], ["y"]), {"x": X}, opset=13, constants=on
        )


@pytest.mark.parametrize(
    ("axis", "shape"), [(0, (2,)), (1, (3,)), (1, (3, 4)), (2, (4,)), (-1, (4,)), (0, (2, 3))]
)
def test_arithmetic_before_version_7_places_the_second_operand_by_axis(
    axis: int, shape: tuple[int, ...]
) -> None:
    b = floats(*shape, seed=7)
    node = make_node("Sub", ["x", "b"], ["y"], broadcast=1, axis=axis)
    (got,) = run_node(node, {"x": X}, opset=6, constants={"b": b})
    trailing = X.ndim - axis % X.ndim - len(shape)
    np.testing.assert_array_equal(got, X - b.reshape(shape + (1,) * trailing))


def test_arithmetic_before_version_7_broadcasts_a_suffix_without_an_axis() -> None:
    b = floats(3, 4, seed=8)
    node = make_node("Mul", ["x", "b"], ["y"], broadcast=1)
    (got,) = run_node(node, {"x": X}, opset=6, constants={"b": b})
    np.testing.assert_array_equal(got, X * b)


def test_arithmetic_before_version_7_does_not_broadcast_unless_told() -> None:
    with pytest.raises(ImportFailed, match="broadcast"):
        run_node(make_node("Add", ["x", "b"], ["y"]), {"x": X}, opset=6, constants={"b": floats(4)})


@pytest.mark.parametrize(("opset", "by_input"), [(11, False), (13, True)])
def test_squeeze_and_unsqueeze_take_axes_as_their_version_does(opset: int, by_input: bool) -> None:
    x = floats(1, 3, 1, 2)
    for name, axes, want in (
        ("Squeeze", [-2], x.reshape(1, 3, 2)),
        ("Squeeze", [0, 2], x.reshape(3, 2)),
        ("Unsqueeze", [-1, 0], x.reshape(1, 1, 3, 1, 2, 1)),
    ):
        if by_input:
            node, constants = make_node(name, ["x", "axes"], ["y"]), {"axes": np.array(axes)}
        else:
            node, constants = make_node(name, ["x"], ["y"], axes=axes), {}
        (got,) = run_node(node, {"x": x}, opset=opset, constants=constants)
        np.testing.assert_array_equal(got, want)
    (got,) = run_node(make_node("Squeeze", ["x"], ["y"]), {"x": x}, opset=opset)
    np.testing.assert_array_equal(got, x.reshape(3, 2))


def test_concat_joins_along_axis_1_unless_told_before_version_4_and_must_be_told_after() -> None:
    feeds = {"a": floats(2, 3), "b": floats(2, 1, seed=1)}
    (got,) = run_node(make_node("Concat", ["a", "b"], ["y"]), feeds, opset=3)
    np.testing.assert_array_equal(got, np.concatenate([feeds["a"], feeds["b"]], axis=1))
    with pytest.raises(ImportFailed, match="attribute 'axis' is missing"):
        run_node(make_node("Concat", ["a", "b"], ["y"]), feeds, opset=4)


def test_reshape_takes_its_shape_from_an_attribute_before_version_5() -> None:
    (got,) = run_node(make_node("Reshape", ["x"], ["y"], shape=[0, -1]), {"x": X}, opset=1)
    np.testing.assert_array_equal(got, X.reshape(2, 12))


@pytest.mark.parametrize("c_shape", [(4,), (3, 1), (1,), (3, 4)])
def test_gemm_broadcasts_c_in_every_version(c_shape: tuple[int, ...]) -> None:
    a, b, c = floats(3, 2), floats(4, 2, seed=1), floats(*c_shape, seed=2)
    want = 0.5 * a @ b.T + 2.0 * c
    for opset, attrs in ((6, {"broadcast": 1}), (7, {}), (13, {})):
        node = make_node("Gemm", ["a", "b", "c"], ["y"], alpha=0.5, beta=2.0, transB=1, **attrs)
        (got,) = run_node(node, {"a": a}, opset=opset, constants={"b": b, "c": c})
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_average_pool_leaves_padding_out_in_every_version_unless_told() -> None:
    x = floats(1, 1, 3)
    for opset, attrs in ((1, {}), (7, {}), (19, {})):
        node = make_node("AveragePool", ["x"], ["y"], kernel_shape=[2], pads=[1, 0], **attrs)
        (got,) = run_node(node, {"x": x}, opset=opset)
        want = [x[0, 0, 0], (x[0, 0, 0] + x[0, 0, 1]) / 2, (x[0, 0, 1] + x[0, 0, 2]) / 2]
        np.testing.assert_allclose(got[0, 0], want, rtol=1e-6)


def test_an_operator_does_not_exist_before_the_version_that_brought_it() -> None:
    with pytest.raises(UnsupportedModel, match="ConstantOfShape-8"):
        run_node(
            make_node("ConstantOfShape", ["s"], ["y"]), {}, opset=8, constants={"s": np.array([2])}
        )
