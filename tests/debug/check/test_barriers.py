"""A barrier that is taken out of a cooperative kernel is a race, named with both lines."""

import re
from collections.abc import Callable

import pytest

from irkit.core import rewrite, walk
from irkit.debug import Verdict, check
from irkit.ir import LOOP_LEVEL, Evaluate, PrimFunc, Stmt, parse, seq
from irkit.ir.threads import independence, is_barrier
from irkit.passes.loop import thread_sync
from irkit.phases import DEFAULT
from irkit.transform import Phase, Pipeline, define_pass

STAGED = """
def staged(A: f32[2, 8], C: f32[2, 8]):
    for b in thread(0, 2, "blockIdx.x"):
        s = alloc(f32[10], scope="shared")
        for t in thread(0, 8, "threadIdx.x"):
            s[t + 1] = A[b, t]
            if t == 0:
                s[0] = f32(0.0)
                s[9] = f32(0.0)
            evaluate(barrier())
            C[b, t] = s[t] + s[t + 1] + s[t + 2]
"""
TREE = """
def tree(A: f32[8], C: f32[1]):
    s = alloc(f32[8], scope="shared")
    for t in thread(0, 8, "threadIdx.x"):
        s[t] = A[t]
        evaluate(barrier())
        if t < 4:
            s[t] = s[t] + s[t + 4]
        evaluate(barrier())
        if t < 2:
            s[t] = s[t] + s[t + 2]
        evaluate(barrier())
        if t == 0:
            C[0] = s[0] + s[1]
"""
PING_PONG = """
def ping_pong(A: f32[8], C: f32[8]):
    p = alloc(f32[8], scope="shared")
    q = alloc(f32[8], scope="shared")
    for t in thread(0, 8, "threadIdx.x"):
        p[t] = A[t]
        for k in serial(0, 3):
            evaluate(barrier())
            q[t] = p[(t + 1) % 8]
            evaluate(barrier())
            p[t] = q[(t + 3) % 8]
        C[t] = p[t]
"""
TILES = """
def tiles(A: f32[4, 8], B: f32[8, 4], C: f32[4, 4]):
    for y in thread(0, 4, "threadIdx.y"):
        for x in thread(0, 4, "threadIdx.x"):
            a = alloc(f32[4, 4], scope="shared")
            b = alloc(f32[4, 4], scope="shared")
            C[y, x] = f32(0.0)
            for k in serial(0, 2):
                evaluate(barrier())
                a[y, x] = A[y, k * 4 + x]
                b[y, x] = B[k * 4 + y, x]
                evaluate(barrier())
                for j in serial(0, 4):
                    C[y, x] = C[y, x] + a[y, j] * b[j, x]
"""
BROADCAST = """
def broadcast(A: f32[8], C: f32[8]):
    s = alloc(f32[1], scope="shared")
    for t in thread(0, 8, "threadIdx.x"):
        for k in serial(0, 2):
            if t == k:
                s[0] = A[t]
            evaluate(barrier())
            C[t] = C[t] + s[0]
            evaluate(barrier())
"""
GLOBAL = """
def reversed(A: f32[8], T: f32[8], C: f32[8]):
    for t in thread(0, 8, "threadIdx.x"):
        T[t] = A[t] * f32(2.0)
        evaluate(barrier())
        C[t] = T[7 - t]
"""
KERNELS = [STAGED, TREE, PING_PONG, TILES, BROADCAST, GLOBAL]


def kernel(text: str) -> PrimFunc:
    func = parse(text.strip(), file="k.irs")
    assert isinstance(func, PrimFunc)
    return func


def judged(func: PrimFunc, change: Callable[[PrimFunc], PrimFunc]) -> Verdict:
    only = Pipeline(LOOP_LEVEL, (Phase(0, "only", (define_pass(change),)),))
    (found,) = check(only.steps(func))
    assert found.changed
    return found


def without(number: int) -> Callable[[PrimFunc], PrimFunc]:
    def lose_barrier(func: PrimFunc) -> PrimFunc:
        gone = [stmt for stmt in walk(func.body, Evaluate) if is_barrier(stmt)][number]

        def drop(stmt: Evaluate) -> Stmt | None:
            return seq() if stmt is gone else None

        return rewrite(func, drop, on=Evaluate)

    return lose_barrier


def synchronising_but(number: int) -> Callable[[PrimFunc], PrimFunc]:
    def put_in_few(func: PrimFunc) -> PrimFunc:
        return without(number)(thread_sync(func))

    return put_in_few


def cases() -> list[tuple[str, int]]:
    return [(text, at) for text in KERNELS for at in range(text.count("barrier()"))]


@pytest.mark.parametrize(("text", "number"), cases())
def test_a_missing_barrier_is_a_race_with_both_lines(text: str, number: int) -> None:
    found = judged(kernel(text), without(number))
    assert found.status == "races", str(found)
    assert "meet, with no barrier between" in found.message
    assert len(re.findall(r"at k\.irs:\d+", found.message)) == 2
    assert [each.answer for each in found.orders if each.kind == "threads"] == ["carried"]


@pytest.mark.parametrize("text", KERNELS)
def test_kernels_with_their_barriers_give_no_alarm(text: str) -> None:
    assert {each.status for each in check(DEFAULT.steps(kernel(text)))} == {"same"}


@pytest.mark.parametrize("text", [STAGED, PING_PONG, TILES, GLOBAL])
def test_threads_between_barriers_are_shown_to_be_independent(text: str) -> None:
    assert all(each.holds for each in independence(kernel(text)))


@pytest.mark.parametrize("text", KERNELS)
def test_a_pass_that_puts_in_too_few_barriers_is_found(text: str) -> None:
    def lose_all(stmt: Evaluate) -> Stmt | None:
        return seq() if is_barrier(stmt) else None

    bare = rewrite(kernel(text), lose_all, on=Evaluate)
    count = sum(map(is_barrier, walk(thread_sync(bare).body, Evaluate)))
    assert count >= text.count("barrier()")
    for at in range(count if count > 1 else 0):
        found = judged(bare, synchronising_but(at))
        assert found.status == "races", (at, str(found))
