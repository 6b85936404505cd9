"""Where loops begin, what is tested in front of them, what stays parallel, and what has a name."""

import pytest
from hypothesis import given, settings

from irkit.core import IRKitError, Recorder, recording, same
from irkit.fuzz.programs import arguments, prim_funcs
from irkit.ir import Expr, For, If, PrimFunc, Seq, interpret, parse, script, seq, verify
from irkit.passes.loop import (
    canonicalize_loops,
    convert_for_loops_to_serial,
    convert_ssa,
    hoist_if_then_else,
    unroll_loops,
)
from irkit.transform import AnyPass

HEAD = "def f(A: f32[64], B: f32[8, 8], C: f32[64], n: i64):\n"


def func(*lines: str) -> PrimFunc:
    return parse(HEAD + "".join(f"    {line}\n" for line in lines))


def after(p: AnyPass, *lines: str) -> tuple[list[str], list[str]]:
    recorder = Recorder()
    with recording(recorder):
        made = script(p(func(*lines))).removeprefix(HEAD)
    said = [remark.text for remark in recorder.remarks]
    return [line[4:] for line in made.splitlines()], said


def test_a_begin_that_reads_memory_is_read_once_in_front_of_the_loop() -> None:
    made, _ = after(
        canonicalize_loops, "for i in serial(cast(A[0], i64), n):", "    A[0] = f32(1.0) + A[i]"
    )
    assert made == [
        "i_begin: i64 = cast(A[0], i64)",
        "for i in serial(0, n - i_begin):",
        "    A[0] = f32(1.0) + A[i + i_begin]",
    ]


def test_inner_loops_that_begin_at_outer_ones_begin_at_0_too() -> None:
    made, _ = after(
        canonicalize_loops,
        "for i in serial(1, 5):",
        "    for j in serial(i, 8):",
        "        B[i, j] = A[j]",
    )
    assert made == [
        "for i in serial(0, 4):",
        "    for j in serial(0, 8 - (i + 1)):",
        "        B[i + 1, j + (i + 1)] = A[j + (i + 1)]",
    ]


def test_a_number_of_iterations_that_does_not_fit_its_type_stays() -> None:
    lines = ("for i in serial(i8(-100), i8(100)):", "    C[cast(i, i64) + 100] = f32(1.0)")
    made, said = after(canonicalize_loops, *lines)
    assert made == list(lines)
    assert said == ["its number of iterations may not fit its type: left as it begins"]


def test_an_else_gets_a_loop_of_its_own() -> None:
    made, _ = after(
        hoist_if_then_else,
        "for i in parallel(0, 8):",
        "    if n < 3:",
        "        C[i] = A[i]",
        "    else:",
        "        C[i] = f32(0.0)",
    )
    assert made == [
        "if n < 3:",
        "    for i in parallel(0, 8):",
        "        C[i] = A[i]",
        "else:",
        "    for i_1 in parallel(0, 8):",
        "        C[i_1] = f32(0.0)",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ("for i in serial(0, n):", "    if i < n:", "        C[i] = A[i]"),
        ("for i in serial(0, n):", "    if n < 4:", "        C[i] = A[i]", "    C[0] = A[i]"),
        (
            "for i in serial(0, n):",
            "    if n < 4 and i < 3:",
            "        C[i] = A[i]",
            "    else:",
            "        C[0] = A[i]",
        ),
    ],
)
def test_a_condition_that_is_not_the_same_for_the_whole_body_stays(lines: tuple[str, ...]) -> None:
    given = func(*lines)
    assert hoist_if_then_else(given) is given


def test_a_condition_on_memory_stays_and_says_why() -> None:
    lines = ("for i in serial(0, n):", "    if A[0] < f32(1.0):", "        A[i] = f32(2.0)")
    made, said = after(hoist_if_then_else, *lines)
    assert made == list(lines)
    assert said == ["the condition reads memory, which the loop may change: left inside"]


def test_what_is_hoisted_before_unrolling_stands_once() -> None:
    given = func("for i in unrolled(0, 4):", "    if n < 4:", "        C[i] = A[i]")
    assert script(unroll_loops(hoist_if_then_else(given))).count("if ") == 1
    assert script(unroll_loops(given)).count("if ") == 4


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        ({}, ["serial", "serial", "unrolled"]),
        ({"vectorized": False}, ["serial", "vectorized", "unrolled"]),
        ({"parallel": False, "unrolled": True}, ["parallel", "serial", "serial"]),
    ],
)
def test_only_the_chosen_kinds_become_serial(options: dict[str, bool], kinds: list[str]) -> None:
    lines = ("for i in parallel(0, 2):", "    C[i] = A[i]", "for j in vectorized(0, 2):")
    rest = ("    C[j] = A[j]", "for k in unrolled(0, 2):", "    C[k] = A[k]")
    made, _ = after(convert_for_loops_to_serial.using(**options), *lines, *rest)
    assert [line.split()[3].partition("(")[0] for line in made if line.startswith("for")] == kinds


@settings(max_examples=40, deadline=None, derandomize=True)
@given(prim_funcs())
def test_a_body_copied_without_fresh_is_mended(func: PrimFunc) -> None:
    careless = func.replace(body=seq(func.body, func.body))
    made = convert_ssa(careless)
    assert verify(made) == []
    # What it should have been: each copy alone, one after the other.
    arrays = arguments(func)
    interpret(func, *arrays)
    interpret(func, *arrays)
    again = arguments(func)
    interpret(made, *again)
    for a, b in zip(arrays, again, strict=True):
        assert getattr(a, "tobytes", lambda a=a: a)() == getattr(b, "tobytes", lambda b=b: b)()
    assert convert_ssa(made) is made
    assert same(parse(script(made)), made)


def test_a_use_belongs_to_the_innermost_definition() -> None:
    given = func("for i in serial(0, 4):", "    for j in serial(i, 8):", "        C[j] = A[i]")
    outer = given.body
    assert isinstance(outer, For)
    inner = outer.body
    assert isinstance(inner, For)
    # `for i: for i in (i, 8)`: the begin is the outer variable, the body speaks of the inner one.
    made = convert_ssa(
        given.replace(body=outer.replace(body=inner.replace(var=outer.var, body=inner.body)))
    )
    assert "for i_1 in serial(i, 8):" in script(made)
    assert "= A[i_1]" in script(made)


def test_copies_of_copies_without_end_are_an_error() -> None:
    given = func("C[0] = A[0]")
    body = given.body
    for _ in range(60):
        body = Seq((If(parse_cond(), body), If(parse_cond(), body)))
    with pytest.raises(IRKitError, match="stand in several places"):
        convert_ssa(given.replace(body=body))


def parse_cond() -> Expr:
    branch = func("if 0 < 1:", "    C[0] = A[0]").body
    assert isinstance(branch, If)
    return branch.cond
