"""Passes that are wrong only at a width, at a constant, at a tie or for some sizes."""

from typing import Any

import pytest

from irkit.core import substitute
from irkit.debug import Verdict, check
from irkit.ir import LOOP_LEVEL, PrimFunc, parse, shape_vars
from irkit.transform import Phase, Pipeline, define_pass

POINTWISE = """
def f({params}, C: {out}[n]):
    for i in serial(0, n):
        C[i] = {value}
"""
Case = tuple[str, str, str, str]  # Parameters, type of the result, and both values.

WRONG: dict[str, Case] = {
    "average of bytes": ("A: u8[n], B: u8[n]", "u8", "u8((u16(A[i]) + u16(B[i])) >> u16(1))",
                         "(A[i] + B[i]) >> u8(1)"),
    "narrow sum": ("A: i32[n]", "i32", "A[i] + 1", "i32(i16(A[i]) + i16(1))"),
    "narrow compare": ("A: i64[n]", "bool", "A[i] > i64(5)", "i32(A[i]) > i32(5)"),
    "absolute value": ("A: i8[n]", "i8", "abs(A[i])", "max(A[i], -A[i]) & i8(127)"),
    "truncated quotient": ("A: i32[n]", "i32", "A[i] // 8", "truncdiv(A[i], 8)"),
    "quotient of quotients": ("A: i16[n]", "i16", "A[i] // i16(7) // i16(9)", "A[i] // i16(64)"),
    "shift for a product": ("A: i8[n]", "i16", "i16(A[i]) * i16(4)", "i16(A[i] << i8(2))"),
    "sum moved over a bound": ("A: i32[n]", "bool", "A[i] + 1 > 100000", "A[i] > 100000"),
    "limit of a type": ("A: i32[n]", "bool", "A[i] < A[i] + 1", "A[i] == A[i]"),
    "saturation": ("A: i32[n]", "i8", "i8(min(max(A[i], -128), 127))",
                   "i8(min(max(A[i], -127), 127))"),
    "lost high bit": ("A: u16[n]", "u32", "u32(A[i]) << u32(16)",
                      "u32(A[i] & u16(32767)) << u32(16)"),
    "a single constant": ("A: i32[n]", "i32", "A[i] + 4711",
                          "select(A[i] == 4711, 0, A[i] + 4711)"),
    "divisor zero": ("A: i32[n], B: i32[n]", "i32", "A[i] // B[i]", "A[i] // max(B[i], 1)"),
    "limits in the wrong order": ("A: i32[n], B: i32[n], D: i32[n]", "i32",
                                  "min(max(A[i], B[i]), D[i])", "max(min(A[i], D[i]), B[i])"),
    "ties": ("A: i32[n], B: i32[n]", "i32", "select(A[i] < B[i], 1, 0)",
             "select(A[i] <= B[i], 1, 0)"),
    "small fraction": ("A: f32[n]", "f32", "log1p(A[i])", "log(A[i] + f32(1.0))"),
    "rounded constant": ("A: f32[n]", "bool", "A[i] < f32(2.5)", "A[i] < f32(2.5000002)"),
    "through f16": ("A: f32[n]", "f32", "max(A[i], f32(0.0))", "f32(f16(max(A[i], f32(0.0))))"),
}  # fmt: skip

RIGHT: dict[str, Case] = {
    "doubled": ("A: i32[n]", "i32", "A[i] * 2", "A[i] + A[i]"),
    "mask": ("A: i32[n]", "i32", "A[i] // 4 * 4", "A[i] & -4"),
    "shift": ("A: i8[n]", "i8", "A[i] // i8(8)", "A[i] >> i8(3)"),
    "exchanged": ("A: f32[n], B: f32[n]", "f32", "min(A[i], B[i])", "min(B[i], A[i])"),
    "doubled float": ("A: f32[n]", "f32", "A[i] * f32(2.0)", "A[i] + A[i]"),
    "compared": ("A: i32[n]", "bool", "A[i] > 7", "7 < A[i]"),
    "wide": ("A: i8[n]", "i8", "A[i] + i8(100)", "i8(i16(A[i]) + i16(100))"),
}


def judged(case: Case) -> Verdict:
    params, out, before, after = case
    other = parse(POINTWISE.format(params=params, out=out, value=after).strip())

    @define_pass
    def change(func: PrimFunc) -> PrimFunc:
        return func.replace(body=_renamed(other, func).body)

    first = parse(POINTWISE.format(params=params, out=out, value=before).strip())
    (found,) = check(Pipeline(LOOP_LEVEL, (Phase(0, "only", (change,)),)).steps(first))
    assert found.changed
    return found


def _renamed(other: PrimFunc, func: PrimFunc) -> PrimFunc:
    """Return a function with the parameters and dimensions of another one."""
    names: dict[Any, Any] = dict(zip(shape_vars(other), shape_vars(func), strict=True))
    names |= dict(zip(other.params, func.params, strict=True))
    return substitute(other, names)


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_only_at_an_edge_is_found(name: str) -> None:
    found = judged(WRONG[name])
    assert found.status == "differs", str(found)


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_everywhere_gives_no_alarm(name: str) -> None:
    found = judged(RIGHT[name])
    assert found.status == "same", str(found)
