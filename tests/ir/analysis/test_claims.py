"""What the analyses claim, held against runs of random programs."""

import gc
import weakref
from collections import defaultdict
from importlib import import_module
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings

from irkit.core import IRKitError, analysis, symbols_bound, walk
from irkit.ir import (
    BOOL,
    I64,
    Allocate,
    Buffer,
    Const,
    For,
    If,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    access_regions,
    dependences,
    enclosing,
    liveness,
    loop_ranges,
    parse,
    script,
    seq,
    uses_of,
)
from irkit.ir.analysis import apart
from tests.ir.analysis.execution import ROOM, Run
from tests.ir.analysis.programs import nests

MANY = settings(max_examples=120, deadline=None, derandomize=True)


def carried_in_fact(func: PrimFunc) -> set[For]:
    """Find the loops of which two iterations touch one element, one of them writing."""
    seen: dict[Any, list[tuple[int, bool]]] = defaultdict(list)
    for touch in Run(func).touches:
        for at, (loop, step) in enumerate(touch.steps):
            seen[loop, touch.steps[:at], touch.memory, touch.at].append((step, touch.writes))
    found: set[For] = set()
    for (loop, *_), touches in seen.items():
        writing = {step for step, writes in touches if writes}
        if writing and len({step for step, _ in touches}) > 1:
            found.add(loop)
    return found


def check_carried(func: PrimFunc) -> int:
    known = dependences(func)
    loops = list(walk(func.body, For))
    free = {loop for loop in loops if known.carried(loop) is None}
    assert not free & carried_in_fact(func)
    return len(free)


@MANY
@given(nests())
def test_a_loop_that_is_said_to_carry_nothing_does_not(func: PrimFunc) -> None:
    check_carried(func)


@MANY
@given(nests())
def test_statements_that_are_said_not_to_depend_touch_nothing_in_common(func: PrimFunc) -> None:
    known, run = dependences(func), Run(func)
    stores = list(walk(func.body, Store))[:6]
    for a in stores:
        for b in stores:
            if a is b or known.between(a, b):
                continue
            mine: dict[Any, set[bool]] = defaultdict(set)
            for touch in run.touches:
                if touch.stmt is a:
                    mine[touch.memory, touch.at, touch.steps].add(touch.writes)
            for touch in run.touches:
                if touch.stmt is b:
                    met = mine.get((touch.memory, touch.at, touch.steps), set[bool]())
                    assert not met or not (touch.writes or True in met)


def check_dominance(func: PrimFunc) -> None:
    known = enclosing(func)
    stmts = list(walk(func.body, Stmt))
    began: dict[Stmt, None] = {}
    refuted: set[tuple[Stmt, Stmt]] = set()
    for stmt, _ in Run(func).started:
        began[stmt] = None
        refuted.update((other, stmt) for other in stmts if other not in began)
    for a in stmts:
        for b in stmts:
            assert not (known.dominates(a, b) and (a, b) in refuted)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(nests())
def test_a_statement_that_dominates_another_began_before_it(func: PrimFunc) -> None:
    check_dominance(func)


@MANY
@given(nests())
def test_uses_and_regions_hold_all_that_is_touched(func: PrimFunc) -> None:
    uses, lives = uses_of(func), liveness(func)
    for touch in Run(func).touches:
        own = {b for b in symbols(func) if uses.memory(b) is touch.memory}
        if touch.writes:
            assert any(touch.stmt in uses.writes(b) for b in own)
        assert any(touch.stmt in uses.of(b) for b in own)
        regions = access_regions(func)
        boxes = regions.writes(touch.stmt) if touch.writes else regions.reads(touch.stmt)
        assert any(uses.memory(box.buffer) is touch.memory for box in boxes)
        if uses.binder(touch.memory) is not None:
            assert touch.memory in lives.at(touch.stmt)


def check_sharing(func: PrimFunc) -> None:
    """Let buffers that do not interfere share memory, and see that each reads what it wrote."""
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
    monkeypatch.setattr(liveness_file(), "_Finder", Forgetful)
    with pytest.raises(AssertionError):
        check_sharing(parse(text))


def liveness_file() -> Any:
    return import_module("irkit.ir.analysis.liveness")


class Forgetful(liveness_file()._Finder):  # pyright: ignore
    """A planted bug: it does not see that loops repeat."""

    def _enter(self, stmt: Stmt) -> None:
        super()._enter(stmt)
        self._depths = dict.fromkeys(self._depths, 99)


def symbols(func: PrimFunc) -> list[Any]:
    return [b for b in symbols_bound(func) if isinstance(b, Buffer)]


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


PRECISE = """def f(A: i64[64], B: i64[8, 8]):
    for i in serial(0, 4):
        for j in serial(0, 4):
            A[i * 4 + j] = A[i * 4 + j] + 1
    for p in serial(0, 64):
        B[p // 8, p % 8] = 1
    for q in serial(0, 8):
        T = alloc(i64[8])
        T[0] = A[q]
        B[q, 0] = T[0]
    for r in serial(0, 4):
        for s in serial(0, 5):
            A[r * 4 + s] = 1
    for t in serial(0, 8):
        A[t] = A[t + 8]
    for u in serial(0, 8):
        A[u] = A[u + 7]
    for v in serial(0, 8):
        A[v - v // 2] = 1
    for w in serial(0, 8):
        A[0] = A[w + 8]
    for x in serial(0, 4):
        for y in serial(0, 12):
            A[x * 4 + y % 4] = A[x * 4 + y // 3]
    for z in serial(0, 4):
        for a in serial(0, 12):
            A[z * 4 + a % 5] = 1
"""


