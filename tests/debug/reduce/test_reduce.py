"""Reductions become small, keep the failure, and are written as tests that fail and pass."""

import runpy
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from irkit.core import IRKitError, any_node, count_nodes
from irkit.debug import (
    FailingCase,
    Failure,
    ReduceResult,
    failure_of,
    find_case,
    reduce,
    regression_test,
    size_of_case,
    write_case,
)
from irkit.debug.check.well_defined import is_well_defined
from irkit.fuzz.generators.loops.loop_functions import prim_funcs
from irkit.ir import F32, LOOP_LEVEL, For, Mul, PrimFunc, const, parse, script
from irkit.passes import BUILTIN
from irkit.phases import DEFAULT
from irkit.transform import AnyPass, Phase, Pipeline, Registry, define_pass
from tests.debug.reduce import wrong_passes
from tests.draws import few_or_all, sampled
from tests.passes.loop.kernels import kernel

# The pass, its phase, the kernel, and how it fails.
PLANTED: list[tuple[AnyPass, int, str, str]] = [
    (wrong_passes.lose_iteration, 2, "TILED_MATMUL", "differs"),
    (wrong_passes.subtract, 0, "MATMUL", "differs"),
    (wrong_passes.swap_indices, 0, "SYMBOLIC_MATMUL", "out of bounds"),
    (wrong_passes.lose_predicate, 0, "TILED_MATMUL", "failed"),
    (wrong_passes.lose_start, 0, "SOFTMAX", "differs"),
    (wrong_passes.lose_branch, 0, "BRANCHES", "out of bounds"),
    (wrong_passes.lose_last, 0, "REUSED", "differs"),
    (wrong_passes.one_too_far, 1, "MATMUL", "out of bounds"),
    (wrong_passes.leave_undefined, 1, "CONV_PADDED", "problems"),
    (wrong_passes.bind_twice, 0, "MAX_POOL", "problems"),
    (wrong_passes.raise_at_products, 3, "TILED_MATMUL", "exception"),
    (wrong_passes.change_signature, 1, "FUSED_PRODUCER", "signature"),
]
KNOWN = Registry(BUILTIN)


def found(p: AnyPass, phase: int, func: PrimFunc, **how: Any) -> tuple[FailingCase, Failure]:
    result = find_case(DEFAULT.insert(p, phase=phase), func, **how)
    assert result is not None
    return result


def reduced(p: AnyPass, phase: int, func: PrimFunc, **how: Any) -> tuple[ReduceResult, Failure]:
    case, failure = found(p, phase, func)
    return reduce(case, failure, **how), failure


def written_tests(path: Path) -> list[Callable[[], None]]:
    return [each for name, each in runpy.run_path(str(path)).items() if name.startswith("test_")]


@pytest.mark.parametrize(
    ("p", "phase", "name", "kind"),
    sampled(PLANTED, every=2, first=1),
    ids=[str(each[0]) for each in PLANTED],
)
def test_a_seeded_bug_is_reduced_to_a_few_lines_and_a_test(
    p: AnyPass, phase: int, name: str, kind: str, tmp_path: Path
) -> None:
    started = time.process_time()
    case, failure = found(p, phase, kernel(name))
    assert (failure.kind, failure.name) == (kind, p.name)
    small = reduce(case, failure, seconds=60)
    assert small.finished
    assert small.after.passes == 1
    assert small.after.lines <= 8
    assert small.after.nodes <= 25
    assert small.after.elements <= 8
    assert failure.is_like(failure_of(small.case))
    assert is_well_defined(small.case.func, small.case.args)
    (test,) = written_tests(write_case(tmp_path, small.case.reread(), failure, KNOWN))
    with pytest.raises(AssertionError, match=p.name):
        test()
    with wrong_passes.mended():
        test()
    assert time.process_time() - started < 20


