"""Type inference of operators: symbolic shapes, errors, agreement with evaluation."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from irkit.core import DTypeError, OptionError, ShapeError
from irkit.graph import OPS, TensorType, tensor_type
from irkit.ir import I64, Var
from tests.graph.ops.references import computed, floats


@pytest.mark.parametrize("dtype", ["float16", "float64", "bfloat16"])
def test_results_have_the_type_of_the_arguments(dtype: str) -> None:
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    x = floats(1, 2, 4, 4).astype(kind)
    ones = np.ones(2, kind)
    for name, spec in OPS.items():
        if spec.args != ("x",) or name in ("cast", "isnan", "isinf", "isfinite", "logical_not"):
            continue
        attrs: dict[str, Any] = {
            "max_pool": {"kernel": (2, 2)}, "max_pool_with_indices": {"kernel": (2, 2)},
            "avg_pool": {"kernel": (2, 2)}, "lrn": {"size": 3}, "lrn_blocked": {"size": 9},
            "reshape": {"shape": (32,)},
            "expand_dims": {"axes": (0,)}, "squeeze": {"axes": (0,)},
            "broadcast_to": {"shape": (-1, -1, -1, -1)}, "pad": {"pads": (0,) * 8},
            "slice": {"begins": (0,), "ends": (1,)},
            "block_channels": {"lanes": 3}, "unblock_channels": {"channels": 7},
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
    ("scatter", ["n,7,h", "m,1", "n,m,h"], {"axis": 1}, "n,7,h"),
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
    if name in ("take", "scatter"):
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
    ("scatter", ["2,3", "1,1", "1,3"], {}, "argument indices must be signed integers, found f32"),
    ("logical_and", ["2", "2"], {}, "argument a must be bool, found f32"),
    ("lrn", ["1,2"], {}, "lrn needs the attribute 'size'"),
    ("relu", ["1"], {"slope": 1}, "relu has no attribute 'slope'; it has: none"),
    ("matmul_panels", ["2,3", "2,3,4"], {"columns": 9}, "argument b must have 3 along axis 0"),
    (
        "matmul_quantized_panels",
        ["2,6", "1,3,4", "1,3,4"],
        {"columns": 4, "block": 4, "bits": 4},
        "argument a must have a last axis of whole blocks",
    ),
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
BYTES = np.abs(IMAGE * 40).astype(np.uint8)
SPECIAL: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "cast": ([IMAGE], {"dtype": "i16"}),
    "logical_not": ([IMAGE > 0], {}),
    "where": ([IMAGE > 0, IMAGE, IMAGE[:, :1]], {}),
    "conv": ([IMAGE, floats(3, 2, 2, 2), floats(3)], {"strides": (1, 2)}),
    "matmul": ([IMAGE, IMAGE], {}),
    "attention": (
        [IMAGE, IMAGE, IMAGE[..., :3], IMAGE[0, 0] > 0],
        {"scale": 0.5, "axes": (0, 2, 1, 3)},
    ),
    "conv_integer": ([BYTES, BYTES.astype(np.int8)], {"strides": (2, 1)}),
    "matmul_4bit": ([IMAGE, BYTES[0, 0, :2], np.ones((2, 4), "f")], {"block": 2}),
    "matmul_8bit": (
        [IMAGE, BYTES[0, 0].astype(np.int8), np.ones((2, 4), "f"), BYTES[0, 0, :2].astype(np.int8)],
        {"block": 2},
    ),
    "matmul_quantized_panels": (
        [IMAGE, BYTES[0, :, :2], np.ones((2, 2, 4), "f")],
        {"columns": 7, "block": 2, "bits": 4},
    ),
    "block_channels": ([IMAGE], {"lanes": 3}),
    "unblock_channels": ([IMAGE], {"channels": 7}),
    "conv_blocked": ([IMAGE, floats(3, 1, 2, 2, 2, 4), floats(3, 4)], {"strides": (1, 2)}),
    "conv_gathered": (
        [IMAGE, np.array([[7, 0, -2], [1, 1, 9]]), floats(4, 2, 3, 4), floats(4, 4)],
        {"strides": (2,)},
    ),
    "gather_channels": ([IMAGE, np.array([[7, -1], [3, 9], [0, 0]])], {}),
    "conv_winograd": (
        [IMAGE[..., None], floats(1, 4, 4, 2, 2, 1, 1, 4), floats(2, 4)],
        {"tile": 2, "rows": 1},
    ),
    "depthwise_blocked": ([IMAGE, floats(2, 2, 4), floats(2, 4)], {"pads": (1, 0)}),
    "matmul_panels": ([IMAGE, floats(2, 4, 3)], {"columns": 5}),
    "matmul_integer": ([BYTES, BYTES.astype(np.int16)], {}),
    "max_pool": ([IMAGE], {"kernel": (3, 2)}),
    "max_pool_with_indices": ([IMAGE], {"kernel": (3, 2), "ceil_mode": True}),
    "avg_pool": ([IMAGE], {"kernel": (3, 2), "strides": (2, 1)}),
    "batch_norm": ([IMAGE, *(np.ones(2, "f") for _ in range(4))], {}),
    "lrn": ([IMAGE], {"size": 2}),
    "lrn_blocked": ([IMAGE], {"size": 7}),
    "reshape": ([IMAGE], {"shape": (8, -1)}),
    "expand_dims": ([IMAGE], {"axes": (-1, 1)}),
    "squeeze": ([IMAGE], {"axes": (0,)}),
    "broadcast_to": ([IMAGE], {"shape": (3, 5, -1, -1, -1)}),
    "concat": ([IMAGE, IMAGE, IMAGE], {"axis": -1}),
    "slice": ([IMAGE], {"begins": (3,), "ends": (-9,), "axes": (2,), "strides": (-2,)}),
    "pad": ([IMAGE], {"pads": (0, 1, -1, 0, 2, 0, 0, 3), "value": 1.5}),
    "take": ([IMAGE, np.array([[1, 0, -1]])], {"axis": 1}),
    "scatter": ([IMAGE, np.array([[1, 0], [1, 3]]), IMAGE[:, :, 0]], {"axis": 1}),
    "full": ([], {"shape": (2, 3), "value": 4}),
}
INTEGERS = ("bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right")


@pytest.mark.parametrize("name", OPS)
def test_inferred_types_match_computed_results(name: str) -> None:
    if name in SPECIAL:
        arrays, attrs = SPECIAL[name]
    elif name.startswith("logical_"):
        arrays, attrs = [IMAGE > 0, IMAGE[:, :1] > 0], {}
    elif name in INTEGERS:
        arrays, attrs = [np.array([[5], [6]]), np.array([1, 2, 3])], {}
    else:
        arrays, attrs = [IMAGE, IMAGE[:, :, :1]][: len(OPS[name].args)], {}
    computed(name, arrays, **attrs)
