"""Allocations that moved into loops or out of them, and memory that became smaller."""

import pytest

from tests.proof.functions.test_compare import proof

pytest.importorskip("z3")

OUTSIDE = """
def f(A: f32[n, 3, 16], C: f32[n, 16]):
    T = alloc(f32[n, 16])
    for i in parallel(0, n):
        for j in serial(0, 16):
            T[i, j] = f32(0.0)
        for r in serial(0, 3):
            for j_1 in serial(0, 16):
                T[i, j_1] = T[i, j_1] + A[i, r, j_1]
        for j_2 in serial(0, 16):
            C[i, j_2] = T[i, j_2]
"""
INSIDE = OUTSIDE.replace("    T = alloc(f32[n, 16])\n", "").replace(
    "(0, n):\n", "(0, n):\n        T = alloc(f32[n, 16])\n"
)
SMALLER = INSIDE.replace("alloc(f32[n, 16])", "alloc(f32[1, 16])").replace("T[i, ", "T[0, ")


def test_an_allocation_may_move_into_a_loop_that_writes_before_it_reads() -> None:
    found = proof(INSIDE, OUTSIDE)
    assert found.proved, found.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("for j in serial(0, 16)", "for j in serial(0, 15)"),
        ("for j in serial(0, 16)", "for j in serial(1, 16)"),
        ("            T[i, j] =", "            if j < 15:\n                T[i, j] ="),
        (
            "            T[i, j] =",
            "            if A[i, 0, j] < f32(0.0):\n                T[i, j] =",
        ),
        ("            T[i, j] =", "            T[i, 15] ="),
        (
            "            C[i, j_2] = T[i, j_2]",
            "            C[i, j_2] = (T[i - 1, j_2] if i >= 1 else f32(0.0))",
        ),
    ],
)
def test_an_allocation_stays_where_a_later_iteration_reads_it(old: str, new: str) -> None:
    before, after = OUTSIDE.replace(old, new), INSIDE.replace(old, new)
    assert before != OUTSIDE
    assert proof(before, before).proved
    found = proof(after, before)
    assert not found.proved
    assert "may read what no longer exists" in found.message


def test_what_the_first_iteration_writes_is_there_in_all_others() -> None:
    text = """
def f(A: f32[n, 9], C: f32[n]):
    T = alloc(f32[n])
    for i in serial(0, n):
        for r in serial(0, 9):
            if r == 0:
                T[i] = f32(0.0)
            T[i] = T[i] + A[i, r]
            C[i] = T[i]
"""
    moved = text.replace("    T = alloc(f32[n])\n", "").replace(
        "(0, n):\n", "(0, n):\n        T = alloc(f32[n])\n"
    )
    assert proof(moved, text).proved
    for wrong in ("r == 1", "r == 8", "r == n"):
        found = proof(moved.replace("r == 0", wrong), text.replace("r == 0", wrong))
        assert "may read what no longer exists" in found.message
    # Iterations of a parallel loop do not wait for the first one.
    parallel = [each.replace("r in serial", "r in parallel") for each in (moved, text)]
    assert "may read what no longer exists" in proof(*parallel).message


def test_an_allocation_may_leave_a_loop_that_runs_in_order() -> None:
    serial = [each.replace("parallel", "serial") for each in (OUTSIDE, INSIDE)]
    assert proof(*serial).proved
    assert "left a loop" in proof(OUTSIDE, INSIDE).message


def test_memory_may_become_a_box_of_what_it_was() -> None:
    found = proof(SMALLER, INSIDE)
    assert found.proved, found.message


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("alloc(f32[1, 16])", "alloc(f32[1, 15])"),
        ("alloc(f32[1, 16])", "alloc(f32[0, 16])"),
        ("= T[0, j_2]", "= T[0, (j_2 + 1) % 16]"),
        ("T[0, j_1] + A", "T[0, 15 - j_1] + A"),
        ("            T[0, j] =", "            T[0, j // 2] ="),
        ("T[0, j_1] + A", "T[0, j_1 // 2] + A"),
        ("            T[0, j] =", "            T[i, j] ="),
    ],
)
def test_accesses_that_leave_the_box_or_disagree_are_not_proved(old: str, new: str) -> None:
    assert old in SMALLER
    assert not proof(SMALLER.replace(old, new), INSIDE).proved


def test_buffers_of_one_name_that_live_together_stay_apart() -> None:
    before = """
def f(C: f32[8]):
    T = alloc(f32[8])
    for i in serial(0, 8):
        T[i] = f32(1.0)
    for k in serial(0, 8):
        T[k] = f32(2.0)
        C[k] = T[7]
"""
    after = """
def f(C: f32[8]):
    for n in serial(0, 1):
        T = alloc(f32[8])
        for i in serial(0, 8):
            T[i] = f32(1.0)
        for k in serial(0, 8):
            T_1 = alloc(f32[8])
            T_1[k] = f32(2.0)
            C[k] = T[7]
"""
    assert not proof(after, before).proved
