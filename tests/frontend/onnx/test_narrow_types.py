"""Types of fewer than 8 bits, and floats of 8 bits: at the call, and between operators."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper
from onnx.helper import make_node

import irkit
from irkit.core import DTypeError, IRKitError
from irkit.frontend.onnx import import_onnx
from irkit.frontend.onnx.narrow_types import NARROW_TYPES, NarrowType
from irkit.ir.numpy_types import NARROW
from tests.draws import LONG
from tests.frontend.onnx.node_cases import interpreted, native

Array = NDArray[Any]
finfo: Any = ml_dtypes.finfo  # pyright: ignore[reportUnknownMemberType]
FLOATS = [each for each in NARROW_TYPES.values() if each.limits is None and each.has_sign]
INTEGERS = [each for each in NARROW_TYPES.values() if each.limits]


def title(kind: object) -> str:
    return kind.name if isinstance(kind, NarrowType) else str(kind)


def model_of(
    nodes: list[onnx.NodeProto],
    x: tuple[int, tuple[int | str, ...]],
    y: tuple[int, tuple[int | str, ...]],
    opset: int = 25,
) -> onnx.ModelProto:
    inputs = [helper.make_tensor_value_info("x", *x)]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_tensor_value_info("y", *y)])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    onnx.checker.check_model(made)  # pyright: ignore[reportUnknownMemberType]
    return made


def cast(x: Array, to: int, shape: tuple[int, ...] | None = None, **attrs: Any) -> Array:
    """Return what a model makes of an array: compiled for two types, interpreted for others, since
    tables differ and code does not."""
    was = helper.np_dtype_to_tensor_dtype(x.dtype)
    node = make_node("Cast", ["x"], ["y"], to=to, **attrs)
    model = model_of([node], (was, x.shape), (to, x.shape if shape is None else shape))
    names = {x.dtype.name, NARROW_TYPES[to].name if to in NARROW_TYPES else ""}
    prepare = native if names & {"float8_e4m3fn", "int4"} else interpreted
    return prepare(model).run({"x": x})["y"]


def every(kind: NarrowType) -> Array:
    return np.arange(1 << kind.bits, dtype=np.uint8).view(kind.array_type)


def test_the_runtime_has_the_types_of_the_importer() -> None:
    assert {each.name for each in NARROW_TYPES.values()} == NARROW


@pytest.mark.parametrize("kind", NARROW_TYPES.values(), ids=title)
def test_every_pattern_of_bits_is_the_number_that_ml_dtypes_says(kind: NarrowType) -> None:
    got = cast(every(kind), TensorProto.FLOAT)
    want = every(kind).astype(np.float32)
    np.testing.assert_array_equal(got, want)
    numbers = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(want)[numbers])


@pytest.mark.parametrize("kind", FLOATS, ids=title)
def test_floats_round_as_in_ml_dtypes(kind: NarrowType) -> None:
    # ml_dtypes rounds f64 twice.
    held = kind.magnitudes
    middle = (held[1:] + held[:-1]) / 2
    beyond = held[-1] * np.array([1.01, 1.05, 1.5, 100])
    near = np.concatenate(
        [held, middle, np.nextafter(middle, middle * 0), np.nextafter(middle, 1 + middle)]
    )
    near = np.concatenate([near, beyond, [held[-1] + (held[-1] - held[-2]) / 2, np.inf]])
    x = np.concatenate([near, -near]).astype(np.float32)
    got = cast(x, kind.number, saturate=0)
    want = x.astype(kind.array_type)
    np.testing.assert_array_equal(got.astype(np.float32), want.astype(np.float32))
    finite = np.isfinite(want.astype(np.float32))
    np.testing.assert_array_equal(got.view(np.uint8)[finite], want.view(np.uint8)[finite])


@pytest.mark.parametrize("kind", FLOATS, ids=title)
def test_what_is_too_large_saturates(kind: NarrowType) -> None:
    x = np.array([1e9, -1e9, np.inf, -np.inf], np.float32)
    most = kind.magnitudes[-1]
    got = cast(x, kind.number).astype(np.float32)
    np.testing.assert_array_equal(got, [most, -most, most, -most])
    if kind.nan_bits:
        assert np.isnan(cast(np.array([np.nan], np.float32), kind.number).astype(np.float32)).all()


@pytest.mark.parametrize("kind", INTEGERS, ids=title)
def test_integers_keep_their_lower_bits_and_use_no_others(kind: NarrowType) -> None:
    x = np.arange(-40, 40, dtype=np.int32)
    got = cast(x, kind.number)
    np.testing.assert_array_equal(got, x.astype(kind.array_type))
    noise = (np.arange(1 << kind.bits, dtype=np.uint8) | 0xF0).view(kind.array_type)
    np.testing.assert_array_equal(cast(noise, TensorProto.INT32), every(kind).astype(np.int32))
    # Back in a type that can hold more, numbers are no longer narrow.
    wide = TensorProto.INT8 if kind.limits and kind.limits[0] < 0 else TensorProto.UINT8
    assert cast(every(kind), wide).dtype in (np.int8, np.uint8)


@pytest.mark.parametrize("mode", ["up", "down", "nearest"])
def test_exponents_alone_are_rounded_as_the_attribute_says(mode: str) -> None:
    x = np.array([1.0, 1.4, 1.5, 1.6, 2.0, 3.0, 6.0, 0.3], np.float32)
    down = 2.0 ** np.floor(np.log2(x))
    up = 2.0 ** np.ceil(np.log2(x))
    # Of two that are equally near, the one with even bits: 2 and 4, whose bits are 128 and 129.
    nearest = np.array([1, 1, 2, 2, 2, 2, 8, 0.25])
    got = cast(x, TensorProto.FLOAT8E8M0, round_mode=mode).astype(np.float32)
    np.testing.assert_array_equal(got, {"up": up, "down": down, "nearest": nearest}[mode])


def chain(rows: int | str) -> onnx.ModelProto:
    """Transpose, and round halves of what is transposed."""
    kind = TensorProto.FLOAT8E5M2
    nodes = [
        make_node("Transpose", ["x"], ["t"]),
        make_node("Cast", ["t"], ["f"], to=TensorProto.FLOAT),
        make_node("Add", ["f", "f"], ["s"]),
        make_node("CastLike", ["s", "x"], ["y"]),
    ]
    return model_of(nodes, (kind, (rows, 3)), (kind, (3, rows)))


def test_a_package_takes_and_returns_the_same_types(tmp_path: Path) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3).astype(ml_dtypes.float8_e5m2)
    model = irkit.compile(chain(2))
    assert model.plan.inputs[0].dtype == "float8_e5m2"
    model.save(tmp_path / "m.irkit")
    loaded = irkit.load(tmp_path / "m.irkit")
    out = np.zeros((3, 2), ml_dtypes.float8_e5m2)
    for each in (model, loaded):
        got = each.run({"x": x}, out={"y": out})["y"]
        assert got is out
        np.testing.assert_array_equal(got.astype(np.float32), 2 * x.T.astype(np.float32))
    with pytest.raises(DTypeError, match="input 'x' must be of type float8_e5m2, found uint8"):
        loaded.run({"x": x.view(np.uint8)})


def test_a_model_that_leaves_shapes_open_takes_them(tmp_path: Path) -> None:
    model = irkit.compile(chain("n"))
    for rows in (1, 4)[:: 1 if LONG else 2]:
        x = np.ones((rows, 3), np.float32).astype(ml_dtypes.float8_e5m2)
        np.testing.assert_array_equal(model.run({"x": x})["y"].astype(np.float32), 2.0)
    with pytest.raises(DTypeError, match="must be of type float8_e5m2"):
        model.run({"x": np.ones((1, 3), np.float32)})


def test_a_branch_and_a_loop_keep_the_type() -> None:
    kind = TensorProto.INT4

    def body(name: str, turned: bool) -> onnx.GraphProto:
        op = "Transpose" if turned else "Identity"
        out = [helper.make_tensor_value_info(name, kind, (2, 2))]
        return helper.make_graph([make_node(op, ["x"], [name])], name, [], out)

    nodes = [
        make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT),
        make_node("ReduceMax", ["f"], ["m"], keepdims=0),
        make_node("Cast", ["m"], ["b"], to=TensorProto.BOOL),
        make_node("If", ["b"], ["y"], then_branch=body("p", True), else_branch=body("q", False)),
    ]
    model = irkit.compile(model_of(nodes, (kind, (2, 2)), (kind, (2, 2))))
    x = np.array([[-8, 1], [2, 7]], np.int8).astype(ml_dtypes.int4)
    np.testing.assert_array_equal(model.run({"x": x})["y"], x.T)


def test_a_value_can_be_fixed_and_must_fit() -> None:
    node = make_node("Cast", ["x"], ["y"], to=TensorProto.INT32)
    model = model_of([node], (TensorProto.INT4, (2,)), (TensorProto.INT32, (2,)))
    np.testing.assert_array_equal(irkit.compile(model, values={"x": [7, -8]}).run({})["y"], [7, -8])
    with pytest.raises(IRKitError, match="int4 cannot hold"):
        import_onnx(model, values={"x": [8, 0]})


def test_an_output_of_another_type_than_declared_is_refused() -> None:
    node = make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT8E4M3FN)
    model = model_of([node], (TensorProto.FLOAT, (2,)), (TensorProto.FLOAT8E4M3FN, (2,)))
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT8E5M2
    with pytest.raises(IRKitError) as caught:
        import_onnx(model)
    assert caught.value.message == (
        "output 'y' is declared FLOAT8E5M2, but its node makes FLOAT8E4M3FN"
    )


def bit_cast(x: Array, to: "np.dtype[Any]") -> Array:
    number = helper.np_dtype_to_tensor_dtype(to)
    node = make_node("BitCast", ["x"], ["y"], to=number)
    was = helper.np_dtype_to_tensor_dtype(x.dtype)
    model = model_of([node], (was, x.shape), (number, x.shape), opset=26)
    prepare = native if 8 in (x.dtype.itemsize, to.itemsize) else interpreted
    return prepare(model).run({"x": x})["y"]


@pytest.mark.parametrize("names", [("f4", "u4"), ("f8", "i8"), ("f2", "i2"), ("bfloat16", "u2")])
def test_bits_of_floats_are_those_in_memory(names: tuple[str, str]) -> None:
    kinds: list[Any] = [np.dtype(getattr(ml_dtypes, name, name)) for name in names]
    floats, whole = kinds
    limits = finfo(floats)
    tiny, least, most = limits.smallest_subnormal, limits.smallest_normal, limits.max
    values = np.array([0.0, 1.0, 1.5, 3.1, np.inf, tiny, least, most, least - tiny], floats)
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, 1 << 63, 400, dtype=np.int64).view(floats)[:400]
    with np.errstate(invalid="ignore"):
        x = np.concatenate([values, -values, drawn[~np.isnan(drawn)]])
    np.testing.assert_array_equal(bit_cast(x, whole), x.view(whole))
    back = bit_cast(x.view(whole), floats)
    np.testing.assert_array_equal(back.view(whole), x.view(whole))
    nan = bit_cast(np.array([np.nan], floats), whole).view(floats)
    assert np.isnan(nan.astype(np.float64)).all()
