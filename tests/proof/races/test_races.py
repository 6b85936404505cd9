"""Loops whose iterations are proved never to meet, and those refuted with two iterations."""

import pytest

from irkit.fuzz import KERNELS
from irkit.ir import PrimFunc, parse
from irkit.phases import DEFAULT
from irkit.proof import LoopRaces, check_races, translate
from tests.proof.races.planted import planted_trials

pytest.importorskip("z3")


def races(text: str) -> tuple[LoopRaces, ...]:
    func = parse(f"{text.strip()}\n", file="a.irs")
    assert isinstance(func, PrimFunc)
    return check_races(func)


def one(text: str) -> LoopRaces:
    (found,) = races(text)
    return found


PARALLEL = """
def f(A: f32[n], B: f32[n, m], C: f32[n], P: i64[n], k: i64):
    for i in parallel(0, n):
"""

PROVED = {
    "symbolic rows of flat memory": """
def f(C: f32[n, m]):
    F = view(C, f32[mul_sat(n, m)], offset=0)
    for i in parallel(0, n):
        for j in serial(0, m):
            F[i * m + j] = F[i * m + j] + f32(1.0)
""",
    "symbolic columns of flat memory": """
def f(C: f32[n, m]):
    F = view(C, f32[mul_sat(n, m)], offset=0)
    for j in parallel(0, m):
        for i in serial(0, n):
            F[i * m + j] = F[i * m + j] + f32(1.0)
""",
    "a rotation by less than a thousand": """
def f(C: f32[n], k: i64):
    assert k >= 0 and k < 1000, "k"
    for i in parallel(0, n):
        C[(i + k) % n] = f32(i)
""",
    "one iteration that a condition chooses": """
def f(C: f32[1], k: i64):
    for i in parallel(0, 10):
        if i * k == 3:
            C[0] = f32(i)
""",
    "writes of the same value": """
def f(A: f32[n], C: f32[n]):
    for i in parallel(0, n):
        C[i // 2] = A[i // 2] * f32(2.0)
""",
    "views that begin elsewhere in each iteration": """
def f(C: f32[n]):
    for i in parallel(0, n // 8):
        V = view(C, f32[8], offset=i * 8)
        for j in serial(0, 8):
            V[j] = f32(i)
""",
    "an exclusive or": """
def f(C: f32[64]):
    for i in parallel(0, 64):
        C[i ^ 5] = f32(i)
""",
    "guarded indices from memory": """
def f(P: i64[n], C: f32[n]):
    for i in parallel(0, n):
        if P[i] == i:
            C[P[i]] = f32(i)
""",
    "a tree of sums with its barriers": """
def f(A: i32[8], C: i32[1]):
    S = alloc(i32[8], scope="shared")
    for t in thread(0, 8, "threadIdx.x"):
        S[t] = A[t]
        evaluate(barrier())
        for s in serial(0, 3):
            if t + (1 << s) < 8 and t % (2 << s) == 0:
                S[t] = S[t] + S[t + (1 << s)]
            evaluate(barrier())
        if t == 0:
            C[0] = S[0]
""",
    "a permutation between threads": """
def f(A: f32[8], C: f32[8], k: i64):
    S = alloc(f32[8], scope="shared")
    for t in thread(0, 8, "threadIdx.x"):
        S[(t + k) % 8] = A[t]
        evaluate(barrier())
        C[t] = S[7 - t]
""",
    "memory of each virtual thread": """
def f(A: f32[8], C: f32[8], k: i64):
    for v in thread(0, 2, "vthread"):
        L = alloc(f32[4])
        for t in thread(0, 4, "threadIdx.x"):
            L[(t + k) % 4] = A[v * 4 + t]
            evaluate(barrier())
            C[v * 4 + t] = L[3 - t]
""",
}


@pytest.mark.parametrize("name", PROVED)
def test_iterations_that_never_meet_are_proved_independent(name: str) -> None:
    found = one(PROVED[name])
    assert (found.status, found.how) == ("independent", "z3"), str(found)


