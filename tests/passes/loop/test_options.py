"""What the options of unrolling and simplification decide."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from irkit.core import Recorder, recording
from irkit.fuzz.programs import arguments, prim_funcs
from irkit.ir import PrimFunc, interpret, parse, script, verify
from irkit.passes.loop import simplify, unroll_loops

HEAD = "def f(A: f32[64], C: f32[64], n: i64):\n"
NEST = (
    "for i in serial(0, 4):",
    "    for j in serial(0, 3):",
    "        C[i * 3 + j] = A[j]",
)


def func(*lines: str) -> PrimFunc:
    return parse(HEAD + "".join(f"    {line}\n" for line in lines))


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


def outcome(func: PrimFunc) -> list[bytes]:
    arrays = arguments(func)
    interpret(func, *arrays)
    return [getattr(array, "tobytes", lambda a=array: repr(a).encode())() for array in arrays]


@settings(max_examples=30, deadline=None, derandomize=True)
@given(prim_funcs(), st.integers(0, 20), st.integers(0, 4), st.booleans())
def test_unrolling_of_itself_keeps_the_results(
    func: PrimFunc, step: int, extent: int, explicit: bool
) -> None:
    made = unroll_loops(func, auto_max_step=step, auto_max_extent=extent, explicit=explicit)
    assert verify(made) == []
    assert outcome(made) == outcome(func)


KNOWN = ("if n < 4:", "    if n < 5:", "        C[min(n, 9)] = A[0]")


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({}, ["if n < 4:", "    C[n] = A[0]"]),
        (
            {"propagate_knowns_to_prove_conditional": False},
            ["if n < 4:", "    if n < 5:", "        C[n] = A[0]"],
        ),
        (
            {"propagate_knowns_to_simplify_expressions": False},
            ["if n < 4:", "    C[min(n, 9)] = A[0]"],
        ),
    ],
)
def test_what_is_known_counts_where_it_is_asked_to(
    options: dict[str, bool], lines: list[str]
) -> None:
    made = script(simplify(func(*KNOWN), **options)).removeprefix(HEAD)
    assert [line[4:] for line in made.splitlines()] == lines


def test_the_left_of_an_and_decides_the_right_if_asked_to() -> None:
    given = func("if n < 4 and n < 5:", "    C[0] = A[0]")
    assert simplify(given) is given
    made = simplify(given, apply_constraints_to_boolean_branches=True)
    assert "    if n < 4:\n" in script(made)
    read = func("if A[0] < f32(1.0) and A[n] < f32(1.0):", "    C[0] = A[0]")
    assert simplify(read, apply_constraints_to_boolean_branches=True) is read


@settings(max_examples=25, deadline=None, derandomize=True)
@given(prim_funcs(), st.booleans(), st.booleans())
def test_simplification_with_less_or_more_knowledge_keeps_the_results(
    func: PrimFunc, proves: bool, simplifies: bool
) -> None:
    made = simplify(
        func,
        propagate_knowns_to_prove_conditional=proves,
        propagate_knowns_to_simplify_expressions=simplifies,
        apply_constraints_to_boolean_branches=True,
    )
    assert verify(made) == []
    assert outcome(made) == outcome(func)


# What renormalising split patterns is for elsewhere: the forms that unrolling leaves behind.
@pytest.mark.parametrize(
    ("given", "becomes"),
    [
        ("i % 16 // 4", "i // 4 % 4"),
        ("(i * 4 + j) // 16", "i // 4"),
        ("(i * 4 + j) % 16 // 4", "i % 4"),
        ("i // 4 % 4 * 4 + i % 4", "i % 16"),
    ],
)
def test_split_patterns_have_one_form(given: str, becomes: str) -> None:
    loops = ("for i in serial(0, 64):", "    for j in serial(0, 4):")
    forms = [
        script(simplify(func(*loops, f"        C[{index}] = A[j]"))) for index in (given, becomes)
    ]
    assert forms[0] == forms[1]


def test_a_loop_that_is_too_long_to_be_unrolled_after_all_is_left_as_it_was() -> None:
    text = "def f(A: f32[65]):\n    for i in serial(0, 65):\n        pass\n"
    func = parse(text)
    assert unroll_loops.using(auto_max_step=16)(func) is func
