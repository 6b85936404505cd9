"""Values for which the expressions of a step differ: one in thousands, and one of 2**32."""

import numpy as np
import pytest

from irkit.core import substitute
from irkit.debug.counterexamples import counterexample_sets
from irkit.ir import PrimFunc, parse
from tests.debug.check.verdict_of_pair import judged

ELEMENTWISE = (
    "def f({params}, C: {out}[20]):\n    for i in serial(0, 20):\n        C[i] = {value}\n"
)


def _pair(types: str, out: str, before: str, after: str) -> tuple[str, str]:
    names = zip("AB", types.split(), strict=False)
    params = ", ".join(f"{name}: {dtype}[20]" for name, dtype in names)
    first, other = (
        ELEMENTWISE.format(params=params, out=out, value=value) for value in (before, after)
    )
    return first, other


WRONG = {
    "one of the bytes from 179 on": _pair(
        "u8", "u8", "A[i] // u8(10)", "cast(cast(A[i], u16) * u16(103) >> u16(10), u8)"
    ),
    "some large numbers": _pair(
        "u32", "u32", "A[i] // u32(10)", "cast(cast(A[i], u64) * u64(429496730) >> u64(32), u32)"
    ),
    "multiples of 400": _pair(
        "i32",
        "bool",
        "A[i] > i32(1582) and (A[i] % i32(100) != i32(0) or A[i] % i32(400) == i32(0))",
        "A[i] > i32(1582) and A[i] % i32(100) != i32(0)",
    ),
    "the solution of an equation": _pair(
        "i32", "i32", "(i32(1) if A[i] * i32(7) + i32(3) == i32(9216) else i32(0))", "i32(0)"
    ),
    "denormals": _pair(
        "f32",
        "f32",
        "A[i] * f32(0.75) * f32(0.25)",
        "A[i] * f32(0.1875)",
    ),
    "a tie of a sum that is rounded": _pair(
        "f32 f32",
        "bool",
        "A[i] * A[i] + f32(1.0) > B[i]",
        "cast(A[i], f64) * cast(A[i], f64) + f64(1.0) > cast(B[i], f64)",
    ),
}
RIGHT = {
    "a byte by ten": _pair(
        "u8", "u8", "A[i] // u8(10)", "cast(cast(A[i], u16) * u16(205) >> u16(11), u8)"
    ),
    "a word by ten": _pair(
        "u32",
        "u32",
        "A[i] // u32(10)",
        "cast(cast(A[i], u64) * u64(3435973837) >> u64(35), u32)",
    ),
    "a condition turned round": _pair(
        "i64 i64", "bool", "not (A[i] * 3 < B[i])", "B[i] <= A[i] * 3"
    ),
    "a quotient in double precision": _pair(
        "f32 f32", "f32", "A[i] / B[i]", "cast(cast(A[i], f64) / cast(B[i], f64), f32)"
    ),
}


def _versions(case: tuple[str, str]) -> tuple[PrimFunc, PrimFunc]:
    first, other = (parse(text) for text in case)
    names = dict(zip(other.params, first.params, strict=True))
    return first, substitute(other, names)


@pytest.mark.parametrize("name", WRONG)
def test_a_rare_difference_is_found(name: str) -> None:
    assert judged(WRONG[name]).status == "differs"


@pytest.mark.parametrize("name", RIGHT)
def test_equal_expressions_bring_no_inputs(name: str) -> None:
    before, after = _versions(RIGHT[name])
    assert not list(counterexample_sets(before, before, after, dims={}, seed=0))
    assert judged(RIGHT[name]).status == "same"


def test_all_bytes_are_tried() -> None:
    """One byte of 256 is enough, whatever the seed."""
    before, after = _versions(
        _pair("u8", "u8", "A[i]", "(u8(0) if A[i] == u8(201) else A[i] + u8(0))")
    )
    for seed in range(3):
        found = list(counterexample_sets(before, before, after, dims={}, seed=seed))
        assert [set(np.unique(each.args[0])) for each in found] == [{201}, {201}]


def test_names_and_views_are_looked_through() -> None:
    first = "def f(A: i32[4, 5], C: i32[4, 5]):\n    for i in serial(0, 4):\n" + (
        "        for j in serial(0, 5):\n            C[i, j] = A[i, j] * i32(3)\n"
    )
    other = (
        "def f(A: i32[4, 5], C: i32[4, 5]):\n    V = view(A, i32[20], offset=0)\n"
        "    for i in serial(0, 4):\n        for j in serial(0, 5):\n"
        "            x: i32 = V[i * 5 + j]\n"
        "            C[i, j] = select(x == i32(123457), i32(0), x * i32(3))\n"
    )
    assert judged((first, other)).status == "differs"
    right = other.replace("select(x == i32(123457), i32(0), x * i32(3))", "x + x + x")
    assert judged((first, right)).status == "same"


def test_a_change_of_a_condition_is_found() -> None:
    text = (
        "def f(A: i32[20], C: i32[20]):\n    for i in serial(0, 20):\n"
        "        if {}:\n            C[i] = i32(5)\n"
    )
    case = text.format("A[i] * i32(5) != i32(77777)"), text.format("A[i] == A[i]")
    assert judged(case).status == "differs"
