"""Vectorized loops as statements on vectors."""

import pytest

from tests.proof.functions.test_compare import proof

pytest.importorskip("z3")

LOOP = """
def f(A: i32[64], B: i32[8], C: i32[64]):
    for i in serial(0, 8):
        for j in vectorized(0, 8):
            {}
"""
LANES = LOOP.replace("        for j in vectorized(0, 8):\n    ", "")
RAMP, NEXT = "ramp(i * 8, 1, 8)", "ramp(i * 8 + 4, 1, 8)"
MASK = f"{RAMP} < broadcast(60, 8)"
UNDER = "if i * 8 + j < 60:\n                C[i * 8 + j] = A[i * 8 + j + 4]"
CHOICE = """if C[j] > 0:
                C[j] = 0
            else:
                C[j + 8] = 1"""
WRONG = (
    ("i * 8", "i * 7"),
    ("C[ramp", "A[ramp"),
    ("A[", "C["),
    ("broadcast(60", "broadcast(61"),
)


@pytest.mark.parametrize(
    ("loop", "lanes"),
    [
        ("C[i * 8 + j] = A[i * 8 + j] + B[i]", f"C[{RAMP}] = A[{RAMP}] + broadcast(B[i], 8)"),
        ("C[i * 8 + j] = C[i * 8 + j] * 2", f"C[{RAMP}] = C[{RAMP}] * broadcast(i32(2), 8)"),
        (UNDER, f"store(C, ({RAMP},), load(A, ({NEXT},), mask={MASK}), mask={MASK})"),
    ],
)
def test_vectorized_loops_are_statements_on_vectors(loop: str, lanes: str) -> None:
    found = proof(LANES.format(lanes), LOOP.format(loop))
    assert found.proved, found.message
    for old, new in WRONG:
        if old in lanes:
            wrong = LANES.format(lanes.replace(old, new))
            assert not proof(wrong, LOOP.format(loop)).proved


@pytest.mark.parametrize(
    ("loop", "lanes", "reason"),
    [
        ("B[i] = B[i] + A[j]", "B[broadcast(i, 8)] = broadcast(B[i], 8)", "touch one element"),
        ("C[j + 1] = C[j]", "C[ramp(1, 1, 8)] = C[ramp(0, 1, 8)]", "touch one element"),
        ("C[A[j]] = 7", "C[A[ramp(0, 1, 8)]] = broadcast(i32(7), 8)", "touch one element"),
        (CHOICE, "C[ramp(0, 1, 8)] = broadcast(i32(0), 8)", "reads memory, for several stores"),
        (UNDER, f"store(C, ({RAMP},), A[{NEXT}], mask={MASK})", "may be a new load"),
    ],
)
def test_lanes_that_meet_and_loads_of_other_lanes_are_not_proved(
    loop: str, lanes: str, reason: str
) -> None:
    found = proof(LANES.format(lanes), LOOP.format(loop))
    assert not found.proved
    assert reason in found.message
