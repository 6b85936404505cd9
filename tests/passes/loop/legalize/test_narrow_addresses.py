"""Indices in the bits of an address: the same elements, whatever the extents are."""

import numpy as np
import pytest

from irkit.core import Target, walk
from irkit.ir import FloorDiv, Load, PrimFunc, Store, interpret, parse
from irkit.passes.loop import narrow_addresses
from irkit.phases import LEGALIZE, phases_of
from tests.passes.loop.legalize.drawn import changed_programs


def indices(func: PrimFunc) -> set[str]:
    found = walk(func.body, (Load, Store))
    return {str(index.dtype) for access in found for index in access.indices}


def test_random_programs_compute_the_same() -> None:
    assert changed_programs(narrow_addresses, 60) >= 10


@pytest.mark.parametrize(
    "index",
    [
        "i * m + j", "n * m - 1 - (i * m + j)", "(i * m + j) // 2 * 2", "K[i * m + j]",
        "select(i < 1, j, i * m + j)", "(j if i < 1 else i * m + j)", "-(-j)",
        "i * m + j + 4294967296 - 4294967296", "cast(cast(j, i32), i64)", "max(i * m, j)",
    ],
)  # fmt: skip
def test_an_index_finds_the_same_element(index: str) -> None:
    func = parse(
        "def f(A: f32[n, m], K: i64[n * m], C: f32[n * m]):\n"
        "    A_flat = view(A, f32[n * m], offset=0)\n"
        "    for i in serial(0, n):\n        for j in serial(0, m):\n"
        f"            C[i * m + j] = A_flat[{index}]\n"
    )
    n, m = 5, 7
    a, k = np.random.default_rng(0).random((n, m), "f4"), np.arange(n * m)[::-1].copy()
    wanted, found = np.zeros(n * m, "f4"), np.zeros(n * m, "f4")
    narrow = narrow_addresses(func)
    interpret(func, a, k, wanted)
    interpret(narrow, a, k, found)
    np.testing.assert_array_equal(found, wanted)
    assert indices(narrow) == {"i32"}
    assert narrow_addresses(narrow) is narrow


def test_sums_and_products_are_computed_modulo_two_to_the_32() -> None:
    """On the machine: the interpreter has longer indices, and would find these out of bounds."""
    func = narrow_addresses(parse(
        "def f(A: f32[n], C: f32[n]):\n    for i in serial(0, n):\n"
        "        C[i] = A[i * 4294967299 - 2 * i]\n"
    ))  # fmt: skip
    assert "A[cast(i, i32) * i32(3) - i32(2) * cast(i, i32)]" in func.script()


def test_a_quotient_keeps_its_64_bits() -> None:
    func = narrow_addresses(parse("def f(A: f32[n], i: i64):\n    A[i // 2 + 1] = A[0]\n"))
    (quotient,) = walk(func.body, FloorDiv)
    assert quotient.dtype.bits == 64
    assert "A[cast(i // 2, i32) + i32(1)] = A[i32(0)]" in func.script()


def test_narrow_indices_stay() -> None:
    func = parse("def f(A: f32[8]):\n    for i in serial(i32(0), i32(8)):\n        A[i] = A[i]\n")
    assert narrow_addresses(func) is func


def test_only_webassembly_declares_it() -> None:
    assert "narrow-addresses" in phases_of(Target("wasm32"), LEGALIZE).names
    assert "narrow-addresses" not in phases_of(Target("rv64gc"), LEGALIZE).names
