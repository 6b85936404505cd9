"""Contracts that every pass over loops keeps."""

from collections.abc import Sequence
from functools import cache

import pytest

from irkit.core import Recorder, same, walk
from irkit.ir import LOOP_LEVEL, PrimFunc, Seq, Stmt, script, verify
from irkit.passes import BUILTIN, loop
from irkit.phases import DEFAULT
from irkit.transform import Pass, Step, apply_pass
from tests.passes.loop.kernels import KERNELS, kernel, results
from tests.passes.loop.programs import func

NAMES = sorted(name for name, found in vars(loop).items() if isinstance(found, Pass))
ALONE = {
    "canonicalize_loops": ("for i in serial(0, n):", "    C[i] = A[i]"),
    "convert_for_loops_to_serial": ("for i in unrolled(0, 8):", "    C[i] = A[i]"),
    "convert_ssa": ("for i in serial(0, 8):", "    C[i] = A[i]"),
    "hoist_if_then_else": ("for i in serial(0, n):", "    if i < 7:", "        C[i] = A[i]"),
    "compact_buffers": ("T = alloc(f32[n])", "for i in serial(0, n):", "    T[i] = A[i]"),
    "eliminate_common_subexpressions": ("C[n] = A[n] + f32(1.0)", "C[0] = A[0]"),
    "flatten_buffers": ("for i in serial(0, 8):", "    C[i] = A[i]"),
    "widen_floats": ("for i in serial(0, 8):", "    C[i] = max(-A[i], C[i])"),
    "widen_shifts": ("for i in serial(0, 8):", "    C[i] = f32(u32(7) >> cast(i, u32))"),
    "expand_conversions": ("for i in serial(0, 8):", "    C[i] = f32(cast(i, f64))"),
    "narrow_addresses": ("for i in serial(i32(0), i32(8)):", "    C[i] = A[i]"),
    "split_vectors": ("C[ramp(0, 1, 4)] = A[ramp(4, 1, 4)]",),
    "expand_functions": ("for i in serial(0, 8):", "    C[i] = abs(A[i]) + sqrt(A[i])"),
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
    "auto_schedule": ("for i in serial(0, 8):", "    C[i] = A[i]"),
    "time_loops": ("for i in serial(0, 8):", "    C[i] = A[i]"),
    "unroll_loops": ("for i in parallel(0, 2):", "    C[i] = A[i]"),
    "vectorize_loops": ("for i in serial(0, 16):", "    C[i] = A[i]"),
}


@cache
def steps_of(name: str) -> Sequence[Step]:
    return tuple(DEFAULT.steps(kernel(name)))


@cache
def results_of(name: str) -> list[bytes]:
    return results(kernel(name))


@pytest.mark.parametrize("name", NAMES)
def test_a_pass_leaves_unrelated_programs_alone(name: str) -> None:
    given = func(*ALONE[name])
    assert getattr(loop, name)(given) is given


@pytest.mark.parametrize("name", NAMES)
def test_a_pass_run_twice_does_nothing_the_second_time(name: str) -> None:
    steps = [step for each in KERNELS for step in steps_of(each)]
    p = getattr(loop, name)
    for step in steps:
        if step.name == p.name:
            again = p(step.after)
            assert again is step.after or same(again, step.after), script(step.after)


@pytest.mark.parametrize("name", KERNELS)
def test_every_statement_still_says_where_it_came_from(name: str) -> None:
    for step in steps_of(name):
        assert isinstance(step.after, PrimFunc)
        for stmt in walk(step.after.body, Stmt):
            assert stmt.span is not None or isinstance(stmt, Seq), f"{step.name}: {stmt}"


def test_the_folder_holds_the_builtin_passes() -> None:
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
        for step in steps_of(each):
            if step.name == name.replace("_", "-"):
                made = apply_pass(getattr(loop, name), step.before, Recorder(frozenset(range(999))))
                assert same(made, step.before)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("odd", [0, 1])
def test_half_of_its_applications_leave_a_valid_program(name: str, odd: int) -> None:
    for each in ("TILED_MATMUL", "CONV_PADDED", "REUSED", "FUSED_PRODUCER"):
        for step in steps_of(each):
            if step.name == name.replace("_", "-"):
                off = Recorder(frozenset(range(odd, 999, 2)))
                made = apply_pass(getattr(loop, name), step.before, off)
                assert isinstance(made, PrimFunc)
                assert verify(made) == []
                assert results(made) == results_of(each)


def test_the_result_of_every_pass_holds() -> None:
    assert LOOP_LEVEL.verify is not None
    for name in KERNELS:
        assert verify(DEFAULT.run(kernel(name))) == []
