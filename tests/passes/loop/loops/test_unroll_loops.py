"""Which loops become copies of their body."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import Recorder, recording
from irkit.fuzz.generators.loops.loop_functions import prim_funcs
from irkit.ir import PrimFunc, parse, script, verify
from irkit.passes import loop
from irkit.passes.loop import unroll_loops
from tests.draws import few_or_all
from tests.passes.loop.programs import body, func, outputs

NEST = (
    "for i in serial(0, 4):",
    "    for j in serial(0, 3):",
    "        C[i * 3 + j] = A[j]",
)


def loops_left(made: PrimFunc) -> int:
    return script(made).count("for ")


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({}, 2),
        ({"auto_max_step": 2}, 2),
        ({"auto_max_step": 3}, 1),
        ({"auto_max_step": 11}, 1),
        ({"auto_max_step": 12}, 0),
        ({"auto_max_extent": 3}, 1),
        ({"auto_max_extent": 4}, 0),
        ({"auto_max_step": 12, "auto_max_depth": 0}, 1),
        ({"auto_max_step": 12, "explicit": False}, 2),
    ],
)
def test_small_loops_are_unrolled_up_to_the_limits(options: dict[str, Any], left: int) -> None:
    assert loops_left(unroll_loops(func(*NEST), **options)) == left


def test_a_hint_on_a_loop_holds_for_all_in_it_and_for_nothing_beside_it() -> None:
    hinted = (NEST[0].replace("4)", "4, auto_unroll_max_step=16)"), *NEST[1:])
    assert loops_left(unroll_loops(func(*hinted))) == 0
    assert loops_left(unroll_loops(func(*NEST, *hinted))) == 2


def test_a_loop_may_be_left_to_the_code_generator() -> None:
    given = func("for i in unrolled(0, 4, unroll_explicit=False):", "    C[i] = A[i]")
    recorder = Recorder()
    with recording(recorder):
        made = unroll_loops(given)
    assert "for i in serial(0, 4, unroll_explicit=False):" in script(made)
    assert "left to the code generator" in recorder.remarks[0].text


def test_a_loop_around_one_that_stays_is_not_unrolled_by_itself() -> None:
    given = func("for i in serial(0, 2):", "    for j in serial(0, n):", "        C[i] = A[j]")
    assert unroll_loops(given, auto_max_step=64, auto_max_extent=64) is given


@settings(max_examples=few_or_all(12, 30), deadline=None, derandomize=True)
@given(prim_funcs(), st.integers(0, 20), st.integers(0, 4), st.booleans())
def test_unrolling_of_itself_keeps_the_results(
    func: PrimFunc, step: int, extent: int, explicit: bool
) -> None:
    made = unroll_loops(func, auto_max_step=step, auto_max_extent=extent, explicit=explicit)
    assert verify(made) == []
    assert outputs(made) == outputs(func)


def test_a_loop_that_is_too_long_to_be_unrolled_after_all_is_left_as_it_was() -> None:
    text = "def f(A: f32[65]):\n    for i in serial(0, 65):\n        pass\n"
    func = parse(text)
    assert unroll_loops.using(auto_max_step=16)(func) is func


def test_loops_whose_copies_would_fill_the_memory_stay_loops() -> None:
    lines = [
        f"{'    ' * depth}for {name} in unrolled(0, 64):" for depth, name in enumerate("pqrstuvw")
    ]
    recorder = Recorder()
    with recording(recorder):
        made = loop.unroll_loops(func(*lines, "    " * 8 + "C[p] = A[w]"))
    assert "for p in serial(0, 64):" in body(made)
    assert "for w in" not in body(made)
    assert "more than 131072 nodes" in recorder.remarks[0].text