def test_dependence_is_precise_where_it_counts() -> None:
    func = parse(PRECISE)
    known = dependences(func)
    free = {loop.var.name for loop in walk(func.body, For) if known.carried(loop) is None}
    assert {loop.var.name for loop in carried_in_fact(func)}.isdisjoint(free)
    assert free == {"i", "j", "p", "q", "s", "t", "x"}
    (u,) = (loop for loop in walk(func.body, For) if loop.var.name == "u")
    assert "one writes what another reads" in (known.carried(u) or "")


def test_statements_in_order_depend_by_what_they_touch() -> None:
    func = parse("def f(A: i64[64], n: i64):\n    A[n] = 1\n    A[n + 1] = A[n]\n    A[n] = 2\n")
    a, b, c = walk(func.body, Store)
    known = dependences(func)
    assert known.between(a, b) == {"flow"}
    assert known.between(b, c) == {"anti"}
    assert known.between(a, c) == {"output"}


def test_a_planted_bug_in_dominance_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    func = parse(PRECISE.replace("serial(0, 64)", "serial(3, 3)"))
    check_dominance(func)
    file = import_module("irkit.ir.analysis.enclosing")
    monkeypatch.setattr(file, "_surely_enters", lambda stmt, number: True)
    again = parse(script(func))
    with pytest.raises(AssertionError):
        check_dominance(again)


def test_a_way_around_a_statement_takes_its_dominance() -> None:
    func = parse(
        """def f(A: i64[64], n: i64):
    A[0] = 1
    for i in serial(0, n):
        A[1] = 1
    for j in serial(0, 4):
        A[2] = 1
    if n < 3:
        A[3] = 1
    A[4] = 1
"""
    )
    stores = list(walk(func.body, Store))
    known = enclosing(func)
    last = stores[-1]
    assert [known.dominates(store, last) for store in stores] == [True, False, True, False, True]
    assert [len(known.loops(store)) for store in stores] == [0, 1, 1, 0, 0]
    assert known.parent(func.body) is None


@pytest.mark.parametrize(
    "bug",
    [
        (apart, "may_meet", lambda *args: False),
        (apart, "_distances", lambda *args: (0, 0)),
        (apart.ApartTest, "_moves", lambda self, number: False),
        (apart.ApartTest, "_reach", lambda self, expr: (0, 0)),
    ],
    ids=["never meet", "no distance", "nothing moves", "nothing reaches far"],
)
def test_a_planted_bug_in_dependence_is_found(bug: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, wrong = bug
    monkeypatch.setattr(where, name, wrong)
    with pytest.raises(AssertionError):
        check_carried(parse(PRECISE))


@pytest.mark.parametrize(
    "compute", [uses_of, access_regions, dependences, enclosing, liveness, loop_ranges]
)
def test_a_result_is_kept_once_and_does_not_keep_its_function(compute: Any) -> None:
    func = parse(PRECISE)
    found = compute(func)
    if compute is not loop_ranges:
        assert compute(func) is found
    if compute is access_regions:
        found.reads(func.body)
    if compute is dependences:
        assert [found.carried(loop) for loop in walk(func.body, For)]
    gone = weakref.ref(func)
    del func, found
    gc.collect()
    assert gone() is None


def test_an_analysis_is_computed_once_for_each_function() -> None:
    asked: list[str] = []

    @analysis
    def names(func: PrimFunc) -> int:
        asked.append(func.name)
        return len(func.name)

    f, g = parse("def f(n: i64):\n    pass\n"), parse("def g(n: i64):\n    pass\n")
    assert [names(f), names(g), names(f)] == [1, 1, 1]
    assert asked == ["f", "g"]


def test_nests_of_10_000_levels_are_no_recursion() -> None:
    array = Buffer("A", (Const(8, I64),), I64)
    leaf = Store(array, (Const(0, I64),), Const(0, I64))
    body: Stmt = leaf
    for n in range(10_000):
        i = Var("i")
        body = For(i, Const(0, I64), Const(2, I64), body) if n % 2 else If(Var("b", BOOL), body)
    inside = Allocate(array, body)
    func = PrimFunc("f", (), inside)
    assert len(enclosing(func).path(leaf)) == 10_001
    assert enclosing(func).dominates(inside, leaf)
    assert not enclosing(func).dominates(leaf, inside)
    assert uses_of(func).writes(array) == (leaf,)
    life = liveness(func).of(array)
    assert life is not None
    assert life.first < life.last
    assert isinstance(body, For)
    assert "writes" in (dependences(func).carried(body) or "")


def test_a_statement_in_several_places_has_no_place_of_its_own() -> None:
    array = Buffer("A", (Const(8, I64),), I64)
    leaf = Store(array, (Const(0, I64),), Const(0, I64))
    other = Store(array, (Const(1, I64),), Const(0, I64))
    i = Var("i")
    loop = For(i, Const(0, I64), Const(2, I64), seq(leaf, other))
    func = PrimFunc("f", (), Allocate(array, seq(other, loop, leaf)))
    with pytest.raises(IRKitError, match="several places"):
        enclosing(func).path(leaf)
    with pytest.raises(IRKitError, match="not in this function"):
        enclosing(func).path(Seq(()))
    assert not enclosing(func).dominates(other, leaf)
    assert liveness(func).at(leaf) == {array}
