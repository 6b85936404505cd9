"""Conversions of floats that are bounded first: every number becomes what the cast alone gives."""

from typing import Any

import numpy as np
import pytest

from irkit.codegen import emit_c
from irkit.core import Target, walk
from irkit.ir import Cast, Conditional, Let, Load, as_dtype, cast, interpret, numpy_dtype, parse
from irkit.ir.math import is_saturated
from irkit.passes.loop import expand_conversions
from irkit.phases import LEGALIZE, phases_of
from tests.codegen.llvm.cases import elementwise

WHOLE = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]


def numbers(kind: str) -> Any:
    """Return the ends of every integer type with their neighbours, infinities and fractions."""
    made = [0.0, -0.0, 0.5, -0.5, 0.99999, -0.99999, np.inf, -np.inf, np.nan, 1e-40, 123.75]
    for bits in (7, 8, 15, 16, 31, 32, 63, 64):
        for sign in (1.0, -1.0):
            near = np.array(sign * 2.0**bits, "f4" if kind != "f64" else "f8")
            made += [near, near - 1, near + 1, near * 2]
            made += [np.nextafter(near, near.dtype.type(end)) for end in (0, sign * np.inf)]
    with np.errstate(all="ignore"):
        found = np.array(made, "f8").astype(numpy_dtype(as_dtype(kind)))
        wild = np.random.default_rng(0).integers(0, 1 << 16, 200 * found.itemsize // 2, "u2")
        found = np.concatenate([found, wild.view(found.dtype)])
    return found[: len(found) // 8 * 8]


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("whole", WHOLE)
@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64"])
def test_every_number_becomes_the_same(kind: str, whole: str, lanes: int) -> None:
    given = numbers(kind)
    func = elementwise("f", [as_dtype(kind)], len(given), lambda x: cast(x, whole), lanes)
    wanted, found = (np.zeros(len(given), numpy_dtype(as_dtype(whole))) for _ in range(2))
    bounded = expand_conversions(func)
    with np.errstate(all="ignore"):
        interpret(func, given, wanted)
        interpret(bounded, given, found)
    np.testing.assert_array_equal(found, wanted)
    assert expand_conversions(bounded) is bounded
    assert all(is_saturated(node) for node in walk(bounded.body, Cast) if node.dtype.is_integer)
    assert "irkit_to_" not in emit_c([bounded], Target("c"))


def test_a_guarded_load_stays_behind_its_guard() -> None:
    func = expand_conversions(parse(
        "def f(A: f32[8], C: i32[10]):\n    for i in serial(0, 10):\n"
        "        C[i] = (cast(A[i] * f32(2.0), i32) if i < 8 else 0)\n"
    ))  # fmt: skip
    (choice,) = walk(func.body, Conditional)
    assert any(True for _ in walk(choice.then, Load))
    assert not list(walk(func.body, Let))
    out = np.ones(10, "i4")
    interpret(func, np.linspace(0, 4, 8, dtype="f4"), out)
    assert out.tolist() == [0, 1, 2, 3, 4, 5, 6, 8, 0, 0]


@pytest.mark.parametrize(
    "text", ["cast(n, f32)", "f32(cast(A[0], f64))", "cast(A[0] > f32(0.0), f32)"]
)
def test_other_conversions_stay(text: str) -> None:
    func = parse(f"def f(A: f32[8], n: i64):\n    A[0] = {text}\n")
    assert expand_conversions(func) is func


def test_what_is_bounded_otherwise_is_no_such_conversion() -> None:
    """The next float above the end, or bounds of another value, must not be taken for it."""
    text = "cast(select(x > f32(-128.0), select({y} < f32({end}), x, f32({end})), f32(-128.0)), i8)"
    for y, end, known in (("x", "127.0", True), ("x", "127.00001", False), ("y", "127.0", False)):
        func = parse(
            "def f(x: f32, y: f32, C: i8[1]):\n    C[0] = " + text.format(y=y, end=end) + "\n"
        )
        (node,) = walk(func.body, Cast)
        assert is_saturated(node) is known


def test_languages_with_undefined_conversions_declare_it() -> None:
    for target in ("c", "opencl", "cuda"):
        assert "expand-conversions" in phases_of(Target(target), LEGALIZE).names
    for target in ("llvm", "wasm32", "amdgpu"):
        assert "expand-conversions" not in phases_of(Target(target), LEGALIZE).names
