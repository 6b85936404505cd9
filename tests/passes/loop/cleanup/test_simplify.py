"""Branches and loops that are decided go, and options choose which facts count."""

import pytest
from hypothesis import given, settings, strategies as st

from irkit.fuzz.generators.loops.loop_functions import prim_funcs
from irkit.ir import PrimFunc, script, verify
from irkit.passes import loop
from irkit.passes.loop import simplify
from tests.draws import few_or_all
from tests.passes.loop.programs import HEAD, body, func, outputs, text

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
def test_facts_count_only_where_an_option_asks_for_them(
    options: dict[str, bool], lines: list[str]
) -> None:
    made = script(simplify(func(*KNOWN), **options)).removeprefix(HEAD)
    assert [line[4:] for line in made.splitlines()] == lines


def test_the_left_of_an_and_decides_the_right_if_an_option_asks_for_it() -> None:
    given = func("if n < 4 and n < 5:", "    C[0] = A[0]")
    assert simplify(given) is given
    made = simplify(given, apply_constraints_to_boolean_branches=True)
    assert "    if n < 4:\n" in script(made)
    read = func("if A[0] < f32(1.0) and A[n] < f32(1.0):", "    C[0] = A[0]")
    assert simplify(read, apply_constraints_to_boolean_branches=True) is read


@settings(max_examples=few_or_all(10, 25), deadline=None, derandomize=True)
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
    assert outputs(made) == outputs(func)


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


def test_a_mask_of_all_lanes_is_none() -> None:
    stored = "(ramp(i, 1, 4),), broadcast(f32(0.0), 4)"
    given = func("for i in serial(0, 4):", f"    store(C, {stored}, mask=broadcast(i < 4, 4))")
    assert body(loop.simplify(given)) == text(
        "for i in serial(0, 4):", "    C[ramp(i, 1, 4)] = broadcast(f32(0.0), 4)"
    )


def test_a_mask_of_some_lanes_stays() -> None:
    given = func("store(C, (ramp(0, 1, 4),), broadcast(f32(0.0), 4), mask=broadcast(n < 4, 4))")
    assert loop.simplify(given) is given


def test_a_loop_of_one_iteration_becomes_its_body() -> None:
    given = func("for i in serial(n, n + 1):", "    C[i] = A[i + 1]")
    assert body(loop.simplify(given)) == text("C[n] = A[n + 1]")


def test_a_loop_that_never_runs_becomes_nothing() -> None:
    given = func("for i in serial(n + 3, n):", "    C[i] = A[i]", "C[0] = A[0]")
    assert body(loop.simplify(given)) == text("C[0] = A[0]")


def test_a_condition_counts_inside_its_branches_and_not_after_them() -> None:
    given = func(
        "if n < 4:",
        "    if n < 5:",
        "        C[0] = f32(1.0)",
        "else:",
        "    if n < 3:",
        "        C[1] = f32(1.0)",
        "if n < 5:",
        "    C[2] = f32(1.0)",
    )
    assert body(loop.simplify(given)) == text(
        "if n < 4:", "    C[0] = f32(1.0)", "if n < 5:", "    C[2] = f32(1.0)"
    )


def test_a_condition_on_memory_does_not_count_after_a_store() -> None:
    given = func(
        "if A[0] < f32(1.0):",
        "    A[0] = f32(2.0)",
        "    if A[0] < f32(1.0):",
        "        C[0] = A[1]",
    )
    assert loop.simplify(given) is given
