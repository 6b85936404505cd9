"""Each operator against NumPy or the ONNX reference, and its type rule against its array rule."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import helper, reference

from irkit.core import DTypeError, OptionError, ShapeError
from irkit.graph import OPS, TensorType, TupleType, dtype_of, tensor_type
from irkit.ir import I64, Var, as_int

RNG = np.random.default_rng(7)


def onnx_result(operator: str, arrays: list[Any], outputs: int = 1, **attrs: Any) -> list[Any]:
    names = [f"x{at}" for at in range(len(arrays))]
    results = [f"y{at}" for at in range(outputs)]
    infos = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
        )
        for name, array in zip(names, arrays, strict=True)
    ]
    ends = [helper.make_empty_tensor_value_info(name) for name in results]
    node = helper.make_node(operator, names, results, **attrs)
    graph = helper.make_graph([node], "one", infos, ends)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
    run = reference.ReferenceEvaluator(model)
    return run.run(None, dict(zip(names, arrays, strict=True)))  # pyright: ignore[reportReturnType]


def computed(operator: str, arrays: list[Any], **attrs: Any) -> Any:
    """Evaluate, and hold the result against what inference says of it."""
    spec = OPS[operator]
    found = spec.evaluate(arrays, attrs)
    said = spec.infer([tensor_type(array.shape, dtype_of(array)) for array in arrays], attrs)
    types = said.items if isinstance(said, TupleType) else (said,)
    for one, given in zip(types, found if isinstance(found, tuple) else (found,), strict=True):
        assert isinstance(one, TensorType)
        assert tuple(as_int(extent) for extent in one.shape) == given.shape
        assert one.dtype == dtype_of(given)
    return found


def floats(*shape: int, dtype: str = "float32") -> Any:
    return RNG.standard_normal(shape).astype(dtype)


CONVS = [
    ((1, 3, 7, 8), (4, 3, 3, 3), {}),
    ((2, 4, 9, 7), (6, 2, 3, 2), {"strides": (2, 1), "pads": (1, 0, 2, 1), "groups": 2}),
    ((1, 4, 10), (4, 1, 3), {"dilations": (2,), "groups": 4, "pads": (2, 2)}),
    ((1, 2, 5, 6, 7), (3, 2, 2, 3, 2), {"strides": (1, 2, 3)}),
]


@pytest.mark.parametrize(("x", "w", "attrs"), CONVS)
@pytest.mark.parametrize("bias", [False, True])
def test_convolution_is_as_in_onnx(
    x: tuple[int, ...], w: tuple[int, ...], attrs: dict[str, Any], bias: bool
) -> None:
    arrays = [floats(*x), floats(*w), *([floats(w[0])] if bias else [])]
    found = computed("conv", arrays, **attrs)
    np.testing.assert_allclose(
        found, onnx_result("Conv", arrays, **onnx_attrs(attrs))[0], 1e-4, 1e-5
    )


POOLS = [
    ((1, 1, 3), {"kernel": (2,), "strides": (3,), "pads": (0, 1), "ceil_mode": True}),
    ((1, 2, 7, 8), {"kernel": (3, 3), "strides": (2, 2)}),
    ((1, 2, 7, 8), {"kernel": (3, 3), "strides": (2, 2), "ceil_mode": True}),
    ((1, 2, 7, 8), {"kernel": (3, 2), "strides": (2, 2), "ceil_mode": True, "pads": (1, 1, 1, 0)}),
    ((2, 1, 9), {"kernel": (2,), "dilations": (3,), "pads": (1, 2)}),
    ((1, 1, 5, 5, 5), {"kernel": (2, 2, 2), "strides": (2, 1, 2)}),
]


def onnx_attrs(attrs: dict[str, Any]) -> dict[str, Any]:
    names = {"kernel": "kernel_shape", "groups": "group"}
    return {
        names.get(name, name): list(value)
        if isinstance(value, tuple)
        else int(value)
        if isinstance(value, bool)
        else value
        for name, value in attrs.items()
    }


@pytest.mark.parametrize(("shape", "attrs"), POOLS)
def test_max_pooling_is_as_in_onnx(shape: tuple[int, ...], attrs: dict[str, Any]) -> None:
    x = floats(*shape)
    found = computed("max_pool", [x], **attrs)
    np.testing.assert_array_equal(found, onnx_result("MaxPool", [x], **onnx_attrs(attrs))[0])


@pytest.mark.parametrize(("shape", "attrs"), POOLS)
@pytest.mark.parametrize("include", [False, True])
def test_average_pooling_is_as_in_onnx(
    shape: tuple[int, ...], attrs: dict[str, Any], include: bool
) -> None:
    x, attrs = floats(*shape), {**attrs, "count_include_pad": include}
    found = computed("avg_pool", [x], **attrs)
    expected = onnx_result("AveragePool", [x], **onnx_attrs(attrs))[0]
    np.testing.assert_allclose(found, expected, 1e-5, 1e-6)


@pytest.mark.parametrize("order", [0, 1])
def test_indices_of_max_pooling_lead_to_the_maxima(order: int) -> None:
    x = RNG.integers(0, 4, (2, 3, 5, 6)).astype("float32")
    attrs = {"kernel": (3, 2), "strides": (2, 1), "pads": (1, 1, 1, 0), "storage_order": order}
    largest, places = computed("max_pool_with_indices", [x], **attrs)
    flat = (x if order == 0 else x.swapaxes(2, 3)).ravel()
    np.testing.assert_array_equal(flat[places], largest)
    expected = onnx_result("MaxPool", [x], 2, **onnx_attrs(attrs))
    np.testing.assert_array_equal(places, expected[1])


def test_a_window_of_minus_infinities_has_an_index_inside() -> None:
    x = np.full((1, 1, 2, 2), -np.inf, "float32")
    _, places = computed("max_pool_with_indices", [x], kernel=(2, 2), pads=(1, 1, 1, 1))
    assert places.tolist() == [[[[0, 0, 1], [0, 0, 1], [2, 2, 3]]]]


UNARY = {
    "relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "exp": "Exp", "log": "Log",
    "sqrt": "Sqrt", "negative": "Neg", "abs": "Abs", "erf": "Erf", "floor": "Floor",
    "ceil": "Ceil", "round": "Round", "reciprocal": "Reciprocal", "sign": "Sign", "sin": "Sin",
    "cos": "Cos", "tan": "Tan", "atan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "asinh": "Asinh",
    "identity": "Identity", "isnan": "IsNaN", "isinf": "IsInf",
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_elementwise_operators_are_as_in_onnx(name: str) -> None:
    x = np.concatenate([floats(20) * 3, [0.5, -0.5, 1.5, -0.0]]).astype("float32")
    x = np.abs(x) if name in ("log", "sqrt") else x
    with np.errstate(all="ignore"):
        expected = onnx_result(UNARY[name], [x])[0]
    np.testing.assert_allclose(computed(name, [x]), expected, 2e-6, 1e-7)


BINARY = {
    "add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "power": "Pow",
    "equal": "Equal", "less": "Less", "less_equal": "LessOrEqual", "greater": "Greater",
    "greater_equal": "GreaterOrEqual", "maximum": "Max", "minimum": "Min",
}  # fmt: skip


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_broadcasting_operators_are_as_in_onnx(name: str, dtype: str) -> None:
    a = RNG.integers(-5, 6, (3, 1, 4)).astype(dtype)
    b = RNG.integers(1, 4, (2, 1)).astype(dtype)
    np.testing.assert_allclose(computed(name, [a, b]), onnx_result(BINARY[name], [a, b])[0], 1e-6)


def test_integer_division_truncates_and_by_zero_gives_zero() -> None:
    a, b = np.array([7, -7, 7, -7, 5, 0]), np.array([2, 2, -2, -2, 0, 3])
    assert computed("divide", [a, b]).tolist() == [3, -3, -3, 3, 0, 0]


def test_negative_integer_powers_truncate() -> None:
    a, b = np.array([2, 1, -1, -1, 0, -2]), np.array([-1, -5, -2, -3, -1, 3])
    assert computed("power", [a, b]).tolist() == [0, 1, 1, -1, 0, -8]


def test_shifts_by_the_width_or_more_leave_zero_or_the_sign() -> None:
    a, b = np.array([-8, -8, 8, 1], "int8"), np.array([1, 9, 8, -1], "int8")
    assert computed("shift_right", [a, b]).tolist() == [-4, -1, 0, 0]
    assert computed("shift_left", [a, b]).tolist() == [-16, 0, 0, 0]


def test_casting_floats_to_integers_saturates() -> None:
    x = np.array([1.9, -1.9, 300.0, -300.0, np.nan, np.inf, -np.inf], "float32")
    assert computed("cast", [x], dtype="i8").tolist() == [1, -1, 127, -128, 0, 127, -128]
    top = np.array([2.0**63, -(2.0**63), 2.0**64])
    assert computed("cast", [top], dtype="i64").tolist() == [2**63 - 1, -(2**63), 2**63 - 1]
    assert computed("cast", [top], dtype="u64").tolist() == [2**63, 0, 2**64 - 1]


@pytest.mark.parametrize(
    ("a", "b"),
    [((2, 3), (3, 4)), ((3,), (3, 4)), ((2, 3), (3,)), ((3,), (3,)), ((5, 1, 2, 3), (4, 3, 2))],
)
def test_matrix_products_follow_numpy(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    x, y = floats(*a, dtype="float64"), floats(*b, dtype="float64")
    np.testing.assert_allclose(computed("matmul", [x, y]), np.matmul(x, y))


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("attrs", [{}, {"axes": (0, -1), "keepdims": True}, {"axes": (1,)}])
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_reductions_follow_numpy(name: str, attrs: dict[str, Any], dtype: str) -> None:
    x = RNG.integers(-3, 4, (2, 3, 4)).astype(dtype)
    axis, keepdims = attrs.get("axes"), attrs.get("keepdims", False)
    expected = getattr(np, name)(x, axis=axis, keepdims=keepdims)
    expected = np.trunc(expected) if dtype == "int32" else expected
    np.testing.assert_allclose(computed(name, [x], **attrs), expected)


def test_the_position_of_the_largest_is_the_first_one() -> None:
    x = np.array([[1, 3, 3], [2, 2, 0]])
    assert computed("argmax", [x], axis=1).tolist() == [1, 0]
    assert computed("argmin", [x], axis=-1, keepdims=True).tolist() == [[0], [2]]


def test_batch_normalisation_is_as_in_onnx() -> None:
    x, (s, b, m), v = floats(2, 3, 4, 5), (floats(3) for _ in range(3)), np.abs(floats(3))
    found = computed("batch_norm", [x, s, b, m, v], epsilon=1e-3)
    expected = onnx_result("BatchNormalization", [x, s, b, m, v], epsilon=1e-3)[0]
    np.testing.assert_allclose(found, expected, 1e-5, 1e-6)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_local_response_normalisation_is_as_in_onnx(size: int) -> None:
    # The reference runs over as many channels as there are images.
    x = floats(6, 6, 3, 2)
    attrs = {"size": size, "alpha": 0.3, "beta": 0.6, "bias": 2.0}
    expected = onnx_result("LRN", [x], **attrs)[0]
    np.testing.assert_allclose(computed("lrn", [x], **attrs), expected, 1e-5)


@pytest.mark.parametrize(("name", "op"), [("softmax", "Softmax"), ("log_softmax", "LogSoftmax")])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_is_as_in_onnx(name: str, op: str, axis: int) -> None:
    x = floats(3, 4, 5) * 8
    expected = onnx_result(op, [x], axis=axis)[0]
    np.testing.assert_allclose(computed(name, [x], axis=axis), expected, 1e-5, 1e-6)


def test_shaping_follows_numpy() -> None:
    x = floats(2, 3, 4)
    assert (computed("reshape", [x], shape=(4, -1)) == x.reshape(4, 6)).all()
    assert (computed("transpose", [x], axes=(2, 0, -2)) == x.transpose(2, 0, 1)).all()
    assert (computed("transpose", [x]) == x.T).all()
    assert computed("expand_dims", [x], axes=(0, -1)).shape == (1, 2, 3, 4, 1)
    assert computed("squeeze", [x[:1]], axes=(0,)).shape == (3, 4)
    assert computed("broadcast_to", [x[:, :1]], shape=(5, -1, 3, 4)).shape == (5, 2, 3, 4)
    assert (computed("concat", [x, x[:, :1]], axis=-2) == np.concatenate([x, x[:, :1]], 1)).all()


def test_slices_follow_numpy() -> None:
    x, low = floats(5, 6), -(2**63)
    found = computed("slice", [x], begins=(-1, 1), ends=(low, 100), strides=(-2, 2), axes=(0, 1))
    np.testing.assert_array_equal(found, x[::-2, 1::2])
    assert computed("slice", [x], begins=(3,), ends=(1,), axes=(-1,)).shape == (5, 0)


def test_padding_surrounds_and_negative_pads_cut() -> None:
    x = floats(2, 3)
    found = computed("pad", [x], pads=(1, -1, 0, 2), value=7.0)
    np.testing.assert_array_equal(found, np.pad(x[:, 1:], ((1, 0), (0, 2)), constant_values=7))


def test_taking_counts_from_the_end_and_stays_inside() -> None:
    x = np.arange(10.0).reshape(2, 5)
    found = computed("take", [x, np.array([[0, -1], [9, -9]])], axis=1)
    np.testing.assert_array_equal(found, x[:, [[0, 4], [4, 0]]])


def test_arrays_are_made_of_one_value() -> None:
    assert computed("full", [], shape=(2, 1), value=3, dtype="i8").tolist() == [[3], [3]]
    assert computed("full_like", [floats(2)], value=-0.0).tolist() == [-0.0, -0.0]


def test_choosing_broadcasts_all_three() -> None:
    cond, a, b = np.array([[True], [False]]), floats(2), floats(1)
    np.testing.assert_array_equal(computed("where", [cond, a, b]), np.where(cond, a, b))


@pytest.mark.parametrize("dtype", ["float16", "float64", "bfloat16"])
def test_results_stay_in_the_type_that_came(dtype: str) -> None:
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    x = floats(1, 2, 4, 4).astype(kind)
    ones = np.ones(2, kind)
    for name, spec in OPS.items():
        if spec.args != ("x",) or name in ("cast", "isnan", "isinf", "isfinite", "logical_not"):
            continue
        attrs: dict[str, Any] = {
            "max_pool": {"kernel": (2, 2)}, "max_pool_with_indices": {"kernel": (2, 2)},
            "avg_pool": {"kernel": (2, 2)}, "lrn": {"size": 3}, "reshape": {"shape": (32,)},
            "expand_dims": {"axes": (0,)}, "squeeze": {"axes": (0,)},
            "broadcast_to": {"shape": (-1, -1, -1, -1)}, "pad": {"pads": (0,) * 8},
            "slice": {"begins": (0,), "ends": (1,)},
        }.get(name, {})  # fmt: skip
        computed(name, [x], **attrs)
    computed("conv", [x, x], pads=(1, 1, 1, 1))
    computed("batch_norm", [x, ones, ones, ones, ones])
    computed("matmul", [x, x])


SYMBOLIC = [
    ("conv", ["n,3,h,9", "4,3,3,3"], {"pads": (1, 0, 1, 0)}, "n,4,h,7"),
    ("matmul", ["n,3,4", "4,m"], {}, "n,3,m"),
    ("add", ["n,1", "1,m"], {}, "n,m"),
    ("reshape", ["n,3,4"], {"shape": (-1, 12)}, "n,12"),
    ("reshape", ["n,3,4"], {"shape": (-1, 6)}, "2n,6"),
    ("transpose", ["n,3,m"], {}, "m,3,n"),
    ("mean", ["n,3,m"], {"axes": (1,)}, "n,m"),
    ("concat", ["n,3", "n,4"], {"axis": 1}, "n,7"),
    ("softmax", ["n,m"], {}, "n,m"),
    ("broadcast_to", ["n,1"], {"shape": (2, -1, 5)}, "2,n,5"),
    ("slice", ["n,7"], {"begins": (1,), "ends": (3,), "axes": (1,)}, "n,2"),
    ("take", ["n,7", "m"], {"axis": 1}, "n,m"),
    ("squeeze", ["n,1"], {"axes": (1,)}, "n"),
]


@pytest.mark.parametrize(("name", "args", "attrs", "expected"), SYMBOLIC)
def test_symbolic_dimensions_pass_through(
    name: str, args: list[str], attrs: dict[str, Any], expected: str
) -> None:
    known = {letter: Var(letter) for letter in "nmh"}

    def read(text: str) -> TensorType:
        dims = [
            known[part] if part in known else known["n"] * 2 if part == "2n" else int(part)
            for part in text.split(",")
        ]
        return tensor_type(dims)

    types = [read(arg) for arg in args]
    if name == "take":
        types[1] = TensorType(types[1].shape, I64)
    assert OPS[name].infer(types, attrs) == read(expected)


WRONG = [
    ("conv", ["1,3,8,8", "4,2,3,3"], {}, "conv: argument w: expected 3 input channels"),
    ("conv", ["1,3,2,8", "4,3,3,3"], {}, "does not fit into spatial axis 0 of 2"),
    ("conv", ["1,3,8", "4,3,3,3"], {}, "argument w must have rank 3"),
    ("conv", ["1,3,8,8", "4,3,3,3", "5"], {}, "argument b must have 4 along axis 0"),
    ("conv", ["1,3,8,8", "4,3,3,3"], {"strides": (0, 1)}, "attribute strides must be 2 integers"),
    ("add", ["2,3", "4,3"], {}, "argument b of shape [4, 3] does not broadcast with a"),
    ("matmul", ["2,3", "2,3"], {}, "argument b: expected 3 along axis -2"),
    ("reshape", ["2,3"], {"shape": (4, -1)}, "does not have as many elements"),
    ("concat", ["2,3", "2,4"], {}, "argument xs[1] must have 3 along axis 1"),
    ("sum", ["2,3"], {"axes": (2,)}, "axes holds 2 is out of range"),
    ("softmax", ["2"], {"axis": 1}, "axis 1 is out of range: expected -1 to 0"),
    ("max_pool", ["1,1,4,4"], {"kernel": (2, 2), "pads": (2, 0, 0, 0)}, "pads must be smaller"),
    ("relu", ["1", "2"], {}, "relu takes 1 arguments (x), found 2"),
    ("take", ["2", "2"], {}, "argument indices must be integers, found f32"),
    ("logical_and", ["2", "2"], {}, "argument a must be bool, found f32"),
    ("lrn", ["1,2"], {}, "lrn needs the attribute 'size'"),
    ("relu", ["1"], {"slope": 1}, "relu has no attribute 'slope'; it has: none"),
    ("conv", ["1,3,8,8", "4,3,3,3"], {"groups": 1.5}, "attribute groups must be a number (int)"),
]


@pytest.mark.parametrize(("name", "args", "attrs", "message"), WRONG)
def test_errors_name_operator_argument_and_what_was_expected(
    name: str, args: list[str], attrs: dict[str, Any], message: str
) -> None:
    types = [tensor_type([int(part) for part in arg.split(",")]) for arg in args]
    with pytest.raises((ShapeError, DTypeError, OptionError)) as caught:
        OPS[name].infer(types, attrs)
    assert message in str(caught.value)
    assert str(caught.value).startswith(name)


IMAGE = floats(1, 2, 4, 4)
SPECIAL: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "cast": ([IMAGE], {"dtype": "i16"}),
    "logical_not": ([IMAGE > 0], {}),
    "where": ([IMAGE > 0, IMAGE, IMAGE[:, :1]], {}),
    "conv": ([IMAGE, floats(3, 2, 2, 2), floats(3)], {"strides": (1, 2)}),
    "matmul": ([IMAGE, IMAGE], {}),
    "max_pool": ([IMAGE], {"kernel": (3, 2)}),
    "max_pool_with_indices": ([IMAGE], {"kernel": (3, 2), "ceil_mode": True}),
    "avg_pool": ([IMAGE], {"kernel": (3, 2), "strides": (2, 1)}),
    "batch_norm": ([IMAGE, *(np.ones(2, "f") for _ in range(4))], {}),
    "lrn": ([IMAGE], {"size": 2}),
    "reshape": ([IMAGE], {"shape": (8, -1)}),
    "expand_dims": ([IMAGE], {"axes": (-1, 1)}),
    "squeeze": ([IMAGE], {"axes": (0,)}),
    "broadcast_to": ([IMAGE], {"shape": (3, 5, -1, -1, -1)}),
    "concat": ([IMAGE, IMAGE, IMAGE], {"axis": -1}),
    "slice": ([IMAGE], {"begins": (3,), "ends": (-9,), "axes": (2,), "strides": (-2,)}),
    "pad": ([IMAGE], {"pads": (0, 1, -1, 0, 2, 0, 0, 3), "value": 1.5}),
    "take": ([IMAGE, np.array([[1, 0, -1]])], {"axis": 1}),
    "full": ([], {"shape": (2, 3), "value": 4}),
}
INTEGERS = ("bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right")


@pytest.mark.parametrize("name", OPS)
def test_what_is_inferred_is_what_is_computed(name: str) -> None:
    if name in SPECIAL:
        arrays, attrs = SPECIAL[name]
    elif name.startswith("logical_"):
        arrays, attrs = [IMAGE > 0, IMAGE[:, :1] > 0], {}
    elif name in INTEGERS:
        arrays, attrs = [np.array([[5], [6]]), np.array([1, 2, 3])], {}
    else:
        arrays, attrs = [IMAGE, IMAGE[:, :, :1]][: len(OPS[name].args)], {}
    computed(name, arrays, **attrs)
