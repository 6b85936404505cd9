"""Tensor cores on a CUDA device, against sums in f64 and the bound of docs/legal-changes.md."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from irkit.ir import PrimFunc
from tests.codegen.device.row_programs import row_sums, softmax_rows
from tests.codegen.device.warp_programs import WARP_TILE, warp_product
from tests.targets.card import NVRTC, TEXTS, needs_card, on_card

pytestmark = needs_card
texts = pytest.mark.parametrize(
    "text",
    [
        pytest.param(each, marks=pytest.mark.skipif(each == "cuda" and not NVRTC, reason="NVRTC"))
        for each in TEXTS
    ],
)


def check(func: PrimFunc, kind: Any, text: str, *, scale: float = 1.0) -> None:
    (m, k), (n, _) = (tuple(int(d.value) for d in p.shape) for p in func.params[:2])  # pyright: ignore
    rng = np.random.default_rng(m)
    a, b = ((rng.standard_normal(s) * scale).astype(kind) for s in ((m, k), (n, k)))
    c = np.full((m, n), np.nan, "f4")
    on_card(func, text)(a, b, c)
    wide = a.astype("f8") @ b.astype("f8").T
    bound = (k + 1) * 2.0**-24 * (np.abs(a).astype("f8") @ np.abs(b).astype("f8").T)
    assert (np.abs(c - wide) <= bound).all()


@texts
def test_one_instruction_of_a_warp(text: str) -> None:
    check(WARP_TILE, np.float16, text)


@texts
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_a_tiled_product_by_tensor_cores(kind: str, text: str) -> None:
    func = warp_product(128, 256, 320, rows=64, columns=64, warps=(2, 2), kind=kind)
    check(func, np.float16 if kind == "f16" else ml_dtypes.bfloat16, text)


def test_whole_numbers_are_exact() -> None:
    func = warp_product(256, 128, 512)
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-8, 9, s).astype("f2") for s in ((256, 512), (128, 512)))
    c = np.zeros((256, 128), "f4")
    on_card(func)(a, b, c)
    np.testing.assert_array_equal(c, a.astype("f4") @ b.astype("f4").T)


@texts
def test_rows_in_registers(text: str) -> None:
    rng = np.random.default_rng(2)
    a = rng.standard_normal((37, 1024)).astype("f4")
    c, s = np.zeros((37, 1024), "f4"), np.zeros(37, "f4")
    on_card(softmax_rows(37, 1024), text)(a, c)
    on_card(row_sums(37, 1024), text)(a, s)
    wide = np.exp(a.astype("f8") - a.max(1, keepdims=True))
    np.testing.assert_allclose(c, wide / wide.sum(1, keepdims=True), rtol=1e-5)
    assert (np.abs(s - a.astype("f8").sum(1)) <= 1024 * 2.0**-24 * np.abs(a).sum(1)).all()
