"""An access outside its buffer is an error with its place; one inside is not checked."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import irkit
from irkit.core import IRKitError, rewrite, same, walk
from irkit.fuzz.generators.loops.loop_functions import arguments, prim_funcs
from irkit.ir import Allocate, Assert, Load, PrimFunc, Store, interpret, parse, script
from irkit.passes.loop import instrument_bounds, lower_blocks, lower_init_blocks
from irkit.phases import DEFAULT
from irkit.phases.bounds_checks import with_bounds_checks
from tests.draws import few_or_all


def problem(text: str, *args: Any) -> str:
    kernel = irkit.build(parse(text, file="k.irs"), check_bounds=True)
    try:
        kernel(*args)
    except IRKitError as error:
        return str(error)
    return ""


def interpreted(func: PrimFunc) -> tuple[list[bytes], str]:
    arrays, said = arguments(func), ""
    try:
        interpret(func, *arrays)
    except IRKitError as error:
        said = error.message.removeprefix("assertion failed: ")
    return [np.asarray(array).tobytes() for array in arrays], said


def unblocked(func: PrimFunc) -> PrimFunc:
    return lower_blocks(lower_init_blocks(func))


GATHER = """
def gather(A: f32[8], P: i64[4], C: f32[4]):
    for i in parallel(0, 4):
        C[i] = A[P[i]]
"""


@pytest.mark.parametrize("kind", ["serial", "parallel", "vectorized", "unrolled"])
def test_the_error_names_buffer_index_shape_and_line(kind: str) -> None:
    a, c = np.zeros(8, "f4"), np.zeros(4, "f4")
    text = GATHER.replace("parallel", kind)
    assert problem(text, a, np.array([0, 7, 3, 1]), c) == ""
    found = problem(text, a, np.array([0, 7, 8, 1]), c)
    assert found == "k.irs:4: gather: A[8] is out of bounds: the shape is [8]"
    assert "A[-1]" in problem(text, a, np.array([0, 7, 2, -1]), c)


def test_each_call_has_a_record_of_its_own() -> None:
    kernel = irkit.build(parse(GATHER), check_bounds=True)
    a, c = np.zeros(8, "f4"), np.zeros(4, "f4")
    for at in (9, 1 << 62, -(1 << 62)):
        with pytest.raises(IRKitError, match=rf"A\[{at}\]"):
            kernel(a, np.array([at, 0, 0, 0]), c)
        kernel(a, np.array([1, 0, 0, 0]), c)


def test_an_access_proved_in_bounds_is_not_checked() -> None:
    func = parse(
        "def f(A: f32[n], C: f32[n, 4]):\n"
        "    for i in serial(0, n):\n"
        "        for j in serial(0, 4):\n"
        "            C[i, j] = A[i] + (A[i - 1] if i > 0 else C[i, 3 - j])\n"
    )
    assert instrument_bounds(func) is func


def test_an_index_out_of_its_row_is_found_although_the_offset_is_in_bounds() -> None:
    text = """
def f(A: f32[4, 4], k: i64):
    for j in serial(0, k):
        A[0, j] = f32(1.0)
"""
    assert problem(text, np.zeros((4, 4), "f4"), 4) == ""
    assert "A[0, 4] is out of bounds: the shape is [4, 4]" in problem(
        text, np.zeros((4, 4), "f4"), 5
    )


def test_a_temporary_is_checked_against_the_size_it_was_given() -> None:
    text = """
def f(A: f32[16], C: f32[16], k: i64):
    T = alloc(f32[15])
    for i in serial(0, 15):
        T[i] = A[i]
    for i in serial(0, 15):
        C[i] = T[i + k]
"""
    a, c = np.zeros(16, "f4"), np.zeros(16, "f4")
    assert problem(text, a, c, 0) == ""
    assert "T[15] is out of bounds: the shape is [15]" in problem(text, a, c, 1)


@pytest.mark.parametrize(
    "guard",
    [
        "A[P[0]] if P[0] < 4 else f32(0.0)",
        "f32(0.0) if P[0] >= 4 else A[P[0]]",
        "f32(P[0] < 4 and A[P[0]] > f32(0.0))",
        "f32(P[0] >= 4 or A[P[0]] > f32(0.0))",
    ],
)
def test_a_side_that_is_not_taken_raises_no_alarm(guard: str) -> None:
    text = f"def f(A: f32[4], P: i64[1], C: f32[1]):\n    C[0] = {guard}\n"
    a, c = np.zeros(4, "f4"), np.zeros(1, "f4")
    assert problem(text, a, np.array([1 << 40]), c) == ""
    assert "A[-5]" in problem(text, a, np.array([-5]), c)


def test_both_sides_of_a_select_are_checked() -> None:
    text = (
        "def f(A: f32[4], P: i64[1], C: f32[1]):\n    C[0] = select(P[0] < 4, A[P[0]], f32(0.0))\n"
    )
    assert "A[4]" in problem(text, np.zeros(4, "f4"), np.array([4]), np.zeros(1, "f4"))


VECTORS = """
def f(A: f32[n], C: f32[8], k: i64):
    C[ramp(0, 1, 8)] = A[ramp(k, 2, 8)]
