"""Single operations: lanes like scalars, intrinsics like the mathematical functions, exact
rounding."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit.ir import (
    BF16,
    BOOL,
    F16,
    F32,
    F64,
    I8,
    I32,
    I64,
    INTRINSICS,
    U8,
    U64,
    Binary,
    Compare,
    Const,
    DType,
    Evaluate,
    Expr,
    InterpretedFunction,
    Max,
    Min,
    PrimFunc,
    Var,
    binary as make_binary,
    broadcast,
    call,
    cast,
    eq,
    evaluate,
    maximum,
    minimum,
    numpy_dtype,
    ramp,
    select,
)
from tests.draws import few_or_all
from tests.ir.classes import leaves

FLOATS = [0.0, -0.0, 1.0, -1.5, 2.5, 0.1, 300.0, -70000.0, 1e20, math.inf, -math.inf, math.nan]
INTEGERS = [-128, -7, -1, 0, 1, 3, 8, 127]


def edges(dtype: DType) -> list[float]:
    if dtype.is_bool:
        return [False, True]
    return FLOATS if dtype.is_float else [v for v in INTEGERS if dtype.low <= v <= dtype.high]


def every_use(a: Expr, b: Expr) -> list[Expr]:
    """Return each operation that is defined on two operands."""
    found: list[Expr] = []
    for cls in leaves(Binary):
        try:
            found.append(make_binary(cls, a, b))
        except TypeError:
            assert cls not in (Min, Max)
            assert not issubclass(cls, Compare)
    for row in INTRINSICS.values():
        if row.on == "effect":
            continue
        try:
            found.append(call(row.name, *(a, b, a)[: row.arity]))
        except TypeError:
            assert not row.accepts(a.dtype)
    targets = (BOOL, I8, I32, U8, U64, F16, BF16, F32, F64)
    found += [cast(a, target) for target in targets if target != a.dtype.element]
    return found


@pytest.mark.parametrize("dtype", [BOOL, I8, U8, I32, I64, U64, F16, BF16, F32, F64], ids=str)
def test_each_lane_is_what_the_scalar_operation_gives(dtype: DType) -> None:
    a, b = Var("a", dtype), Var("b", dtype)
    first_lane = eq(ramp(0, 1, 2), 0)
    left = select(first_lane, broadcast(a, 2), broadcast(b, 2))
    right = select(first_lane, broadcast(b, 2), broadcast(a, 2))
    for scalar, lanes in zip(every_use(a, b), every_use(left, right), strict=True):
        alone, together = compiled(scalar, a, b), compiled(lanes, a, b)
        for x, y in product(edges(dtype), edges(dtype)[::3]):
            expected = np.array([alone(x, y), alone(y, x)])
            found = together(x, y)
            assert found.dtype == expected.dtype == numpy_dtype(scalar.dtype)
            np.testing.assert_array_equal(found.astype("f8"), expected.astype("f8"), str(scalar))


def compiled(expr: Expr, *params: Var) -> Callable[..., Any]:
    """Compile an expression once, to evaluate it many times."""
    run = InterpretedFunction(PrimFunc("f", params, Evaluate(expr)))
    return lambda *args: run.run(args, None, 1 << 20)[run.result]


TRUE = {
    "exp": math.exp, "exp2": math.exp2, "expm1": math.expm1, "log": math.log, "log2": math.log2,
    "log10": math.log10, "log1p": math.log1p, "sqrt": math.sqrt,
    "rsqrt": lambda x: 1 / math.sqrt(x), "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "tanh": math.tanh, "erf": math.erf, "sin": math.sin, "cos": math.cos, "tan": math.tan,
    "asin": math.asin, "acos": math.acos, "atan": math.atan, "sinh": math.sinh,
    "cosh": math.cosh, "asinh": math.asinh, "acosh": math.acosh, "atanh": math.atanh,
    "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "round": round, "abs": abs,
    "sign": lambda x: (x > 0) - (x < 0), "isnan": math.isnan, "isinf": math.isinf,
    "isfinite": math.isfinite, "pow": math.pow, "atan2": math.atan2, "fmod": math.fmod,
    "fma": lambda a, b, c: a * b + c, "muladd": lambda a, b, c: a * b + c,
    "strict_add": lambda a, b: a + b, "strict_sub": lambda a, b: a - b,
    "strict_mul": lambda a, b: a * b,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(n for n, row in INTRINSICS.items() if row.on != "effect"))
def test_every_intrinsic_on_floats_is_the_function_of_its_name(name: str) -> None:
    if INTRINSICS[name].on == "integer":
        assert name not in TRUE
        return
    xs = [1.25, 2.75] if name == "acosh" else [0.125, 0.75]
    for x in xs:
        args = (x, 0.5, -2.0)[: INTRINSICS[name].arity]
        for dtype, tolerance in [(F64, 1e-14), (F32, 1e-7), (F16, 1e-3), (BF16, 8e-3)]:
            value = float(evaluate(call(name, *(Const(arg, dtype) for arg in args))))
            assert value == pytest.approx(float(TRUE[name](*args)), rel=tolerance), dtype


@pytest.mark.parametrize(("dtype", "bits"), [(F32, 24), (F64, 53)], ids=str)
def test_fma_rounds_once(dtype: DType, bits: int) -> None:
    a, b, c = (Var(name, dtype) for name in "abc")
    run = compiled(call("fma", a, b, c), a, b, c)
    width = st.integers(-(1 << bits) + 1, (1 << bits) - 1)

    @settings(max_examples=few_or_all(60, 150), derandomize=True, deadline=None, database=None)
    @given(width, width, width, st.integers(-2 * bits, 2 * bits))
    def check(x: int, y: int, z: int, scale: int) -> None:
        exact = Fraction(x) * y + Fraction(z) * Fraction(2) ** scale
        found = Fraction(float(run(x, y, math.ldexp(z, scale))))
        kind = numpy_dtype(dtype).type
        nearest = [
            Fraction(float(np.nextafter(kind(found), kind(side)))) for side in (-np.inf, np.inf)
        ]
        assert all(abs(exact - found) <= abs(exact - other) for other in nearest)

    check()


def test_fma_sees_what_lies_below_the_last_place_of_f64() -> None:
    # 24929 * 673 is 2**24 + 1, half way between two f32; only the tiny addend decides.
    for tiny, rounded in [(2.0**-40, 2**24 + 2), (-(2.0**-40), 2**24)]:
        args = (Const(24929.0, F32), Const(673.0, F32), Const(tiny, F32))
        assert evaluate(call("fma", *args)) == rounded


def test_minimum_and_maximum_return_nan_and_the_second_of_two_zeros() -> None:
    for function in (minimum, maximum):
        for a, b in [(math.nan, 1.0), (1.0, math.nan)]:
            assert math.isnan(evaluate(function(Const(a, F32), Const(b, F32))))
        for a, b in [(0.0, -0.0), (-0.0, 0.0)]:
            assert math.copysign(1, evaluate(function(Const(a, F32), Const(b, F32)))) == (
                math.copysign(1, b)
            )


def test_sixteen_bits_are_computed_in_f32_and_rounded_after_each_operation() -> None:
    # In f32 the sum would be 2049; f16 has no such number, and bf16 none between 256 and 258.
    x = Const(2048.0, F16)
    assert evaluate(x + 1.0 + 1.0) == 2048.0
    y = Const(256.0, BF16)
    assert float(evaluate(y + 1.0 + 1.0)) == 256.0
    assert evaluate(Const(60000.0, F16) * 2.0) == math.inf
