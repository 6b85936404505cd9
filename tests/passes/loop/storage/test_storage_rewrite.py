"""Buffers share memory only if neither is needed while the other is."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import irkit
from irkit.core import Recorder, recording, walk
from irkit.fuzz.generators.loops.loop_functions import arguments, prim_funcs
from irkit.ir import Allocate, PrimFunc, as_int, interpret, parse, script
from irkit.passes.loop import (
    flatten_buffers,
    lower_blocks,
    lower_init_blocks,
    plan_allocations,
    storage_rewrite,
)
from irkit.phases import DEFAULT
from tests.draws import few_or_all

SMALL = storage_rewrite.using(smallest=0)


def func(*lines: str) -> PrimFunc:
    head = "def f(A: f32[64], C: f32[64], n: i64):\n"
    return parse(head + "".join(f"    {line}\n" for line in lines))


def sizes(given: PrimFunc) -> list[int | None]:
    return [as_int(each.buffer.shape[0]) for each in walk(SMALL(given).body, Allocate)]


def outcome(given: PrimFunc) -> list[bytes]:
    arrays = arguments(given)
    interpret(given, *arrays)
    return [np.asarray(array).tobytes() for array in arrays]


def stage(to: str, value: str, kind: str = "serial") -> list[str]:
    return [f"for i in {kind}(0, 64):", f"    {to} = {value}"]


TWO = ["T = alloc(f32[64])", "U = alloc(f32[64])"]


@pytest.mark.parametrize("kind", ["serial", "parallel", "vectorized"])
def test_an_elementwise_step_is_done_in_place(kind: str) -> None:
    given = func(
        *TWO, *stage("T[i]", "A[i]"), *stage("U[i]", "T[i]", kind), *stage("C[i]", "U[63 - i]")
    )
    assert sizes(given) == [64]
    assert outcome(SMALL(given)) == outcome(given)


@pytest.mark.parametrize("read", ["T[63 - i]", "T[i // 2]", "T[i] + T[0]", "T[i] + U[0]"])
def test_a_step_that_reads_other_elements_is_not(read: str) -> None:
    given = func(
        *TWO,
        *stage("T[i]", "A[i]"),
        "U[0] = f32(0.0)",
        *stage("U[i]", read),
        *stage("C[i]", "U[i]"),
    )
    assert sizes(given) == [64, 64]


def test_a_step_that_writes_an_element_twice_is_not_done_in_place() -> None:
    given = func(
        *TWO,
        *stage("T[i]", "A[i]"),
        *stage("U[i // 2]", "T[i // 2] + f32(1.0)"),
        *stage("C[i]", "U[i // 2]"),
    )
    assert sizes(given) == [64, 64]


def test_a_buffer_that_is_still_needed_keeps_its_memory() -> None:
    given = func(
        *TWO, *stage("T[i]", "A[i]"), *stage("U[i]", "T[i]"), *stage("C[i]", "U[i] + T[i]")
    )
    assert SMALL(given) is given


def test_buffers_with_disjoint_live_ranges_share_the_larger_size() -> None:
    given = func(
        "T = alloc(f32[8])",
        "U = alloc(f32[64])",
        "T[0] = A[0]",
        "C[0] = T[0]",
        "U[1] = A[1]",
        "C[1] = U[1]",
    )
    assert sizes(given) == [64]


def test_a_buffer_that_a_later_iteration_needs_keeps_its_memory() -> None:
    given = func(
        *TWO,
        "T[0] = A[0]",
        "for i in serial(0, 8):",
        "    C[i] = T[0]",
        "    U[0] = A[i]",
        "    C[i + 8] = U[0]",
    )
    assert SMALL(given) is given


@pytest.mark.parametrize("kind", ["parallel", "thread", "vectorized"])
def test_iterations_side_by_side_keep_memory_of_their_own(kind: str) -> None:
    axis = ', "threadIdx.x"' if kind == "thread" else ""
    loop = f"for i in {kind}(0, 8{axis}):"
    given = func(
        "T = alloc(f32[64])",
        "T[0] = A[0]",
        "C[0] = T[0]",
        loop,
        "    U = alloc(f32[64])",
        "    U[0] = A[i]",
        "    C[i] = U[0]",
    )
    assert SMALL(given) is given
    if kind != "thread":
        serial = parse(script(given).replace(kind, "serial"))
        assert sizes(serial) == [64]


@pytest.mark.parametrize(
    ("t", "u"),
    [
        ("f32[64]", "f64[64]"),
        ("f32[64]", 'f32[64], scope="local"'),
        ("f32[n]", "f32[64]"),
        ("f32[64], double_buffer=True", "f32[64]"),
    ],
)
def test_unlike_buffers_keep_their_own(t: str, u: str) -> None:
    kind = "f64" if "f64" in u else "f32"
    given = func(
        f"T = alloc({t})",
        f"U = alloc({u})",
        "T[0] = A[0]",
        "C[0] = T[0]",
        f"U[0] = cast(A[0], {kind})",
        "C[1] = cast(U[0], f32)",
    )
    assert SMALL(given) is given


def test_a_view_prolongs_the_live_range_of_its_source() -> None:
    given = func(
        *TWO,
        "V = view(T, f32[8], offset=0)",
        "V[0] = A[0]",
        "U[0] = A[1]",
        "C[0] = U[0] + V[0]",
    )
    assert SMALL(given) is given


def test_buffers_that_may_become_registers_are_left_alone() -> None:
    given = func(*TWO, *stage("T[i]", "A[i]"), *stage("U[i]", "T[i]"), *stage("C[i]", "U[i]"))
    assert storage_rewrite(given) is given


def test_each_merge_is_a_remark() -> None:
    given = func(*TWO, *stage("T[i]", "A[i]"), *stage("U[i]", "T[i]"), *stage("C[i]", "U[i]"))
    recorder = Recorder()
    with recording(recorder):
        SMALL(given)
    assert [remark.text for remark in recorder.remarks] == ["'U' lies in place of 'T'"]


@st.composite
def chains(draw: st.DrawFn) -> PrimFunc:
    """Draw steps, each from some earlier buffers, with allocations in various places."""
    count = draw(st.integers(2, 6))
    names = ["A"]
    lines: list[str] = []
    inside = draw(st.booleans())
    outer = draw(st.sampled_from(["serial", "parallel", "unrolled"]))
    made = draw(st.permutations(range(count)))
    first = made[: count // 2 if inside else count]
    lines += [f"T{at} = alloc(f32[{draw(st.sampled_from([8, 8, 12]))}])" for at in first]
    if inside:
        lines.append(f"for o in {outer}(0, 4):")
    pad = "    " if inside else ""
    if inside:
        lines += [f"{pad}T{at} = alloc(f32[8])" for at in made[count // 2 :]]
    for at in range(count):
        value = "f32(1.0)"
        for name in draw(st.lists(st.sampled_from(names[-3:]), min_size=1, max_size=2)):
            place = draw(st.sampled_from(["i", "i", "7 - i", "(i + 3) % 8"]))
            value += f" + {name}[{place}]"
        kind = draw(st.sampled_from(["serial", "vectorized", "unrolled"]))
        lines += [f"{pad}for i in {kind}(0, 8):", f"{pad}    T{at}[i] = {value}"]
        names.append(f"T{at}")
    to = "o * 8 + i" if inside else "i"
    lines += [f"{pad}for i in serial(0, 8):", f"{pad}    C[{to}] = {names[-1]}[i] + {names[-2]}[i]"]
    if outer == "parallel" and inside:  # Its iterations may not meet.
        hoisted = [line for line in lines if line.startswith("T") and "alloc" in line]
        lines = [line for line in lines if line not in hoisted]
        lines[1:1] = [pad + line for line in hoisted]
    return func(*lines)


@settings(max_examples=few_or_all(60, 150), deadline=None, derandomize=True)
@given(chains())
def test_chains_of_steps_keep_their_results(given: PrimFunc) -> None:
    after = SMALL(given)
    assert outcome(after) == outcome(given)
    assert outcome(SMALL(plan_allocations(given))) == outcome(given)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(chains())
def test_native_code_of_chains_keeps_the_results(given: PrimFunc) -> None:
    pipeline = DEFAULT.replace("storage-rewrite", SMALL)
    arrays: list[Any] = arguments(given)
    irkit.build(given, pipeline=pipeline)(*arrays)
    assert [np.asarray(array).tobytes() for array in arrays] == outcome(given)


@settings(max_examples=few_or_all(24, 60), deadline=None, derandomize=True)
@given(prim_funcs())
def test_random_programs_keep_their_results(given: PrimFunc) -> None:
    flat = flatten_buffers(lower_blocks(lower_init_blocks(given)))
    assert outcome(SMALL(flat)) == outcome(given)