"""
MASKED = """
def f(A: f32[n], C: f32[8], k: i64):
    at: i64x8 = ramp(k, 1, 8)
    C[ramp(0, 1, 8)] = load(A, at, mask=at < broadcast(n, 8))
"""
LAZY_LANES = """
def f(A: f32[n], C: f32[8], k: i64):
    at: i64x8 = ramp(k, 1, 8)
    C[ramp(0, 1, 8)] = A[at] if at < broadcast(n, 8) else broadcast(f32(0.0), 8)
"""


def test_the_lanes_of_vectors_are_checked() -> None:
    a, c = np.zeros(15, "f4"), np.zeros(8, "f4")
    assert problem(VECTORS, a, c, 0) == ""
    assert "A[15] is out of bounds in lane 7: the shape is [15]" in problem(VECTORS, a, c, 1)
    assert "in lane 0" in problem(VECTORS, a, c, -1)


@pytest.mark.parametrize("text", [MASKED, LAZY_LANES])
def test_lanes_that_are_masked_off_raise_no_alarm(text: str) -> None:
    a, c = np.zeros(10, "f4"), np.zeros(8, "f4")
    assert problem(text, a, c, 6) == ""
    assert "A[-1]" in problem(text, a, c, -1)


def test_a_view_must_lie_in_the_memory_it_shows() -> None:
    text = """
def f(A: f32[16], k: i64, m: i64, n: i64):
    V = view(A, f32[m, n], offset=k)
    for i in serial(0, m):
        V[i, 0] = f32(1.0)
"""
    a = np.zeros(16, "f4")
    assert problem(text, a, 0, 4, 4) == ""
    assert problem(text, a, 16, 0, 4) == ""
    found = problem(text, a, 1, 4, 4)
    assert "view 'V' of 'A' does not fit: it begins at element 1 of 16" in found
    assert "does not fit" in problem(text, a, -1, 2, 2)
    # The product of these wraps around to 0.
    assert "does not fit" in problem(text, a, 0, 1 << 32, 1 << 32)


def test_a_view_with_strides_must_lie_in_the_memory_it_shows() -> None:
    text = """
def f(A: f32[16], m: i64, s: i64):
    V = view(A, f32[m, 2], offset=0, strides=(s, 1))
    for i in serial(0, m):
        V[i, 0] = f32(1.0)
"""
    a = np.zeros(16, "f4")
    assert problem(text, a, 3, 7) == ""
    assert "does not fit" in problem(text, a, 3, 8)
    assert "does not fit" in problem(text, a, (1 << 32) + 1, 1 << 32)
    assert "does not fit" in problem(text, a, 2, -1)


def test_checks_come_before_the_accesses_they_guard_and_print() -> None:
    func = instrument_bounds(parse(GATHER))
    assert same(parse(script(func)), func)
    (check,) = walk(func, Assert)
    assert check.described([9]) == "A[9] is out of bounds: the shape is [8]"
    assert check.described([]) == "A[?] is out of bounds: the shape is [8]"


@settings(max_examples=few_or_all(16, 40), deadline=None, derandomize=True)
@given(prim_funcs())
def test_a_program_without_fault_raises_no_alarm(func: PrimFunc) -> None:
    expected = interpreted(func)
    assert expected[1] == ""
    assert interpreted(instrument_bounds(unblocked(func))) == expected
    assert interpreted(with_bounds_checks(DEFAULT).run(func)) == expected


@settings(max_examples=few_or_all(24, 60), deadline=None, derandomize=True)
@given(prim_funcs(), st.integers(0, 40), st.integers(-3, 3), st.booleans())
def test_a_fault_is_found_where_the_interpreter_finds_it(
    func: PrimFunc, chosen: int, shift: int, native: bool
) -> None:
    func, left = unblocked(func), [chosen]

    def move(node: Load | Store) -> Load | Store | None:
        left[0] -= 1
        if left[0] != 0 or not node.indices:
            return None
        return node.replace(indices=(node.indices[0] + shift, *node.indices[1:]))

    func = rewrite(func, move, on=(Load, Store))
    _, expected = interpreted(func)
    _, found = interpreted(instrument_bounds(func))
    assert found.replace(" in lane", "") == expected.replace(" in lane", "") or (
        "is out of bounds" in found and "is out of bounds" in expected
    )
    if native and not any(True for _ in walk(func, Allocate)):
        kernel = irkit.build(func, check_bounds=True)
        try:
            kernel(*arguments(func))
        except IRKitError:
            assert expected
        else:
            assert not expected


def test_a_prefetch_can_name_an_element_out_of_bounds() -> None:
    func = parse("def f(A: f32[4]):\n    evaluate(prefetch(A[4]))\n    A[0] = f32(1.0)\n")
    assert instrument_bounds(func).body == func.body
