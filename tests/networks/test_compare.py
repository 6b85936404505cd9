"""What the comparison of networks calls wrong."""

import numpy as np
import pytest

from tests.networks.compare import LIMITS, Arrays, judge, relative_error

WANT: Arrays = {"y": np.array([1.0, -4.0], np.float32), "at": np.array([3, 5])}


def changed(**arrays: object) -> Arrays:
    return {**WANT, **{name: np.asarray(array) for name, array in arrays.items()}}


def test_equal_outputs_agree_with_their_error() -> None:
    near = changed(y=np.array([1.0001, -4.0], np.float32))
    error, reason = judge(near, WANT, LIMITS["float32"])
    assert reason == ""
    assert error == pytest.approx(1e-4 / 4, rel=1e-2)


@pytest.mark.parametrize(
    ("got", "reason"),
    [
        (changed(y=np.array([1.001, -4.0], np.float32)), "output y differs by 2.5e-04"),
        (changed(y=np.array([np.nan, -4.0], np.float32)), "output y differs by nan"),
        (changed(y=np.array([[1.0, -4.0]], np.float32)), "shape (1, 2), expected (2,)"),
        (changed(y=np.array([1.0, -4.0])), "type float64, expected float32"),
        (changed(at=np.array([3, 4])), "output at differs in 1 elements"),
        (dict(reversed(WANT.items())), "outputs are ['at', 'y'], expected ['y', 'at']"),
        ({"y": WANT["y"]}, "outputs are ['y'], expected ['y', 'at']"),
    ],
)
def test_a_wrong_output_is_named(got: Arrays, reason: str) -> None:
    assert reason in judge(got, WANT, LIMITS["float32"])[1]


def test_an_expected_output_of_zeros_shows_nothing() -> None:
    zeros = np.zeros(3, np.float32)
    assert relative_error(zeros, zeros) == np.inf
