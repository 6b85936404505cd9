"""fmod of f32 and f64 gives the bits of C's, from native code and from C source."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from irkit.core import Target
from irkit.ir import F32, F64, DType, call, numpy_dtype
from tests.codegen.c.build import CLibrary, needs_compiler
from tests.codegen.llvm.cases import compiled, elementwise
from tests.draws import few_or_all

Array = Any


def operands(dtype: DType) -> tuple[Array, Array]:
    """Return pairs of all sizes: limits, denormals, numbers near each other and far apart."""
    rng, kind = np.random.default_rng(9), numpy_dtype(dtype)
    whole, limits = (np.dtype("u8") if dtype.bits == 64 else np.dtype("u4")), np.finfo(kind)
    near_zero = np.array([0, 1, 2, 3, 7, 40, 1000], whole).view(kind)
    ends = [1.0, 1.5, 3.0, math.pi, np.inf, np.nan, limits.tiny, limits.max, 2 * limits.tiny]
    below = np.nextafter(limits.tiny, kind.type(0))
    special = np.array([*near_zero, *ends, below], kind)
    special = np.concatenate([special, -special])
    a, b = (each.ravel() for each in np.meshgrid(special, special))
    count = few_or_all(2000, 1_000_000)
    wild = rng.integers(0, 1 << 64, (2, count), dtype="u8").astype(whole).view(kind)
    near = rng.standard_normal((2, count)).astype(kind) * kind.type(10)
    pairs = np.concatenate([np.array([a, b]), wild, near], axis=1)
    pairs = pairs[:, : pairs.shape[1] // 8 * 8]
    return np.ascontiguousarray(pairs[0]), np.ascontiguousarray(pairs[1])


def expected(a: Array, b: Array) -> Array:
    """Return Python's remainders, which are exact; those of f32 are numbers of f32."""

    def one(x: float, y: float) -> float:
        return math.nan if math.isinf(x) or y == 0.0 else math.fmod(x, y)

    return np.array([one(*each) for each in zip(a.tolist(), b.tolist(), strict=True)], a.dtype)


def differs(got: Array, want: Array) -> Array:
    whole = np.dtype(f"u{got.itemsize}")
    return (got.view(whole) != want.view(whole)) & ~(np.isnan(got) & np.isnan(want))


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_native_remainders_are_exact(dtype: DType, lanes: int) -> None:
    a, b = operands(dtype)
    got = np.zeros_like(a)
    func = elementwise("f", [dtype] * 2, len(a), lambda *args: call("fmod", *args), lanes)
    compiled([func], Target())["f"](a, b, got)
    wrong = differs(got, expected(a, b))
    assert not wrong.any(), (a[wrong][:3], b[wrong][:3], got[wrong][:3])


@needs_compiler
def test_remainders_of_c_source_are_exact_and_call_no_library(tmp_path: Path) -> None:
    inputs = {dtype: operands(dtype) for dtype in (F32, F64)}
    funcs = [
        elementwise(f"f{dtype}", [dtype] * 2, len(a), lambda *args: call("fmod", *args), 8)
        for dtype, (a, _) in inputs.items()
    ]
    library = CLibrary(funcs, tmp_path)
    text = (tmp_path / "kernels.c").read_text(encoding="utf-8")
    assert "irkit_fmod_f64(" in text
    assert " fmod(" not in text
    assert " fmodf(" not in text
    for func, (a, b) in zip(funcs, inputs.values(), strict=True):
        got = np.zeros_like(a)
        library.call(func, a, b, got)
        wrong = differs(got, expected(a, b))
        assert not wrong.any(), (a[wrong][:3], b[wrong][:3], got[wrong][:3])
