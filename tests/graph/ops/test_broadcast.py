"""Broadcasting operators against NumPy and the ONNX reference."""

import numpy as np
import pytest

from tests.graph.ops.references import RNG, computed, floats, onnx_result

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


def test_choosing_broadcasts_all_three() -> None:
    cond, a, b = np.array([[True], [False]]), floats(2), floats(1)
    np.testing.assert_array_equal(computed("where", [cond, a, b]), np.where(cond, a, b))
