"""Overloads and operands that PyTorch allows and exported networks seldom have, each with what
PyTorch 2.9 computes."""

from typing import Any

import numpy as np
import pytest

from irkit.frontend.torch import (
    NodeRef,
    TorchInput,
    TorchNode,
    TorchOutput,
    TorchProgram,
    TorchTensor,
    import_program,
)
from irkit.graph import arrays_of, interpret

X, NAN = NodeRef("x"), float("nan")
NAMES = {"float32": "f32", "int64": "i64", "int16": "i16", "uint8": "u8", "bool": "bool"}


def kind_of(array: Any) -> TorchTensor:
    return TorchTensor(array.shape, NAMES[array.dtype.name])


def run(target: str, args: list[Any], x: Any, like: Any, **kwargs: Any) -> Any:
    """Import a program of one operator, and interpret it; ``like`` has the type of the result."""
    node = TorchNode("y", target, args, kwargs, (kind_of(like),))
    given = TorchInput("x", "user", "x", kind_of(x))
    program = TorchProgram((given,), (node,), (TorchOutput("user", NodeRef("y")),))
    (found,) = arrays_of(interpret(import_program(program), [x]))
    return np.asarray(found)


FLOATS = np.array([[3, -3, 0], [3, -1, 1]], np.float32)
IMAGE = np.arange(9, dtype=np.float32).reshape(1, 3, 3)
BOOLS = np.array([[True, False], [True, True]])
EMPTY = np.zeros((2, 0), np.uint8)


@pytest.mark.parametrize(
    ("target", "args", "x", "expected"),
    [
        ("aten.var.dim", [X, None, False], FLOATS, np.float32(55 / 12)),
        ("aten.var.dim", [X, [1], True], FLOATS, np.array([9, 4], np.float32)),
        ("aten.var.default", [X, False], FLOATS, np.float32(55 / 12)),
        ("aten.var.dim", [X, [1]], np.zeros((1, 0), np.float32), np.array([NAN], np.float32)),
        ("aten.isinf.default", [X], np.array([1, 2], np.int16), np.array([False, False])),
        ("aten.isnan.default", [X], np.array([True]), np.array([False])),
        ("aten.sign.default", [X], BOOLS, BOOLS),
        ("aten.amax.default", [X, [1]], BOOLS, np.array([True, True])),
        ("aten.amin.default", [X, [1]], BOOLS, np.array([False, True])),
        ("aten.prod.dim_int", [X, 1], BOOLS, np.array([False, True])),
        ("aten.any.dim", [X, 1], EMPTY, np.array([0, 0], np.uint8)),
        ("aten.all.dim", [X, 1], EMPTY, np.array([1, 1], np.uint8)),
        ("aten.repeat.default", [X, [2, 1, 1]], BOOLS, np.tile(BOOLS, (2, 1, 1))),
        ("aten.repeat.default", [X, [0, 1]], BOOLS, np.zeros((0, 2), bool)),
        ("aten.argmax.default", [X, None, True], FLOATS, np.array([[0]])),
        ("aten.argmin.default", [X, 0], np.array(5, np.int64), np.array(0)),
        ("aten.fill.Scalar", [X, 0.5], np.array([False]), np.array([True])),
        ("aten.fill.Scalar", [X, -1], np.array([3], np.uint8), np.array([255], np.uint8)),
        ("aten.full_like.default", [X, 2], np.array([False]), np.array([True])),
        ("aten.avg_pool1d.default", [X, [2]], FLOATS, np.array([[0], [1]], np.float32)),
        ("aten.avg_pool2d.default", [X, [2, 2], [1, 1]], IMAGE,
         np.array([[[2, 3], [5, 6]]], np.float32)),
        ("aten._adaptive_avg_pool2d.default", [X, [1, 1]], IMAGE,
         np.array([[[4]]], np.float32)),
    ],
)  # fmt: skip
def test_an_overload_computes_what_pytorch_does(
    target: str, args: list[Any], x: Any, expected: Any
) -> None:
    found = run(target, args, x, np.asarray(expected))
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_condition_may_be_a_number() -> None:
    found = run("aten.where.self", [X, X, 7], np.array([0, 2], np.uint8), np.zeros(2, np.uint8))
    np.testing.assert_array_equal(found, [7, 2])