def test_a_bug_in_a_built_in_pass_is_reduced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    vectorize = import_module("irkit.passes.loop.loops.vectorize_loops")
    with monkeypatch.context() as patch:
        patch.setattr(vectorize, "lane_conflict", lambda *_: None)
        result = find_case(DEFAULT, kernel("SHIFTED"))
        assert result is not None
        small = reduce(*result)
        assert small.case.pipeline.names == ("vectorize-loops",)
        assert small.after.lines <= 6
        path = write_case(tmp_path, small.case, result[1], KNOWN)
        assert (tmp_path / "pipeline.txt").read_text() == "2:vectorize-loops\n"
        with pytest.raises(AssertionError, match="vectorize-loops"):
            written_tests(path)[0]()
    written_tests(path)[0]()


def test_a_case_that_does_not_fail_is_rejected() -> None:
    func = kernel("MATMUL")
    assert find_case(DEFAULT, func) is None
    case, failure = found(wrong_passes.subtract, 0, func)
    with (
        wrong_passes.mended(),
        pytest.raises(IRKitError, match="cannot reduce 'matmul': it does not fail"),
    ):
        reduce(case, failure)


def test_a_case_that_cannot_run_before_any_pass_is_rejected() -> None:
    func = parse("def f(A: f32[2]):\n    A[2] = f32(1.0)\n")
    pipeline = DEFAULT.insert(wrong_passes.leave_undefined, phase=0)
    with pytest.raises(IRKitError, match="cannot reduce 'f': it fails even before"):
        find_case(pipeline, func)
    case = FailingCase(func, pipeline, {"A": np.zeros(2, np.float32)})
    with pytest.raises(IRKitError, match="it cannot run even before any pass"):
        reduce(case, lambda _: True)


def test_any_predicate_about_a_case_can_be_kept() -> None:
    case, _ = found(wrong_passes.lose_iteration, 0, kernel("CONV_PADDED"))

    def has_product_in_loops(case: FailingCase) -> bool:
        return any_node(case.func, For, lambda loop: any_node(loop, Mul))

    small = reduce(case, has_product_in_loops).case
    assert has_product_in_loops(small)
    assert count_nodes(small.func) <= 12


def test_memory_of_a_scope_that_does_not_matter_becomes_global() -> None:
    func = parse(
        "def f(C: f32[4]):\n"
        '    T = alloc(f32[4], scope="shared")\n'
        "    T[0] = f32(0.0)\n"
        "    C[0] = T[0]\n"
    )
    case = FailingCase(func, DEFAULT, {"C": np.zeros(4, np.float32)})
    small = reduce(case, lambda case: "alloc" in script(case.func)).case
    assert "shared" not in script(small.func)


def test_the_same_call_tries_the_same_candidates() -> None:
    case, failure = found(wrong_passes.subtract, 2, kernel("REUSED"))
    first, second = reduce(case, failure), reduce(case, failure)
    assert script(first.case.func) == script(second.case.func)
    assert first.candidates == second.candidates


def test_a_candidate_never_reads_uninitialised_memory() -> None:
    @define_pass
    def fill(func: PrimFunc) -> PrimFunc:
        """Assume that the first store exists: true unless a program reads uninitialised memory."""
        return wrong_passes.lose_last(func)

    func = parse(
        "def f(A: f32[4], C: f32[4]):\n"
        "    T = alloc(f32[4])\n"
        "    for i in serial(0, 4):\n        T[i] = A[i]\n"
        "    for j in parallel(0, 4):\n        C[j] = T[j]\n"
    )
    seen = list[FailingCase]()

    def fails(case: FailingCase) -> bool:
        seen.append(case)
        return True

    case, _ = found(fill, 0, func)
    reduce(case, fails, candidates=300)
    for each in seen:
        assert is_well_defined(each.func, each.args)


def test_options_that_do_not_matter_go_back_to_their_defaults() -> None:
    small, _ = reduced(wrong_passes.scale.using(factor=3, twice=True), 0, kernel("MATMUL"))
    assert small.case.pipeline.text(KNOWN) == "0:tests.debug.reduce.wrong_passes:scale{factor=3}"


def test_the_search_ends_at_its_limits() -> None:
    case, failure = found(wrong_passes.subtract, 0, kernel("TILED_MATMUL"))
    started = time.process_time()
    late = reduce(case, failure, seconds=0.05)
    assert time.process_time() - started < 1
    assert not late.finished
    few = reduce(case, failure, candidates=3)
    assert (few.candidates, few.finished) == (3, False)


