"""No function of the user's runs while irkit holds the guard that raises the limit of recursion."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from irkit import te
from irkit.core import Node, Problem, Recorder, deep_recursion, remark, rewrite
from irkit.ir import For, PrimFunc, Rewriter, Stmt, Var, hole, parse, peephole
from irkit.phases import DEFAULT, lower
from irkit.schedule import Schedule
from irkit.transform import Attempt, Fact, apply_here, define_pass

LIMIT = sys.getrecursionlimit()
called: list[str] = []


def note(name: str) -> None:
    """Stand in a function of the user's: it must run with the limit that the user has set."""
    called.append(name)
    assert sys.getrecursionlimit() == LIMIT, f"{name} runs under the guard"


TEXT = """
def f(A: f32[4, 8], C: f32[4, 8]):
    for i in serial(0, 4):
        for j in serial(0, 8):
            with block("C"):
                vi = axis.spatial(4, i)
                vj = axis.spatial(8, j)
                C[vi, vj] = A[vi, vj] + f32(1.0)
"""


def function() -> PrimFunc:
    return parse(TEXT.strip() + "\n")


def a_compute_lambda() -> None:
    def element(i: Any) -> Any:
        note("a_compute_lambda")
        return a[i] * 2.0

    a = te.placeholder((8,), name="A")
    b = te.compute((8,), element, name="B")
    assert isinstance(b, te.Tensor)
    lower(te.create_prim_func([a, b]))


def a_reducer() -> None:
    def combine(x: Any, y: Any) -> Any:
        note("a_reducer")
        return x[0] + y[0], x[1] * y[1]

    def identity(*_dtypes: object) -> tuple[int, int]:
        note("a_reducer")
        return 0, 1

    both = te.comm_reducer(combine, identity, "both")
    a = te.placeholder((4, 8), name="A")
    k = te.reduce_axis((0, 8), name="k")

    def element(i: Any) -> Any:
        return both((a[i, k], a[i, k]), axis=k)

    made = te.compute((4,), element, name="B")
    te.create_prim_func([a, *made])


def an_index_map() -> None:
    def tiled(i: Any, j: Any) -> list[Any]:
        note("an_index_map")
        return [j, i]

    a = te.placeholder((4, 8), name="A")
    b = te.compute((4, 8), lambda i, j: a[i, j] + 1.0, name="B")
    c = te.compute((4, 8), lambda i, j: b[i, j] * 2.0, name="C")
    schedule = Schedule(te.create_prim_func([a, c]), check="each")
    schedule.transform_layout(schedule.get_block("B"), tiled)


def a_block_map() -> None:
    def swapped(i: Any, j: Any) -> list[Any]:
        note("a_block_map")
        return [j, i]

    schedule = Schedule(function(), check="each")
    schedule.transform_block_layout(schedule.get_block("C"), swapped)


def a_pass() -> None:
    @define_pass
    def own(func: PrimFunc) -> PrimFunc:
        note("a_pass")
        remark(func.body, "seen")
        return func

    DEFAULT.insert(own, phase=2).run(function())


def a_rule_in_a_pass() -> None:
    def keep(_node: Node) -> None:
        note("a_rule_in_a_pass")

    @define_pass
    def own(func: PrimFunc) -> PrimFunc:
        return rewrite(func, keep, on=For)

    DEFAULT.insert(own, phase=2).run(function())


def a_peephole_rule() -> None:
    def is_right(a: Any) -> bool:
        note("a_peephole_rule")
        return a is not None

    def made(a: Any) -> Any:
        note("a_peephole_rule")
        return a + 2

    rule = peephole("own", hole("a", "i64") + 1, made, where=is_right)
    rewrite(Var("x") + 1, rule)


def a_rewriter() -> None:
    class Own(Rewriter):
        def visit(self, stmt: Stmt) -> Stmt:
            note("a_rewriter")
            return self.below(self.own(stmt))

    @define_pass
    def own(func: PrimFunc) -> PrimFunc:
        return Own(func).run()

    DEFAULT.insert(own, phase=2).run(function())


def a_fact() -> None:
    def holds(_func: PrimFunc) -> list[Problem]:
        note("a_fact")
        return []

    @define_pass(gives=(Fact("own", "loop", holds),))
    def own(func: PrimFunc) -> PrimFunc:
        return func

    DEFAULT.insert(own, phase=2).run(function())


def a_place_that_runs_passes() -> None:
    def apply(attempt: Attempt, recorder: Recorder) -> object:
        note("a_place_that_runs_passes")
        return apply_here(attempt, recorder)

    DEFAULT.run(function(), apply=apply)


DOORS: dict[str, Callable[[], None]] = {
    each.__name__: each
    for each in (
        *(a_compute_lambda, a_reducer, an_index_map, a_block_map, a_pass, a_rule_in_a_pass),
        *(a_peephole_rule, a_rewriter, a_fact, a_place_that_runs_passes),
    )
}


@pytest.mark.parametrize("door", DOORS)
def test_a_function_of_the_user_runs_without_the_guard(door: str) -> None:
    called.clear()
    DOORS[door]()
    assert set(called) == {door}


def test_a_guard_around_a_function_of_the_user_would_be_seen() -> None:
    with deep_recursion, pytest.raises(AssertionError, match="a_pass runs under the guard"):
        note("a_pass")
