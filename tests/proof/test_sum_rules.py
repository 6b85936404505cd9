"""Rules of the simplifier about quotients, remainders and comparisons of sums, from their left
sides: programs drawn at random seldom meet them.

Each form holds for all values of its variables within their ranges; its constants take every value
of 8 bits (a part of them in the short run), and those at the edges of wider types.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

import pytest

from irkit.ir import (
    I8,
    I32,
    I64,
    U8,
    U64,
    Const,
    DType,
    Expr,
    Max,
    Min,
    Var,
    eq,
    ge,
    le,
    lt,
    script,
)
from irkit.ir.arith import Interval, Ranges, claim_of, simplify
from irkit.proof import Proved, Refuted, has_z3, prove_claim
from tests.draws import sampled

pytestmark = pytest.mark.skipif(not has_z3(), reason="z3 is not installed: extra prove")
Form = Callable[[Any, Any, Any, Any], Expr]
FORMS: dict[str, Form] = {
    "x // a // b": lambda x, y, a, b: x // a // b,
    "x // a % b": lambda x, y, a, b: x // a % b,
    "x % a // b": lambda x, y, a, b: x % a // b,
    "x % a % b": lambda x, y, a, b: x % a % b,
    "(x // a + b) // 3": lambda x, y, a, b: (x // a + b) // 3,
    "(x * a + y) // b": lambda x, y, a, b: (x * a + y) // b,
    "(x * a + y) % b": lambda x, y, a, b: (x * a + y) % b,
    "(x * a + b) // a": lambda x, y, a, b: (x * a + b) // a,
    "(x * a + b) % a": lambda x, y, a, b: (x * a + b) % a,
    "x // a * a + x % a + b": lambda x, y, a, b: x // a * a + x % a + b,
    "(x + b) // a * a + (x + b) % a": lambda x, y, a, b: (x + b) // a * a + (x + b) % a,
    "x + a < y + b": lambda x, y, a, b: lt(x + a, y + b),
    "x * a <= b": lambda x, y, a, b: le(x * a, b),
    "x * a + y < b": lambda x, y, a, b: lt(x * a + y, b),
    "x // a >= b": lambda x, y, a, b: ge(x // a, b),
    "x - a == b - y": lambda x, y, a, b: eq(x - a, b - y),
    "min(x + a, b)": lambda x, y, a, b: Min(x + a, b, x.dtype),
    "max(x + a, y + b)": lambda x, y, a, b: Max(x + a, y + b, x.dtype),
    "min(min(x, a), b)": lambda x, y, a, b: Min(Min(x, a, x.dtype), b, x.dtype),
}
WITH_Y = tuple(name for name in FORMS if "y" in name)
EDGES = (0, 1, 2, 3, 4, 5, 7, 8, 16, 60, 100, 127)


def ranges_of(x: Var, y: Var) -> list[Ranges]:
    """Return ranges in which sums fit their type, and none."""
    small, half, below = Interval(0, 7), Interval(0, 60), Interval(0, 3)
    return [{}, {x: small, y: below}, {x: half, y: below}, {x: Interval(-5, 9), y: small}]


def claims(name: str, dtype: DType, constants: Sequence[int]) -> Iterator[Any]:
    """Yield what the simplifier makes of a form, where it makes something of it."""
    x, y = Var("x", dtype), Var("y", dtype)
    numbers = [Const(each, dtype) for each in constants]
    for a, b in product(numbers, repeat=2):
        before = FORMS[name](x, y, a, b)
        for ranges in ranges_of(x, y):
            after = simplify(before, ranges)
            if after is not before:
                yield claim_of(before, after, ranges, ())


def looked_at(name: str, dtype: DType, constants: Sequence[int], seconds: float) -> dict[str, int]:
    """Prove each claim; return how many were proved and how many were not."""
    counts = {"proved": 0, "unknown": 0}
    for claim in claims(name, dtype, constants):
        outcome = prove_claim(claim, seconds=seconds)
        assert not isinstance(outcome, Refuted), (
            f"{script(claim.before)} became {script(claim.after)}, which differs at {outcome}"
        )
        counts["proved" if isinstance(outcome, Proved) else "unknown"] += 1
    return counts


def of_8_bits(dtype: DType, step: int) -> list[int]:
    return list(range(dtype.low, dtype.high + 1, step))


@pytest.mark.parametrize("name", sampled(FORMS, every=3))
def test_forms_of_8_bits_are_proved(name: str) -> None:
    step = 61 if name in WITH_Y else 41
    found = looked_at(name, I8, of_8_bits(I8, step), 1.0)
    assert found["unknown"] == 0
    assert found["proved"] > 0


@pytest.mark.long
@pytest.mark.parametrize("dtype", [I8, U8], ids=str)
@pytest.mark.parametrize("name", FORMS)
def test_forms_are_proved_for_all_constants_of_8_bits(name: str, dtype: DType) -> None:
    found = looked_at(name, dtype, of_8_bits(dtype, 3 if name in WITH_Y else 1), 1.0)
    assert found["unknown"] == 0
    assert found["proved"] > 0


@pytest.mark.long
@pytest.mark.parametrize("dtype", [I32, I64, U64], ids=str)
@pytest.mark.parametrize("name", FORMS)
def test_forms_of_wide_types_are_proved_at_the_edges(name: str, dtype: DType) -> None:
    wide = {dtype.high, dtype.high // 2 + 1, 1 << (dtype.bits - 2), dtype.low}
    constants = sorted({*EDGES, *wide, *((-1, -3) if dtype.low else ())})
    found = looked_at(name, dtype, constants, 5.0)
    assert found["unknown"] <= found["proved"] // 10
    assert found["proved"] > 0
