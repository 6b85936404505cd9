"""Dependences, compared with the accesses of random programs."""

from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given

from irkit.core import walk
from irkit.ir import For, PrimFunc, Store, dependences, parse
from irkit.ir.analysis import conflicts
from tests.ir.analysis.examples import MANY, PRECISE
from tests.ir.analysis.execution import Run
from tests.ir.analysis.programs import nests


def carried_in_fact(func: PrimFunc) -> set[For]:
    """Return the loops of which two iterations touch one element, one of them writing."""
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
def test_a_loop_reported_as_independent_is_independent(func: PrimFunc) -> None:
    check_carried(func)


@MANY
@given(nests())
def test_statements_reported_as_independent_touch_no_common_element(func: PrimFunc) -> None:
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


def test_dependence_is_precise_for_common_indices() -> None:
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


@pytest.mark.parametrize(
    "bug",
    [
        (conflicts, "may_meet", lambda *args: False),
        (conflicts, "_distances", lambda *args: (0, 0)),
        (conflicts.ConflictTest, "_moves", lambda self, number: False),
        (conflicts.ConflictTest, "_reach", lambda self, expr: (0, 0)),
    ],
    ids=["never meet", "no distance", "nothing moves", "nothing reaches far"],
)
def test_a_planted_bug_in_dependence_is_found(bug: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    where, name, wrong = bug
    monkeypatch.setattr(where, name, wrong)
    with pytest.raises(AssertionError):
        check_carried(parse(PRECISE))
