"""Arithmetic of f16 and bf16 in f32: the same bits, declared by every backend."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from irkit.codegen import legalisation
from irkit.core import Target, walk
from irkit.ir import Binary, Call, Cast, Compare, Expr, Ldexp, Max, Min, PrimFunc, interpret, parse
from irkit.passes.loop import widen_floats
from irkit.phases import LEGALIZE, phases_of

TYPES: dict[str, Any] = {"f16": np.float16, "bf16": ml_dtypes.bfloat16}
F4 = np.float32
ENDS = -32768, 32767
RULES: dict[str, Callable[..., Any]] = {
    "x + y": lambda x, y: F4(x) + F4(y),
    "x - y": lambda x, y: F4(x) - F4(y),
    "x * y": lambda x, y: F4(x) * F4(y),
    "x / y": lambda x, y: F4(x) / F4(y),
    "sqrt(x)": lambda x, y: np.sqrt(F4(x)),
    "abs(x)": lambda x, y: np.abs(F4(x)),
    "fmod(x, y)": lambda x, y: np.fmod(F4(x), F4(y)),
    "strict_mul(x, y)": lambda x, y: F4(x) * F4(y),
    "ldexp(x, i32(3))": lambda x, y: F4(x) * F4(8),
    "max(x, y)": lambda x, y: F4(x) if F4(x) > F4(y) or x != x else F4(y),
    "-x": lambda x, y: -F4(x),
    "select(x < y, x, y)": lambda x, y: F4(x) if x < y else F4(y),
    "cast(cast(x, i16), KIND)": lambda x, y: F4(np.clip(np.trunc(np.nan_to_num(F4(x))), *ENDS)),
    "cast(f64(1.00048828125001), KIND)": lambda x, y: F4(np.float64(1.00048828125001)),
}  # fmt: skip


def func_of(expr: str, kind: str) -> PrimFunc:
    value = expr.replace("x", "X[i]").replace("y", "Y[i]").replace("maX[i]", "max")
    value = value.replace("ldeX[i]p", "ldexp").replace("KIND", kind)
    return parse(
        f"def f(X: {kind}[n], Y: {kind}[n], Z: {kind}[n]):\n"
        f"    for i in serial(0, n):\n        Z[i] = {value}\n"
    )


def operands(kind: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    bits = rng.integers(0, 1 << 16, 400, np.uint16).view(TYPES[kind])
    plain = rng.standard_normal(400).astype(TYPES[kind])
    return np.concatenate([bits, plain]), np.concatenate([plain, bits[::-1]])


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("expr", RULES)
def test_each_operation_is_that_of_f32_rounded_once(expr: str, kind: str) -> None:
    func, (x, y) = func_of(expr, kind), operands(kind)
    wide = widen_floats(func)
    assert not [node for node in walk(wide.body, Expr) if _rounds_in_16_bits(node)]
    assert widen_floats(wide) is wide
    with np.errstate(all="ignore"):
        wanted = np.array([TYPES[kind](RULES[expr](a, b)) for a, b in zip(x, y, strict=True)])
        for each in (func, wide):
            found = np.zeros_like(x)
            interpret(each, x, y, found)
            np.testing.assert_array_equal(found.astype(F4), wanted.astype(F4), expr)


def _rounds_in_16_bits(node: Expr) -> bool:
    computed = isinstance(node, (Binary, Call, Ldexp)) and not isinstance(node, (Min, Max, Compare))
    return computed and node.dtype.is_float and node.dtype.bits == 16


@pytest.mark.parametrize("kind", ["f32", "f64", "i16"])
def test_other_types_stay(kind: str) -> None:
    func = func_of("x + y * x", kind)
    assert widen_floats(func) is func


def test_what_is_exact_stays() -> None:
    func = func_of("max(x, -y)", "bf16")
    assert widen_floats(func) is func
    assert not [*walk(func.body, Cast)]


@pytest.mark.parametrize(
    "target", ["host", "c", "wasm32", "rv64gcv", "raspberry-pi-4", "opencl", "cuda", "amdgpu"]
)
def test_every_backend_declares_it(target: str) -> None:
    made = Target(target) if target != "host" else Target.host()
    assert next(iter(legalisation(made))) == "widen-floats"
    assert "widen-floats" in phases_of(made, LEGALIZE).names
