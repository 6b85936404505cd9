"""Logical right shifts of small integers in 32 bits: same values, declared for WebAssembly."""

import numpy as np
import pytest

from irkit.core import Target, walk
from irkit.ir import Cast, Shr, dtype, interpret, parse
from irkit.passes.loop import widen_shifts
from irkit.phases import LEGALIZE, phases_of

SHIFT = """
def f(A: {kind}[1000], B: {kind}[1000]):
    for i in serial(0, {count}):
        B[{at}] = A[{at}] >> B[{at}]
"""


@pytest.mark.parametrize("kind", ["u8", "u16"])
@pytest.mark.parametrize("lanes", [1, 8])
def test_every_amount_gives_the_same(kind: str, lanes: int) -> None:
    at = "i" if lanes == 1 else "ramp(i * 8, 1, 8)"
    func = parse(SHIFT.format(kind=kind, at=at, count=1000 // lanes))
    rng = np.random.default_rng(0)
    most = np.iinfo(f"u{dtype(kind).bytes}").max
    a = rng.integers(0, most, 1000, f"u{dtype(kind).bytes}", endpoint=True)
    b = np.where(np.arange(1000) % 2, np.arange(1000) % 40, a[::-1]).astype(a.dtype)
    wanted, found = b.copy(), b.copy()
    interpret(func, a, wanted)
    wide = widen_shifts(func)
    interpret(wide, a, found)
    np.testing.assert_array_equal(found, wanted)
    assert [shift.dtype.bits for shift in walk(wide, Shr)] == [32]
    assert len(list(walk(wide, Cast))) == 3
    assert widen_shifts(wide) is wide


@pytest.mark.parametrize("kind", ["i8", "i16", "i32", "u32", "u64"])
def test_other_shifts_stay(kind: str) -> None:
    func = parse(SHIFT.format(kind=kind, at="i", count=9))
    assert widen_shifts(func) is func


def test_only_webassembly_declares_it() -> None:
    assert "widen-shifts" in phases_of(Target("wasm32"), LEGALIZE).names
    assert "widen-shifts" not in phases_of(Target("rv64gc"), LEGALIZE).names