def test_endless_loops_end_the_candidate_early() -> None:
    case, failure = found(wrong_passes.never_end, 0, kernel("MATMUL"), samples=1, max_steps=20_000)
    assert failure.kind == "failed"
    small = reduce(case, failure, seconds=60)
    assert small.finished
    assert small.after.lines <= 3


def test_progress_is_reported() -> None:
    case, failure = found(wrong_passes.subtract, 0, kernel("MATMUL"))
    told = list[tuple[str, int]]()
    reduce(case, failure, progress=lambda family, count, _: told.append((family, count)))
    assert told[0][0] == "passes"
    assert [count for _, count in told] == sorted(count for _, count in told)


def test_a_pass_defined_in_a_function_cannot_be_in_a_test() -> None:
    @define_pass
    def local(func: PrimFunc) -> PrimFunc:
        """Break the program."""
        return wrong_passes.subtract(func)

    small, failure = reduced(local, 0, kernel("MATMUL"))
    with pytest.raises(IRKitError, match="defined inside a function"):
        regression_test(small.case, failure, KNOWN)


def test_a_case_too_long_to_interpret_is_shortened_first() -> None:
    func = parse(script(kernel("MATMUL")).replace("6", "128").replace("5", "128"))
    pipeline = DEFAULT.insert(wrong_passes.raise_at_products, phase=1)
    inputs = {p.name: np.ones([128, 128 if p.name == "A" else 8], np.float32) for p in func.params}
    inputs["B"] = np.ones((128, 8), np.float32)
    case = FailingCase(func, pipeline, inputs)
    small = reduce(case, Failure("exception", "raise-at-products", "KeyError"), seconds=60)
    assert small.after.lines <= 3


def test_a_program_10000_deep_is_reduced_without_recursion() -> None:
    func = parse("def f(A: f32[1], C: f32[1]):\n    C[0] = A[0]\n")
    value = const(1.0, F32)
    for _ in range(10_000):
        value = value + 1
    func = func.replace(body=func.body.replace(value=value))
    pipeline = Pipeline(LOOP_LEVEL, (Phase(0, "only", (wrong_passes.change_signature,)),))
    inputs = {"A": np.ones(1, np.float32), "C": np.ones(1, np.float32)}
    failure = Failure("signature", "change-signature")
    small = reduce(FailingCase(func, pipeline, inputs), failure, seconds=60)
    assert small.after.nodes < 10


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f64", "i8", "u64", "bool"])
def test_inputs_of_every_type_are_in_the_test_bit_by_bit(dtype: str, tmp_path: Path) -> None:
    func = parse(f"def f(n: i32, A: {dtype}[2, 2], C: {dtype}[2, 2]):\n    C[0, 1] = A[1, 0]\n")
    case, failure = found(wrong_passes.swap_indices, 0, func)
    path = write_case(tmp_path, case, failure, KNOWN)
    inputs = runpy.run_path(str(path))["INPUTS"]
    for name, value in case.inputs.items():
        assert np.asarray(value).tobytes() == inputs[name].astype(np.asarray(value).dtype).tobytes()


def test_large_inputs_are_in_a_file(tmp_path: Path) -> None:
    func = parse("def f(A: f32[80, 80], C: f32[1]):\n    C[0] = A[70, 5]\n")
    case, failure = found(wrong_passes.swap_indices, 0, func)
    (test,) = written_tests(write_case(tmp_path, case, failure, KNOWN))
    with pytest.raises(AssertionError):
        test()


@given(prim_funcs())
@settings(max_examples=few_or_all(5, 50), deadline=None, suppress_health_check=list(HealthCheck))
def test_a_random_program_fails_in_the_same_way_when_reduced(func: PrimFunc) -> None:
    result = find_case(DEFAULT.insert(wrong_passes.lose_last, phase=0), func, samples=2)
    if result is None:
        return
    case, failure = result
    small = reduce(case, failure, seconds=60)
    assert failure.is_like(failure_of(small.case))
    assert small.after.nodes <= size_of_case(case).nodes
