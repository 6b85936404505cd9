"""Loops and threads that certainly never meet are called independent, and no others."""

import numpy as np
import pytest

from irkit.ir import PrimFunc, find_race, parse
from irkit.ir.threads import independence
from tests.ir.interp.test_races import BAD, GOOD, race

INDEPENDENT = {
    "rows": """
def f(A: f32[n, m], C: f32[n]):
    for i in parallel(0, n):
        for j in serial(0, m):
            C[i] = C[i] + A[i, j]
""",
    "a fused loop": """
def f(A: f32[4, 8], C: f32[4, 8]):
    for f in parallel(0, 32):
        C[f // 8, f % 8] = A[f // 8, f % 8]
""",
    "disjoint halves": """
def f(A: f32[16]):
    for i in parallel(0, 8):
        A[i + 8] = A[i]
""",
    "only the first block writes": """
def f(A: f32[4], C: f32[4]):
    for b in thread(0, 4, "blockIdx.x"):
        if b == 0:
            for i in serial(0, 4):
                C[i] = C[i] + A[i]
""",
    "blocks with barriers inside": """
def f(A: f32[4, 8], C: f32[4, 8]):
    for b in thread(0, 4, "blockIdx.x"):
        s = alloc(f32[8], scope="shared")
        for t in thread(0, 8, "threadIdx.x"):
            s[t] = A[b, t]
            evaluate(barrier())
            C[b, t] = s[7 - t]
""",
    "threads that read in the next iteration": """
def f(A: f32[4], C: f32[4]):
    s = alloc(f32[4], scope="shared")
    for t in thread(0, 4, "threadIdx.x"):
        for k in serial(0, 3):
            evaluate(barrier())
            s[t] = A[t] + f32(k)
            evaluate(barrier())
            C[t] = s[3 - t]
""",
}
TAIL = """
def f(C: f32[170]):
    for o in parallel(0, 5):
        for i in serial(0, 2):
            for j in serial(0, 3):
                for k in serial(0, 8):
                    if j * 8 + k < {}:
                        C[(o * 2 + i) * 17 + j * 8 + k] = f32(o)
"""
MASKED = """
def f(C: f32[170]):
    for o in parallel(i32(0), i32(10)):
        for j in serial(i32(0), i32(3)):
            store(C, (AT,), VALUE, mask=ramp(j * i32(8), i32(1), 8) < broadcast(i32({}), 8))
"""
AT = "ramp(o * i32(17) + j * i32(8), i32(1), 8)"
MASKED = MASKED.replace("AT", AT).replace("VALUE", "broadcast(f32(1.0), 8)")
COLUMNS = """
def f(C: f32[64]):
    for o in serial(0, 2):
        for x in parallel(0, 2):
            for i in serial(0, 4):
                for j in serial(0, {}):
                    C[(o * 4 + i) * 8 + x * 4 + j] = f32(x)
"""
UNKNOWN = {
    "a scatter": """
def f(P: i64[4], C: f32[4]):
    for i in parallel(0, 4):
        C[P[i]] = f32(i)
""",
    "two blocks of which each writes the same element": """
def f(C: f32[4]):
    for b in thread(0, 4, "blockIdx.x"):
        if b == 0:
            C[0] = f32(1.0)
        if b == 1:
            C[0] = f32(2.0)
""",
    "threads over the same row of all blocks": """
def f(A: f32[2, 4], C: f32[4]):
    for b in thread(0, 2, "blockIdx.x"):
        for t in thread(0, 4, "threadIdx.x"):
            C[t] = A[b, t]
""",
    "an exchange in one statement": """
def f(C: f32[4]):
    for t in thread(0, 4, "threadIdx.x"):
        C[t] = C[3 - t]
""",
    "threads inside a condition on another thread": """
def f(A: f32[2], C: f32[2]):
    for v in thread(0, 2, "vthread"):
        if v == 0:
            s = alloc(f32[2], scope="shared")
            for t in thread(0, 2, "threadIdx.x"):
                s[t] = A[t]
                C[t] = s[1 - t]
""",
    "threads inside a loop of another thread": """
def f(A: f32[2], C: f32[2, 2]):
    s = alloc(f32[2, 2], scope="shared")
    for y in thread(0, 2, "threadIdx.y"):
        for k in serial(0, 3):
            for t in thread(0, 2, "threadIdx.x"):
                s[y, t] = A[t]
                C[y, t] = s[y, 1 - t]
""",
    "a barrier that comes only after the read": """
def f(A: f32[4], C: f32[4]):
    s = alloc(f32[4], scope="shared")
    for t in thread(0, 4, "threadIdx.x"):
        for k in serial(0, 3):
            s[t] = A[t] + f32(k)
            evaluate(barrier())
            C[t] = s[3 - t]
""",
}


def known(text: str) -> list[bool]:
    func = parse(text.lstrip("\n"))
    assert isinstance(func, PrimFunc)
    return [each.holds for each in independence(func)]


@pytest.mark.parametrize(("text", "most"), [(TAIL, 17), (MASKED, 17), (COLUMNS, 4)])
def test_conditions_keep_rows_apart_and_one_more_does_not(text: str, most: int) -> None:
    assert known(text.format(most)) == [True]
    assert known(text.format(most + 1)) == [False]


@pytest.mark.parametrize("name", INDEPENDENT)
def test_what_never_meets_is_independent(name: str) -> None:
    found = known(INDEPENDENT[name])
    assert found
    assert all(found)


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_may_meet_is_not_known_and_has_a_reason(name: str) -> None:
    func = parse(UNKNOWN[name].lstrip("\n"), file="a.irs")
    assert isinstance(func, PrimFunc)
    reasons = [each.reason for each in independence(func) if not each.holds]
    assert reasons
    assert all("same element" in reason for reason in reasons)


def test_the_place_of_a_missing_barrier_is_named() -> None:
    func = parse(BAD["missing barrier, read after write"][0].lstrip("\n"), file="a.irs")
    assert isinstance(func, PrimFunc)
    (found,) = independence(func)
    assert found.reason == "threads may touch the same element with no barrier before a.irs:5"


@pytest.mark.parametrize("name", BAD)
def test_what_races_is_never_called_independent(name: str) -> None:
    assert not all(known(BAD[name][0]))


def test_what_is_called_independent_does_not_race() -> None:
    texts = [*INDEPENDENT.values(), *GOOD.values()]
    fixed = [text for text in texts if "f32[n" not in text]
    assert len(fixed) > 8
    assert not [text for text in fixed if all(known(text)) and race(text) is not None]


def test_threads_in_lockstep_do_not_race_but_blocks_do() -> None:
    func = parse(UNKNOWN["an exchange in one statement"].lstrip("\n"))
    assert isinstance(func, PrimFunc)
    values = np.arange(4, dtype=np.float32)
    assert find_race(func, values.copy()) is not None
    assert find_race(func, values.copy(), threads=False) is None
