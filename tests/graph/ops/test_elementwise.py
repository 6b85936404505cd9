"""Elementwise operators against NumPy and the ONNX reference."""

import numpy as np
import pytest

from tests.graph.ops.references import computed, floats, onnx_result

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


def test_casting_floats_to_integers_saturates() -> None:
    x = np.array([1.9, -1.9, 300.0, -300.0, np.nan, np.inf, -np.inf], "float32")
    assert computed("cast", [x], dtype="i8").tolist() == [1, -1, 127, -128, 0, 127, -128]
    top = np.array([2.0**63, -(2.0**63), 2.0**64])
    assert computed("cast", [top], dtype="i64").tolist() == [2**63 - 1, -(2**63), 2**63 - 1]
    assert computed("cast", [top], dtype="u64").tolist() == [2**63, 0, 2**64 - 1]
