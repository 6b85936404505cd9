"""Analyses are computed once per function and released with it."""

import gc
import weakref
from typing import Any

import pytest

from irkit.core import analysis, walk
from irkit.ir import (
    BOOL,
    I64,
    Allocate,
    Buffer,
    Const,
    For,
    If,
    PrimFunc,
    Stmt,
    Store,
    Var,
    access_regions,
    dependences,
    enclosing,
    liveness,
    loop_ranges,
    parse,
    uses_of,
)
from tests.ir.analysis.examples import PRECISE


@pytest.mark.parametrize(
    "compute", [uses_of, access_regions, dependences, enclosing, liveness, loop_ranges]
)
def test_a_result_is_cached_without_keeping_its_function_alive(compute: Any) -> None:
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


def test_nests_of_10_000_levels_do_not_recurse() -> None:
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
