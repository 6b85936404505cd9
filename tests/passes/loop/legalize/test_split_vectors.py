"""Vectors in parts of a register: same values, also where a statement reads what it writes."""

import numpy as np
import pytest

from irkit.core import Target, walk
from irkit.ir import Let, PrimFunc, Store, interpret, parse
from irkit.passes.loop import split_vectors
from irkit.phases import LEGALIZE, phases_of
from tests.passes.loop.legalize.drawn import changed_programs


def split(*lines: str, register_bytes: int = 16) -> PrimFunc:
    head = "def f(A: f32[32], C: f32[32], K: i64[32]):\n    "
    func = parse(head + "\n    ".join(lines) + "\n")
    made = split_vectors(func, register_bytes=register_bytes)
    rng = np.random.default_rng(3)
    given = [rng.random(32, "f4"), rng.random(32, "f4"), rng.permutation(32)]
    found = [each.copy() for each in given]
    interpret(func, *given)
    interpret(made, *found)
    for a, b in zip(given, found, strict=True):
        np.testing.assert_array_equal(a, b)
    return made


def lanes(func: PrimFunc) -> list[int]:
    return [store.value.dtype.lanes for store in walk(func.body, Store)]


@pytest.mark.parametrize("register_bytes", [16, 32, 64])
def test_random_programs_compute_the_same(register_bytes: int) -> None:
    found = changed_programs(
        lambda func: split_vectors(func, register_bytes=register_bytes), 150, first=register_bytes
    )
    assert found >= 3


@pytest.mark.parametrize("value", [
    "A[ramp(1, 1, 16)]", "A[ramp(16, -1, 16)]", "A[ramp(0, 2, 16)]", "C[ramp(1, 1, 16)]",
    "C[ramp(16, -1, 16)] * A[ramp(0, 1, 16)]", "broadcast(C[3], 16)", "A[K[ramp(0, 1, 16)]]",
    "select(A[ramp(0, 1, 16)] > C[ramp(2, 1, 16)], A[ramp(0, 1, 16)], broadcast(A[9], 16))",
    "exp(A[ramp(0, 1, 16)])", "cast(ramp(3, 2, 16), f32x16)",
])  # fmt: skip
def test_a_store_of_16_lanes_becomes_stores_of_4(value: str) -> None:
    count = 8 if "f32x16" in value else 4  # A vector of i64 is twice as wide.
    assert lanes(split(f"C[ramp(0, 1, 16)] = {value}")) == [16 // count] * count


def test_what_is_read_where_it_is_stored_is_read_first() -> None:
    func = split("C[ramp(1, 1, 16)] = C[ramp(0, 1, 16)] * f32(2.0)")
    assert len(list(walk(func.body, Let))) == 4
    assert not list(walk(split("C[ramp(1, 1, 16)] = A[ramp(0, 1, 16)]").body, Let))


def test_so_is_an_index_or_a_view_of_the_same_memory() -> None:
    split("K[K[ramp(0, 1, 16)]] = broadcast(7, 16)")
    split("V = view(C, f32[16], offset=4)", "C[ramp(0, 1, 16)] = V[ramp(0, 1, 16)]")


def test_a_variable_becomes_several() -> None:
    func = split(
        "x: f32x16 = A[ramp(0, 1, 16)]",
        "y: f32x16 = x * x",
        "C[ramp(0, 1, 16)] = x + y",
        "C[ramp(16, 1, 16)] = y",
        register_bytes=32,
    )
    assert [let.var.dtype.lanes for let in walk(func.body, Let)] == [8] * 4
    assert lanes(func) == [8] * 4


def test_statements_that_share_a_variable_get_the_same_lanes() -> None:
    func = split(
        "x: f32x16 = A[ramp(0, 1, 16)]",
        "C[ramp(0, 1, 16)] = x",
        "K[ramp(0, 1, 16)] = cast(x * f32(9.0), i64x16)",
    )
    assert set(lanes(func)) == {2}


def test_what_fits_or_is_an_instruction_stays() -> None:
    narrow = parse("def f(A: f32[8]):\n    A[ramp(0, 1, 4)] = A[ramp(4, 1, 4)]\n")
    assert split_vectors(narrow) is narrow
    whole = parse(
        "def f(A: u8[64], B: i8[64], C: i32[16]):\n    s: i32x16 = C[ramp(0, 1, 16)]\n"
        "    C[ramp(0, 1, 16)] = x86_vpdpbusd_512(s, A[ramp(0, 1, 64)], B[ramp(0, 1, 64)])\n"
    )
    assert split_vectors(whole) is whole
    odd = parse("def f(A: f32[9]):\n    A[ramp(0, 1, 6)] = A[ramp(3, 1, 6)]\n")
    assert split_vectors(odd) is odd


def test_c_and_webassembly_declare_their_registers() -> None:
    def option(target: str) -> str:
        return str(phases_of(Target(target), LEGALIZE))

    assert "split-vectors{register_bytes=16}" in option("wasm32")
    assert "split-vectors{register_bytes=16}" in option(
        "c -triple=aarch64-linux-gnu -cpu=cortex-a72"
    )
    assert "split-vectors{register_bytes=32}" in option(
        "c -triple=x86_64-unknown-linux-gnu -cpu=x86-64-v3"
    )
    assert "split-vectors" not in option("llvm")
