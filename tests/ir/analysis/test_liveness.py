"""Liveness: buffers that do not interfere can share memory."""

from importlib import import_module
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given

from irkit.ir import Buffer, PrimFunc, Stmt, liveness, parse
from tests.ir.analysis.examples import MANY, symbols
from tests.ir.analysis.execution import ROOM, Run
from tests.ir.analysis.programs import nests


def check_sharing(func: PrimFunc) -> None:
    """Share memory between buffers that do not interfere; check that each reads what it wrote."""
    known, run = liveness(func), Run(func)
    buffers = {touch.memory for touch in run.touches}
    for a, b in combinations(sorted(buffers, key=lambda buffer: buffer.name), 2):
        if known.interfere(a, b):
            continue
        last: dict[int, Buffer] = {}
        wrote: set[tuple[Buffer, int]] = set()
        for touch in run.touches:
            at = touch.at % ROOM
            if touch.memory not in (a, b):
                continue
            if touch.writes:
                last[at] = touch.memory
                wrote.add((touch.memory, at))
            else:
                assert (touch.memory, at) not in wrote or last[at] is touch.memory


@MANY
@given(nests())
def test_buffers_that_do_not_interfere_can_share_memory(func: PrimFunc) -> None:
    check_sharing(func)


CIRCLES = """def f(A: i64[64]):
    T = alloc(i64[4])
    U = alloc(i64[4])
    for i in serial(0, 4):
        {0}
        {1}
        {2}
        {3}
"""
TURN = ("A[0] = T[0]", "T[0] = A[1]", "U[0] = A[2]", "A[3] = U[0]")


@pytest.mark.parametrize("first", [0, 2])
def test_a_value_that_goes_to_the_next_iteration_keeps_its_memory(
    first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = CIRCLES.format(*TURN[first:], *TURN[:first])
    check_sharing(parse(text))
    monkeypatch.setattr(liveness_file(), "_LivenessFinder", Forgetful)
    with pytest.raises(AssertionError):
        check_sharing(parse(text))


def liveness_file() -> Any:
    return import_module("irkit.ir.analysis.liveness")


class Forgetful(liveness_file()._LivenessFinder):  # pyright: ignore
    """A seeded bug: it ignores that loops repeat."""

    def _enter(self, stmt: Stmt) -> None:
        super()._enter(stmt)
        self._depths = dict.fromkeys(self._depths, 99)


def test_buffers_that_are_needed_one_after_the_other_may_share_memory() -> None:
    func = parse(
        """def f(A: f32[8], C: f32[8]):
    T = alloc(f32[8])
    U = alloc(f32[8])
    W = alloc(f32[8])
    for i in serial(0, 8):
        T[i] = A[i]
    for i in serial(0, 8):
        W[i] = T[i]
        if i > 0:
            C[i] = W[i - 1]
    for i in serial(0, 8):
        U[i] = A[i]
        C[i] = U[i]
"""
    )
    known = liveness(func)
    t, u, w = sorted(symbols(func)[2:], key=lambda b: b.name)
    assert known.interfere(t, w)
    assert not known.interfere(t, u)
    assert not known.interfere(w, u)
    assert known.interfere(func.params[0], u)  # pyright: ignore
