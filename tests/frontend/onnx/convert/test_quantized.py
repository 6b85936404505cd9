"""Operators of quantised tensors are exact: halves go to even, too large numbers saturate."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto
from onnx.helper import make_node, make_opsetid

import irkit
from irkit.frontend.onnx import import_onnx
from irkit.graph import arrays_of, interpret
from tests.draws import sampled
from tests.frontend.onnx.models import model_of

RNG = np.random.default_rng(15)
KINDS = {"u8": (np.uint8, TensorProto.UINT8), "i8": (np.int8, TensorProto.INT8)}
IMAGE, FILTERS = (1, 3, 7, 6), (4, 3, 3, 2)


def whole(shape: tuple[int, ...], kind: str) -> Any:
    info = np.iinfo(KINDS[kind][0])
    return RNG.integers(info.min, info.max + 1, shape).astype(info.dtype)


def results(nodes: list[Any], x: Any, constants: dict[str, Any]) -> list[Any]:
    """Return the output 'y' of a model, by the interpreter and by native code."""
    kind = {"uint8": TensorProto.UINT8, "int8": TensorProto.INT8, "float32": TensorProto.FLOAT}
    model = model_of(
        nodes, {"x": x.shape}, ["y"], opset=25, constants=constants, dtype=kind[x.dtype.name]
    )
    model.opset_import.append(make_opsetid("com.microsoft", 1))
    (interpreted,) = arrays_of(interpret(import_onnx(model), {"x": x}))
    return [interpreted, irkit.compile(model).run({"x": x})["y"]]


def saturated(numbers: Any, kind: str) -> Any:
    info = np.iinfo(KINDS[kind][0])
    return np.clip(numbers, info.min, info.max).astype(info.dtype)


def convolved(x: Any, w: Any, pads: int, groups: int = 1) -> Any:
    """Convolve in i64, without anything that irkit has."""
    padded = np.pad(x, ((0, 0), (0, 0), (pads, pads), (pads, pads)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[2:], (2, 3))
    own = x.shape[1] // groups
    parts = [
        np.einsum(
            "ncpqrs,kcrs->nkpq",
            windows[:, at * own : (at + 1) * own],
            w[at * len(w) // groups : (at + 1) * len(w) // groups],
        )
        for at in range(groups)
    ]
    return np.concatenate(parts, axis=1)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("kinds", [("u8", "u8"), ("u8", "i8"), ("i8", "i8")])
@pytest.mark.parametrize("pads", sampled([0, 1], every=2))
def test_an_integer_convolution_is_exact(kinds: tuple[str, str], pads: int, zeros: bool) -> None:
    x, w = whole(IMAGE, kinds[0]), whole(FILTERS, kinds[1])
    x_zero, w_zero = (
        whole((), kind) if zeros else np.zeros_like(whole((), kind)) for kind in kinds
    )
    node = make_node("ConvInteger", ["x", "w", "xz", "wz"], ["y"], pads=[pads] * 4)
    expected = convolved(x.astype(np.int64) - x_zero, w.astype(np.int64) - w_zero, pads)
    for found in results([node], x, {"w": w, "xz": x_zero, "wz": w_zero}):
        np.testing.assert_array_equal(found, expected.astype(np.int32))
        assert found.dtype == np.int32


@pytest.mark.parametrize("kinds", [("u8", "u8", "u8"), ("i8", "i8", "i8"), ("u8", "i8", "i8")])
@pytest.mark.parametrize("groups", [1, 3])
def test_a_quantised_convolution_rounds_once(kinds: tuple[str, str, str], groups: int) -> None:
    x, w = whole(IMAGE, kinds[0]), whole((6, 3 // groups, 3, 2), kinds[1])
    x_zero, y_zero = whole((), kinds[0]), whole((), kinds[2])
    w_zero, w_scale = whole((6,), kinds[1]), RNG.uniform(0.5, 2, 6).astype("f")
    bias = RNG.integers(-3000, 3000, 6).astype(np.int32)
    x_scale, y_scale = np.float32(0.25), np.float32(40.0)
    node = make_node(
        "QLinearConv",
        ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"],
        ["y"],
        pads=[1] * 4,
        group=groups,
    )
    given = {"xs": x_scale, "xz": x_zero, "w": w, "ws": w_scale, "wz": w_zero, "b": bias}
    total = convolved(
        x.astype(np.int64) - x_zero, w.astype(np.int64) - w_zero.reshape(-1, 1, 1, 1), 1, groups
    )
    factor = (x_scale * w_scale / y_scale).reshape(-1, 1, 1)
    exact = (total + bias.reshape(-1, 1, 1)).astype("f") * factor
    expected = saturated(np.rint(exact) + np.float32(y_zero), kinds[2])
    assert len(np.unique(expected)) > 50
    for found in results([node], x, {**given, "ys": y_scale, "yz": y_zero}):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kinds", [("u8", "u8"), ("u8", "i8"), ("i8", "i8")])
@pytest.mark.parametrize("rows", [False, True])
def test_an_integer_product_is_exact(kinds: tuple[str, str], rows: bool) -> None:
    a, b = whole((2, 5, 17), kinds[0]), whole((17, 9), kinds[1])
    a_zero, b_zero = whole((5,) if rows else (), kinds[0]), whole((9,), kinds[1])
    node = make_node("MatMulInteger", ["x", "b", "az", "bz"], ["y"])
    spread = a_zero.reshape(-1, 1) if rows else a_zero
    expected = (a.astype(np.int64) - spread) @ (b.astype(np.int64) - b_zero)
    for found in results([node], a, {"b": b, "az": a_zero, "bz": b_zero}):
        np.testing.assert_array_equal(found, expected.astype(np.int32))


@pytest.mark.parametrize("kinds", [("u8", "i8", "u8"), ("i8", "u8", "i8")])
def test_a_quantised_product_rounds_once(kinds: tuple[str, str, str]) -> None:
    a, b = whole((5, 17), kinds[0]), whole((17, 9), kinds[1])
    a_zero, b_zero, y_zero = (whole((), kind) for kind in kinds)
    scales = [np.float32(0.125), np.float32(3.0), np.float32(100.0)]
    node = make_node("QLinearMatMul", ["x", "as", "az", "b", "bs", "bz", "ys", "yz"], ["y"])
    total = (a.astype(np.int64) - a_zero) @ (b.astype(np.int64) - b_zero)
    exact = total.astype("f") * (scales[0] * scales[1] / scales[2])
    expected = saturated(np.rint(exact) + np.float32(y_zero), kinds[2])
    given = {"as": scales[0], "az": a_zero, "b": b, "bs": scales[1], "bz": b_zero}
    for found in results([node], a, {**given, "ys": scales[2], "yz": y_zero}):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["tensor", "axis", "blocks"])
def test_quantising_rounds_halves_to_even_and_saturates(kind: str, form: str) -> None:
    x = RNG.integers(-600, 600, (4, 6)).astype("f") / 4  # Many halves, and too large numbers.
    scale, options = np.float32(0.5), dict[str, int]()
    if form == "axis":
        scale, options = np.array([0.5, 1, 2, 0.25, 1, 0.5], "f"), {"axis": 1}
    if form == "blocks":
        scale, options = (
            RNG.choice([0.5, 1.0, 0.25], (4, 3)).astype("f"),
            {"axis": 1, "block_size": 2},
        )
    zero = whole(np.shape(scale), kind)
    spread = [np.repeat(each, 2, 1) if form == "blocks" else each for each in (scale, zero)]
    expected = saturated(np.rint(x / spread[0]) + spread[1], kind)
    back = (expected.astype("f") - spread[1].astype("f")) * spread[0]
    nodes = [make_node("QuantizeLinear", ["x", "s", "z"], ["y"], **options)]
    for found in results(nodes, x, {"s": scale, "z": zero}):
        np.testing.assert_array_equal(found, expected)
    nodes = [make_node("DequantizeLinear", ["x", "s", "z"], ["y"], **options)]
    for found in results(nodes, expected, {"s": scale, "z": zero}):
        np.testing.assert_array_equal(found, back)


@pytest.mark.parametrize("kind", ["int4", "uint4", "int2", "uint2"])
def test_constants_of_few_bits_are_read(kind: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, kind))
    least, most = int(ml_dtypes.iinfo(dtype).min), int(ml_dtypes.iinfo(dtype).max)
    w = RNG.integers(least, most + 1, (4, 6)).astype(dtype)
    scale, zero = RNG.choice([0.5, 2.0], (2, 6)).astype("f"), np.full((2, 6), most).astype(dtype)
    nodes = [
        make_node("DequantizeLinear", ["w", "s", "z"], ["d"], axis=0, block_size=2),
        make_node("Add", ["x", "d"], ["y"]),
    ]
    x = RNG.normal(size=(4, 6)).astype("f")
    expected = x + (w.astype("f") - most) * np.repeat(scale, 2, 0)
    for found in results(nodes, x, {"w": w, "s": scale, "z": zero}):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("named", [False, True])
def test_quantising_to_4_bits_saturates_there(named: bool) -> None:
    x = RNG.integers(-100, 100, (5, 5)).astype("f") / 4
    zero = np.array(1 if named else 0).astype(ml_dtypes.int4)
    given = ["x", "s", "z"] if named else ["x", "s"]
    options = {} if named else {"output_dtype": TensorProto.INT4}
    nodes = [
        make_node("Reshape", ["z0", "shape"], ["z"]),
        make_node("QuantizeLinear", given, ["q"], **options),
        make_node("DequantizeLinear", ["q", "s", "z"], ["y"]),
    ]
    constants = {"s": np.float32(0.5), "z0": zero.reshape(1), "shape": np.zeros(0, np.int64)}
    expected = (np.clip(np.rint(x / 0.5) + int(zero), -8, 7) - int(zero)) * 0.5
    for found in results(nodes, x, constants):
        np.testing.assert_array_equal(found, expected.astype("f"))


def test_a_result_of_few_bits_is_one_of_ml_dtypes_and_saturates() -> None:
    nodes = [make_node("QuantizeLinear", ["x", "s"], ["y"], output_dtype=TensorProto.INT4)]
    x = np.array([[-9.0, -0.6], [0.5, 9.0]], "f")
    model = model_of(nodes, {"x": (2, 2)}, ["y"], opset=21, constants={"s": np.float32(0.5)})
    (got,) = irkit.compile(model).run({"x": x}).values()
    assert got.dtype == ml_dtypes.int4
    np.testing.assert_array_equal(got.astype(int), [[-8, -1], [1, 7]])


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize(
    ("rows", "block", "bits"), [(64, 16, 4), (40, 16, 4), (32, 32, 4), (64, 16, 8), (40, 16, 8)]
)
def test_a_product_with_packed_weights_unpacks_them(
    rows: int, block: int, bits: int, zeros: bool
) -> None:
    columns, blocks = 5, -(-rows // block)
    numbers = RNG.integers(0, 1 << bits, (columns, blocks * block)).astype(np.uint8)
    packed = _stored(numbers, bits).reshape(columns, blocks, block * bits // 8)
    scales = RNG.uniform(0.5, 2, (columns, blocks)).astype("f")
    zero = RNG.integers(0, 1 << bits, (columns, blocks + blocks % 2 * (bits == 4))).astype(np.uint8)
    given = {"b": packed, "s": scales.reshape(-1)}
    if zeros:
        given["z"] = _stored(zero, bits).reshape(-1)
    options = {"K": rows, "N": columns, "bits": bits, "block_size": block}
    node = make_node("MatMulNBits", ["x", *given], ["y"], domain="com.microsoft", **options)
    x = RNG.integers(-3, 4, (3, rows)).astype("f")
    each = np.repeat(
        zero[:, :blocks] if zeros else np.full((columns, blocks), 1 << bits - 1), block, 1
    )
    weights = (numbers.astype(float) - each) * np.repeat(scales, block, 1)
    for found in results([node], x, given):
        np.testing.assert_allclose(found, x @ weights[:, :rows].T, 2e-5, 1e-4 * 2.0**bits)


def _stored(numbers: NDArray[np.uint8], bits: int) -> NDArray[np.uint8]:
    """Put pairs of numbers of 4 bits into bytes, the first one low."""
    return numbers if bits == 8 else numbers[:, ::2] | numbers[:, 1::2] << 4


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["QLinearAdd", "QLinearMul"])
def test_an_operator_on_quantised_tensors_rounds_once(name: str, kind: str) -> None:
    a, b = whole((4, 5), kind), whole((5,), kind)
    zeros, scales = [whole((), kind) for _ in range(3)], [np.float32(s) for s in (0.5, 0.25, 2.0)]
    given = ["x", "as", "az", "b", "bs", "bz", "ys", "yz"]
    node = make_node(name, given, ["y"], domain="com.microsoft")
    constants = {"b": b, **dict(zip(["as", "bs", "ys"], scales, strict=True))}
    constants |= dict(zip(["az", "bz", "yz"], zeros, strict=True))
    wide = [(each.astype("f") - z) * s for each, z, s in zip((a, b), zeros, scales, strict=False)]
    exact = wide[0] + wide[1] if name == "QLinearAdd" else wide[0] * wide[1]
    expected = saturated(np.rint(exact / scales[2]) + np.float32(zeros[2]), kind)
    for found in results([node], a, constants):
        np.testing.assert_array_equal(found, expected)