CARRIED = {
    "only above a thousand": (
        "def f(C: f32[n]):\n    for i in parallel(0, n):\n        C[i % 1000] = f32(i)\n",
        "i = 1000 writes C[0]",
    ),
    "a narrow index that wraps around": (
        "def f(C: f32[n]):\n    for i in parallel(0, n):\n"
        "        C[cast(cast(i, u8), i64)] = f32(i)\n",
        "i = 256 writes C[0] at a.irs:3, where n = 257",
    ),
    "only where too large to be run": (
        "def f(C: f32[n]):\n    for i in parallel(0, n):\n"
        "        C[cast(cast(i, u32), i64)] = f32(i)\n",
        "i = 4294967296 writes C[0]",
    ),
    "a stencil": (
        "def f(C: f32[n]):\n    for i in parallel(0, n - 1):\n        C[i] = C[i + 1]\n",
        "i = 0 reads C[1] at a.irs:3; i = 1 writes C[1] at a.irs:3, where n = 3",
    ),
    "a reduction": (
        "def f(A: f32[n], C: f32[1]):\n    for i in parallel(0, n):\n        C[0] = C[0] + A[i]\n",
        "i = 1 reads C[0]",
    ),
    "lanes": (
        "def f(C: f32[65]):\n    for i in parallel(0, 8):\n"
        "        C[ramp(i * 8, 1, 9)] = broadcast(f32(i), 9)\n",
        "i = 0 writes C[8] at a.irs:3; i = 1 writes C[8]",
    ),
    "a condition on what is loaded": (
        "def f(P: i64[n], C: f32[1]):\n    for i in parallel(0, n):\n        if P[i] == 7:\n"
        "            C[0] = f32(i)\n",
        "writes C[0] at a.irs:4",
    ),
    "a missing barrier": (
        """
def f(A: f32[8], C: f32[8]):
    S = alloc(f32[8], scope="shared")
    for t in thread(0, 8, "threadIdx.x"):
        S[t] = A[t]
        C[t] = S[7 - t]
""",
        "two threads over 't' meet, with no barrier between",
    ),
    "a barrier that is not always there": (
        """
def f(A: f32[8], C: f32[8], k: i64):
    S = alloc(f32[8], scope="shared")
    for t in thread(0, 8, "threadIdx.x"):
        S[t] = A[t]
        if k > 2:
            evaluate(barrier())
        C[t] = S[7 - t]
""",
        "where k = 1",
    ),
    "a barrier missing from a loop": (
        PROVED["a tree of sums with its barriers"].replace(
            "            evaluate(barrier())\n        if", "        if"
        ),
        "two threads over 't' meet, with no barrier between",
    ),
    "virtual threads beside threads": (
        PROVED["memory of each virtual thread"].replace("            evaluate(barrier())\n", ""),
        "two threads over 't' meet, with no barrier between",
    ),
}


@pytest.mark.parametrize("name", CARRIED)
def test_two_iterations_that_meet_are_named(name: str) -> None:
    text, message = CARRIED[name]
    found = one(text)
    assert found.status == "carried", str(found)
    assert message in found.message


def test_a_scatter_depends_on_data_unless_its_indices_are_checked() -> None:
    scatter = PARALLEL + "        C[P[i]] = f32(i)\n"
    assert one(scatter).status == "depends on data"
    assert "writes C[0]" in one(scatter).message
    same = PARALLEL + "        C[P[i]] = f32(1.0)\n"
    assert one(same).status == "independent"
    checked = PARALLEL + "        if P[i] == i:\n{}            C[P[i]] = A[i]\n"
    assert one(checked.format("")).status == "independent"
    assert one(checked.format("            P[i] = k\n")).status == "depends on data"


def test_a_halo_that_each_iteration_computes_anew_is_not_called_carried() -> None:
    found = one("""
def f(A: f32[n], C: f32[n]):
    T = alloc(f32[n])
    for i in parallel(0, n // 16):
        for j in serial(0, 18):
            if i * 16 + j < n:
                T[i * 16 + j] = A[i * 16 + j] * f32(2.0)
        for j in serial(0, 16):
            C[i * 16 + j] = T[i * 16 + j]
""")
    assert found.status == "not known"
    assert "not seen in a run" in found.message


def test_what_is_too_large_is_not_known_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translate, "MAX_NODES", 8)
    found = one(PARALLEL + "        C[(i * k + P[i]) % n] = A[i]\n")
    assert found.status == "not known"
    assert found.message == "it is too large to translate"


def lowered(func: PrimFunc) -> PrimFunc:
    for step in DEFAULT.steps(func):
        assert isinstance(step.after, PrimFunc)
        func = step.after
    return func


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_loops_of_kernels_are_independent_unless_they_are_in_lockstep(name: str) -> None:
    func = parse(f"{KERNELS[name].strip()}\n")
    assert isinstance(func, PrimFunc)
    for each in check_races(func):
        assert each.status != "carried" or each.kind in ("threads", "vectorized"), str(each)
    assert {each.status for each in check_races(lowered(func))} <= {"independent"}


def test_a_loop_that_races_in_a_run_is_never_called_independent() -> None:
    tally = planted_trials(range(20))
    assert not tally.missed, tally.missed[0]
    assert tally.races > 20
    assert tally.answers["carried"] > 10
    assert tally.hows["z3"] > 5


@pytest.mark.long
def test_no_loop_of_many_drawn_programs_that_races_is_called_independent() -> None:
    tally = planted_trials(range(2_000))
    assert not tally.missed, tally.missed[0]
