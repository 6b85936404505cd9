"""What each pass does, leaves alone, and keeps: text in, text out."""

import numpy as np
import pytest

from irkit.core import Recorder, recording, same, walk
from irkit.ir import (
    LOOP_LEVEL,
    Allocate,
    Evaluate,
    If,
    PrimFunc,
    Seq,
    Stmt,
    interpret,
    parse,
    script,
    verify,
)
from irkit.ir.threads import BARRIER
from irkit.passes import BUILTIN, loop
from irkit.phases import DEFAULT
from irkit.transform import Pass, apply_pass
from tests.passes.loop.kernels import KERNELS, kernel, results

NAMES = sorted(name for name, found in vars(loop).items() if isinstance(found, Pass))
HEAD = "def f(A: f32[64], B: f32[8, 8], C: f32[64], n: i64):\n"


def func(*lines: str) -> PrimFunc:
    return parse(HEAD + "".join(f"    {line}\n" for line in lines))


def body(made: PrimFunc) -> str:
    return script(made).removeprefix(HEAD)


def text(*lines: str) -> str:
    return "".join(f"    {line}\n" for line in lines)


ALONE = {
    "canonicalize_loops": ("for i in serial(0, n):", "    C[i] = A[i]"),
    "convert_for_loops_to_serial": ("for i in unrolled(0, 8):", "    C[i] = A[i]"),
    "convert_ssa": ("for i in serial(0, 8):", "    C[i] = A[i]"),
    "hoist_if_then_else": ("for i in serial(0, n):", "    if i < 7:", "        C[i] = A[i]"),
    "compact_buffers": ("T = alloc(f32[n])", "for i in serial(0, n):", "    T[i] = A[i]"),
    "eliminate_common_subexpressions": ("C[n] = A[n] + f32(1.0)", "C[0] = A[0]"),
    "flatten_buffers": ("for i in serial(0, 8):", "    C[i] = A[i]"),
    "hoist_first_iterations": ("for i in serial(0, 8):", "    if i == 1:", "        C[i] = A[i]"),
    "inject_double_buffers": ("T = alloc(f32[4])", "T[0] = A[0]", "C[0] = T[0]"),
    "instrument_bounds": ("for i in serial(0, 64):", "    C[i] = A[i]"),
    "loop_partition": ("for i in serial(0, n):", "    if i < 7:", "        C[i] = A[i]"),
    "lower_blocks": ("for i in serial(0, 8):", "    C[i] = A[i]"),
    "lower_init_blocks": ('with block("C"):', "    v = axis.spatial(8, n)", "    C[v] = A[v]"),
    "inject_virtual_threads": (
        'for t in thread(0, 8, "threadIdx.x"):',
        "    C[t] = A[t]",
    ),
    "lower_cross_thread_reduction": (
        'for t in thread(0, 8, "threadIdx.x"):',
        '    with block("C"):',
        "        v = axis.spatial(8, t)",
        "        C[v] = A[v]",
    ),
    "thread_sync": (
        'for t in thread(0, 8, "threadIdx.x"):',
        "    C[t] = A[t]",
        "    C[t] = C[t] + C[t]",
    ),
    "unify_thread_bindings": (
        'for t in thread(0, 8, "threadIdx.x"):',
        "    C[t] = A[t]",
        "    C[t] = C[t] + C[t]",
    ),
    "lower_thread_loops": ("for i in parallel(0, 8):", "    C[i] = A[i]"),
    "narrow_indices": ("for i in serial(0, n):", "    C[i * 1000000007] = A[i]"),
    "plan_allocations": ("for i in serial(0, 8):", "    C[i] = A[i]"),
    "remove_no_ops": ("for i in serial(0, n):", "    C[i] = C[i + 1]"),
    "rewrite_unsafe_selects": ("for i in serial(0, 8):", "    C[i] = select(i < 4, A[i], C[0])"),
    "serialize_inner_parallel_loops": ("for i in parallel(0, 8):", "    C[i] = A[i]"),
    "simplify": ("for i in serial(0, n):", "    if i < 7:", "        C[i] = A[i]"),
    "storage_rewrite": ("T = alloc(f32[4096])", "T[0] = A[0]", "C[0] = T[0]"),
    "unroll_loops": ("for i in parallel(0, 2):", "    C[i] = A[i]"),
    "vectorize_loops": ("for i in serial(0, 16):", "    C[i] = A[i]"),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_pass_leaves_alone_what_it_is_not_about(name: str) -> None:
    given = func(*ALONE[name])
    assert getattr(loop, name)(given) is given


@pytest.mark.parametrize("name", NAMES)
def test_a_pass_run_twice_does_nothing_the_second_time(name: str) -> None:
    steps = [step for each in KERNELS for step in DEFAULT.steps(kernel(each))]
    p = getattr(loop, name)
    for step in steps:
        if step.name == p.name:
            again = p(step.after)
            assert again is step.after or same(again, step.after), script(step.after)


@pytest.mark.parametrize("name", KERNELS)
def test_every_statement_still_says_where_it_came_from(name: str) -> None:
    for step in DEFAULT.steps(kernel(name)):
        assert isinstance(step.after, PrimFunc)
        for stmt in walk(step.after.body, Stmt):
            assert stmt.span is not None or isinstance(stmt, Seq), f"{step.name}: {stmt}"


def test_the_folder_holds_what_the_toolkit_brings() -> None:
    names = {p.name for p in BUILTIN}
    assert {name.replace("_", "-") for name in NAMES} <= names
    assert len(names) == len(BUILTIN)


@pytest.mark.parametrize("p", BUILTIN, ids=lambda p: p.name)
def test_a_pass_has_a_sentence_about_itself(p: object) -> None:
    doc = getattr(p, "doc", "")
    assert doc
    assert doc.split("\n\n")[0].rstrip().endswith(".")


@pytest.mark.parametrize("name", NAMES)
def test_without_its_applications_a_pass_does_nothing(name: str) -> None:
    for each in KERNELS:
        for step in DEFAULT.steps(kernel(each)):
            if step.name == name.replace("_", "-"):
                made = apply_pass(getattr(loop, name), step.before, Recorder(frozenset(range(999))))
                assert isinstance(made, PrimFunc)
                assert verify(made) == []
                assert results(made) == results(kernel(each))
                assert same(made, step.before)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("odd", [0, 1])
def test_half_of_its_applications_leave_a_valid_program(name: str, odd: int) -> None:
    for each in ("TILED_MATMUL", "CONV_PADDED", "REUSED", "FUSED_PRODUCER"):
        expected = results(kernel(each))
        for step in DEFAULT.steps(kernel(each)):
            if step.name == name.replace("_", "-"):
                off = Recorder(frozenset(range(odd, 999, 2)))
                made = apply_pass(getattr(loop, name), step.before, off)
                assert isinstance(made, PrimFunc)
                assert verify(made) == []
                assert results(made) == expected


def test_a_loop_of_one_iteration_becomes_its_body() -> None:
    given = func("for i in serial(n, n + 1):", "    C[i] = A[i + 1]")
    assert body(loop.simplify(given)) == text("C[n] = A[n + 1]")


def test_a_loop_that_never_runs_becomes_nothing() -> None:
    given = func("for i in serial(n + 3, n):", "    C[i] = A[i]", "C[0] = A[0]")
    assert body(loop.simplify(given)) == text("C[0] = A[0]")


def test_a_condition_counts_inside_its_branches_and_not_behind_them() -> None:
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


def test_a_load_is_not_shared_across_a_store_to_its_buffer() -> None:
    given = func("C[0] = A[n] * A[n]", "A[n] = f32(0.0)", "C[1] = A[n]")
    assert body(loop.eliminate_common_subexpressions(given)) == text(
        "t: f32 = A[n]", "C[0] = t * t", "A[n] = f32(0.0)", "C[1] = A[n]"
    )


def test_a_view_is_another_name_for_the_same_memory() -> None:
    given = func(
        "with view(A, f32[64], offset=0) as V:",
        "    C[0] = A[0] * A[0]",
        "    V[0] = f32(1.0)",
        "    C[1] = A[0]",
    )
    assert "C[1] = A[0]" in body(loop.eliminate_common_subexpressions(given))


def test_what_is_computed_under_a_condition_is_not_computed_before_it() -> None:
    given = func("C[0] = (A[n] * A[n] if n < 64 else f32(0.0))")
    assert loop.eliminate_common_subexpressions(given) is given


def test_a_parallel_loop_keeps_its_own_buffer() -> None:
    given = func(
        "for i in parallel(0, 8):",
        "    T = alloc(f32[1])",
        "    if i >= 1:",
        "        C[i] = T[0]",
        "    T[0] = A[i]",
    )
    assert loop.plan_allocations(given) is given


def test_a_buffer_that_nobody_uses_is_dropped() -> None:
    recorder = Recorder()
    with recording(recorder):
        made = loop.plan_allocations(func("T = alloc(f32[4])", "C[0] = A[0]"))
    assert body(made) == text("C[0] = A[0]")
    assert [remark.text for remark in recorder.remarks] == [
        "'T' is never used: its allocation is dropped"
    ]


def test_a_buffer_is_placed_though_a_statement_stands_in_two_places() -> None:
    given = func("T = alloc(f32[4])", "T[0] = A[0]", "if A[1] > f32(0.0):", "    C[0] = T[0]")
    outer = given.body
    assert isinstance(outer, Allocate)
    assert isinstance(outer.body, Seq)
    first, branch = outer.body.stmts
    assert isinstance(branch, If)
    waits = Evaluate(BARRIER)
    inside = branch.replace(then=Seq((waits, branch.then)))
    made = loop.plan_allocations(
        given.replace(body=outer.replace(body=Seq((first, waits, inside))))
    )
    assert verify(made) == []


def test_a_buffer_is_not_moved_into_a_loop_that_reads_what_it_wrote_before() -> None:
    given = func(
        "T = alloc(f32[8])",
        "for i in serial(0, 8):",
        "    if i >= 1:",
        "        C[i] = T[i - 1]",
        "    T[i] = A[i]",
    )
    assert loop.plan_allocations(given) is given


def test_a_buffer_that_is_not_surely_written_stays_outside() -> None:
    given = func(
        "T = alloc(f32[64])",
        "for i in serial(0, 7):",
        "    for j in serial(0, 10):",
        "        if i * 8 + j < 50:",
        "            T[i * 8 + j] = A[i * 8 + j]",
        "    for j in serial(0, 8):",
        "        C[i * 8 + j] = T[i * 8 + j] + T[i * 8 + j + 1]",
    )
    assert loop.plan_allocations(given) is given


def test_a_buffer_with_symbolic_sides_keeps_them() -> None:
    given = func(
        "T = alloc(f32[n, 64])",
        "for i in serial(0, n):",
        "    for j in serial(0, 4):",
        "        T[i, j + 2] = A[j]",
        "        C[j] = T[i, j + 2]",
    )
    assert "T = alloc(f32[n, 4])" in body(loop.compact_buffers(given))


@pytest.mark.parametrize("rows", ["0", "n"])
def test_rows_with_gaps_of_which_there_are_none_take_no_memory(rows: str) -> None:
    text = f"""def f(A: f32[n], C: f32[1]):
    T = alloc(f32[{rows}, 4], strides=(8, 1))
    for i in serial(0, {rows}):
        T[i, 3] = A[i]
    C[0] = f32(1.0)
"""
    made = loop.flatten_buffers(parse(text))
    assert verify(made) == []
    for size in (0, 2):
        args = [np.ones(size, np.float32), np.zeros(1, np.float32)]
        interpret(made, *args)
        assert args[1][0] == 1.0


def test_a_buffer_of_rank_0_gets_one_element() -> None:
    made = loop.flatten_buffers(func("T = alloc(f32[()])", "T[()] = A[0]", "C[0] = T[()]"))
    assert body(made) == text("T = alloc(f32[1])", "T[0] = A[0]", "C[0] = T[0]")


def test_indices_that_might_not_fit_stay_wide() -> None:
    given = func(
        "for i in serial(0, 2):", "    for j in serial(0, n):", "        C[i * n + j] = A[i]"
    )
    made = body(loop.narrow_indices(given))
    assert "for j in serial(0, n):" in made
    assert "cast(i, i64) * n + j" in made


def test_a_loop_that_may_not_run_hoists_only_if_it_does() -> None:
    given = func(
        "for i in serial(2, n):", "    if i == 2:", "        C[0] = A[i]", "    C[i] = C[0]"
    )
    assert body(loop.hoist_first_iterations(given)) == text(
        "if 2 < n:", "    C[0] = A[2]", "for i in serial(2, n):", "    C[i] = C[0]"
    )


def test_a_parallel_loop_has_no_first_iteration() -> None:
    given = func("for i in parallel(0, 8):", "    if i == 0:", "        C[0] = A[0]")
    assert loop.hoist_first_iterations(given) is given


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


def test_unused_names_go_and_with_them_what_only_they_used() -> None:
    given = func("a: i64 = n + 1", "b: i64 = a * 2", "C[0] = A[0]")
    assert body(loop.remove_no_ops(given)) == text("C[0] = A[0]")


def test_a_masked_store_of_a_plain_load_of_itself_does_nothing() -> None:
    mask = "mask=ramp(0, 1, 8) < broadcast(n, 8)"
    given = func(f"store(C, (ramp(0, 1, 8),), C[ramp(0, 1, 8)], {mask})")
    assert body(loop.remove_no_ops(given)) == text("pass")


def test_the_result_of_every_pass_holds() -> None:
    assert LOOP_LEVEL.verify is not None
    for name in KERNELS:
        assert verify(DEFAULT.run(kernel(name))) == []
