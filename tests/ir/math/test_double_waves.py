"""sin, cos and tan of f64 are within one unit of true values, computed by whole numbers."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from irkit.core import Target
from irkit.ir.math.doubles import quarter_turns, waves
from tests.draws import few_or_all
from tests.ir.math.test_double_functions import ran, samples, true_values, ulps
from tests.ir.math.test_polynomials import TARGETS

BITS = 1400
ONE = 1 << BITS
# Near multiples of pi/2, the first nearest of all, both sides of the limits, and the largest.
HARD = [
    6381956970095103 * 2.0**797, 6411027962775774 * 2.0**-48, 5319372648326541 * 2.0**257,
    math.pi, math.pi / 2, math.pi / 4, 3 * math.pi / 4, 11 * math.pi / 2, 1e22, 2.0**19, 2.0**20,
    math.nextafter(2.0**20, 0), 2.0**1023, 1.7976931348623157e308, 2.0**-27,
    math.nextafter(2.0**-27, 0), 5e-324, 1e-310, 0.1,
]  # fmt: skip


def arctangent_of_inverse(n: int) -> int:
    """Return atan(1 / n) * ONE, by its series."""
    total = at = 0
    term = ONE // n
    while term:
        total += (-term if at % 2 else term) // (2 * at + 1)
        term, at = term // (n * n), at + 1
    return total


@cache
def pi() -> int:
    """Return pi * ONE, by Machin's formula."""
    return 4 * (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239))


def both_waves(x: float) -> tuple[int, int]:
    """Return sine and cosine of a number, times ONE: over 300 bits of them are right."""
    above, below = x.as_integer_ratio()
    angle = above * ONE // below % (2 * pi())
    sums = [0, 0]
    term, at = ONE, 0
    while term:
        sums[at % 2] += -term if at % 4 > 1 else term
        at += 1
        term = term * angle // (at * ONE)
    return sums[1], sums[0]


def apart(name: str, x: float, got: float) -> float:
    """Return the distance from the true value, in units in the last place of it."""
    sine, cosine = both_waves(x)
    true = Fraction(
        {"sin": sine, "cos": cosine, "tan": sine}[name], cosine if name == "tan" else ONE
    )
    return float(abs(Fraction(got) - true) / Fraction(math.ulp(float(true))))


@pytest.mark.parametrize("target", TARGETS, ids=["host", "plain"])
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_hard_numbers_are_within_one_unit(name: str, target: Target) -> None:
    rng = np.random.default_rng(5)
    drawn = few_or_all(5, 5000)
    wild = rng.integers(0, 0x7FF0 << 48, drawn, dtype="u8").view("f8")
    multiples = np.pi / 2 * rng.integers(1, 1 << 24, drawn).astype("f8")
    x = np.concatenate([HARD, wild, multiples])
    x = np.concatenate([x, -x, np.zeros(-2 * len(x) % 8)])
    errors = [
        apart(name, *each) for each in zip(x.tolist(), ran(name, [x], target).tolist(), strict=True)
    ]
    assert max(errors) <= 1.0, x[int(np.argmax(errors))]


@pytest.mark.parametrize("target", TARGETS, ids=["host", "plain"])
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_random_numbers_are_within_one_unit(name: str, target: Target) -> None:
    count = few_or_all(20_000, 2_000_000)
    rng = np.random.default_rng(6)
    near = [rng.uniform(-size, size, count) for size in (0.8, 10.0, 1e6, 1e7, 1e300)]
    wild = rng.integers(0, 1 << 64, count, dtype="u8").view("f8")
    x = np.concatenate([*near, wild, samples()])
    error = ulps(ran(name, [x], target), true_values(name, [x]))
    assert error.max() <= 1.0, x[int(error.argmax())]


def test_the_sign_of_zero_and_what_is_no_number() -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 0.0])
    for name in ("sin", "tan"):
        got = ran(name, [x], TARGETS[0])
        assert np.array_equal(got[[0, 1, 5, 6]].view("u8"), x[[0, 1, 5, 6]].view("u8"))
        assert np.isnan(got[2:5]).all()
    got = ran("cos", [x], TARGETS[0])
    assert np.isnan(got[2:5]).all()
    assert (got[[0, 1, 5, 6]] == 1.0).all()


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_a_scalar_and_every_lane_have_the_same_bits(name: str) -> None:
    x = samples()
    for target in TARGETS:
        alone, together = ran(name, [x], target, 1), ran(name, [x], target)
        assert (alone.view("u8") == together.view("u8"))[~np.isnan(alone)].all()


def test_the_digits_are_those_of_two_over_pi() -> None:
    bits = 64 * quarter_turns.WORDS - quarter_turns.ZEROS
    assert 2 * ONE * ONE // pi() >> (BITS - bits) == quarter_turns.TWO_OVER_PI
    parts = sum(Fraction(part) for part in waves.HALF_PI)
    assert abs(parts - Fraction(pi(), 2 * ONE)) < Fraction(1, 1 << 156)
    assert abs(sum(map(Fraction, quarter_turns.HALF_PI)) - Fraction(pi(), 2 * ONE)) < Fraction(
        1, 1 << 107
    )


@pytest.mark.long
@pytest.mark.parametrize("table", ["_SIN", "_COS", "HALF_PI"])
def test_a_wrong_coefficient_is_found(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right: tuple[float, ...] = getattr(waves, table)
    x = np.concatenate([np.linspace(-1.6, 1.6, 4000), np.pi / 2 * np.arange(4000)])
    for place, coefficient in enumerate(right):
        wrong = coefficient * (1.5 if place < len(right) - 1 else 1.1)
        monkeypatch.setattr(waves, table, (*right[:place], wrong, *right[place + 1 :]))
        errors = [
            ulps(ran(name, [x], TARGETS[0]), true_values(name, [x])) for name in ("sin", "cos")
        ]
        assert max(error.max() for error in errors) > 1.0, place
