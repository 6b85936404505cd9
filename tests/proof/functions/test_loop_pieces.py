"""Loops that the other side runs in pieces, for all sizes."""

import pytest

from tests.draws import part_of, sampled
from tests.proof.functions.test_compare import proof

pytest.importorskip("z3")

GUARDED = """
def f(A: f32[n, 57], C: f32[n, 57]):
    for r in parallel(0, n):
        for i in serial(0, 4):
            for j in vectorized(0, 16):
                if i * 16 + j < 57:
                    C[r, i * 16 + j] = (A[r, i * 16 + j - 1] if i * 16 + j >= 1 else f32(0.0))
"""
PIECES = """
def f(A: f32[n, 57], C: f32[n, 57]):
    for r in parallel(0, n):
        C[r, 0] = f32(0.0)
        for j_2 in vectorized(1, 16):
            C[r, j_2] = A[r, j_2 - 1]
        for i in serial(1, 3, partition=False):
            for j in vectorized(0, 16):
                C[r, i * 16 + j] = A[r, i * 16 + j - 1]
        for j_1 in vectorized(0, 9):
            C[r, 48 + j_1] = A[r, 48 + j_1 - 1]
"""


def test_a_loop_may_run_in_pieces_without_guards() -> None:
    found = proof(PIECES, GUARDED)
    assert found.proved, found.message


@pytest.mark.parametrize(
    ("old", "new"),
    sampled(
        [
            ("serial(1, 3", "serial(1, 2"),
            ("serial(1, 3", "serial(2, 3"),
            ("serial(1, 3", "serial(0, 3"),
            ("vectorized(0, 9)", "vectorized(0, 8)"),
            ("vectorized(0, 9)", "vectorized(0, 10)"),
            ("vectorized(1, 16)", "vectorized(1, 15)"),
            ("vectorized(1, 16)", "vectorized(0, 16)"),
            ("C[r, 48 + j_1]", "C[r, 47 + j_1]"),
            ("A[r, 48 + j_1 - 1]", "A[r, 48 + j_1]"),
            ("        C[r, 0] = f32(0.0)\n", ""),
            ("        C[r, 0] = f32(0.0)\n", "        C[r, 0] = f32(1.0)\n"),
            ("r in parallel(0, n)", "r in parallel(0, n - 1)"),
            ("A[r, i * 16 + j - 1]", "A[r, i * 16 + j - 2]"),
        ],
        every=3,
    ),
)
def test_pieces_that_are_not_the_loop_are_not_proved(old: str, new: str) -> None:
    assert old in PIECES
    assert not proof(PIECES.replace(old, new), GUARDED).proved


PEELED = """
def f(A: f32[n], S: f32[1]):
    for i in serial(0, {0}):
        if i == 0:
            S[0] = f32(0.0)
        S[0] = S[0] + A[i]
"""
HOISTED = """
def f(A: f32[n], S: f32[1]):
    S[0] = f32(0.0)
    for i in serial(0, {0}):
        S[0] = S[0] + A[i]
"""


def test_what_the_first_iteration_does_may_move_before_the_loop_if_it_runs() -> None:
    assert proof(HOISTED.format("max(n, 1)"), PEELED.format("max(n, 1)")).proved
    assert not proof(HOISTED.format("n"), PEELED.format("n")).proved


CHOICE = """
def f(A: f32[8, 40], B: f32[8, 40], C: f32[8, 40]):
    for i in parallel(0, 8):
        for j in serial(0, 40):
            C[i, j] = (A[i, j] if i < 4 else B[i, j])
"""
BRANCHES = """
def f(A: f32[8, 40], B: f32[8, 40], C: f32[8, 40]):
    for i in parallel(0, 8):
        if i < 4:
            for j in serial(0, 40):
                C[i, j] = A[i, j]
        else:
            for k in serial(0, 40):
                C[i, k] = B[i, k]
"""


def test_a_condition_may_move_out_of_a_loop() -> None:
    assert proof(BRANCHES, CHOICE).proved
    assert proof(CHOICE, BRANCHES).proved
    changes = [
        ("i < 4", "i < 5"),
        ("C[i, k] = B", "C[i, k] = A"),
        ("k in serial(0, 40)", "k in serial(0, 39)"),
    ]
    for old, new in part_of(changes, 3):
        assert not proof(BRANCHES.replace(old, new), CHOICE).proved


def test_a_parallel_loop_does_not_join_two_that_ran_one_after_the_other() -> None:
    joined = """
def f(A: f32[8], C: f32[8]):
    for i in {0}(0, 8):
        C[i] = (A[i] if i < 4 else C[i - 4])
"""
    apart = """
def f(A: f32[8], C: f32[8]):
    for i in {0}(0, 4):
        C[i] = A[i]
    for i in {0}(4, 8):
        C[i] = C[i - 4]
"""
    assert proof(joined.format("serial"), apart.format("serial")).proved
    assert proof(apart.format("parallel"), joined.format("parallel")).proved
    assert not proof(joined.format("parallel"), apart.format("parallel")).proved


def test_a_loop_that_does_nothing_may_go() -> None:
    text = """
def f(C: f32[4]):
    for i in vectorized(0, 9):
        if i < 4:
            C[i] = f32(1.0)
"""
    assert proof(text.replace("0, 9", "0, 4"), text).proved
    serial = text.replace("vectorized", "serial")
    assert proof(serial, serial.replace("0, 9", "0, 4")).proved
    assert not proof(text.replace("0, 9", "0, 3"), text).proved
