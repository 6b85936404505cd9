"""Counts of operations and bytes, held against the interpreter, which counts what it executes."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest

from irkit.core import IRKitError
from irkit.debug import input_sets
from irkit.fuzz.generators.draw_sample import draw_case
from irkit.fuzz.generators.sample import Unusable
from irkit.fuzz.generators.seed_corpus.texts import BLOCK_PROGRAMS, EDGE_CASES, KERNELS
from irkit.fuzz.picks import picks_of
from irkit.ir import (
    F32,
    Buffer,
    Conditional,
    For,
    If,
    PrimFunc,
    Stmt,
    Store,
    Var,
    Work,
    as_expr,
    lt,
    parse,
    parse_module,
    script,
    work_of,
)
from irkit.ir.work.points import IterationPoints, Lanes
from irkit.phases import DEFAULT
from tests.depth import DEPTHS
from tests.draws import few_or_all
from tests.ir.work.counted_runs import counted


def func(text: str) -> PrimFunc:
    found = parse(text)
    assert isinstance(found, PrimFunc)
    return found


def test_a_matrix_product_is_two_operations_for_each_term() -> None:
    matmul = func(
        "def matmul(A: f32[4, 8], B: f32[8, 16], C: f32[4, 16]):\n"
        "    for i in serial(0, 4):\n"
        "        for j in serial(0, 16):\n"
        "            C[i, j] = f32(0.0)\n"
        "            for k in serial(0, 8):\n"
        "                C[i, j] = C[i, j] + A[i, k] * B[k, j]\n"
    )
    terms = 4 * 16 * 8
    moved = 4 * (4 * 8 + 8 * 16 + 4 * 16 + 4 * 16)  # C is read, and written.
    assert work_of(matmul) == Work(2 * terms, 4 * 3 * terms, 4 * (terms + 4 * 16), moved)


def test_equal_expressions_of_a_statement_are_computed_once() -> None:
    square = func(
        "def square(A: f32[5], C: f32[5]):\n"
        "    for i in serial(0, 5):\n"
        "        C[i] = (A[i] + f32(1.0)) * (A[i] + f32(1.0)) + exp(A[i] + f32(1.0))\n"
    )
    assert work_of(square) == Work(5 * 4, 20, 20, 40)


def test_only_float_operations_count() -> None:
    mixed = func(
        "def mixed(A: f16[4], B: i32[4], C: f16[4]):\n"
        "    for i in serial(0, 4):\n"
        "        C[i] = -fma(A[i * 2 // 2], f16(B[i] * i32(3)), select(B[i] < 1, A[i], -A[i]))\n"
    )
    # A[i * 2 // 2] and A[i] are two loads, B[i] is one.
    assert work_of(mixed) == Work(4 * 2, 4 * (2 + 2 + 4), 4 * 2, 4 * (2 + 4 + 2))


def test_a_load_under_a_condition_counts_where_it_happens() -> None:
    padded = func(
        "def padded(A: f32[4], C: f32[6]):\n"
        "    for i in serial(0, 6):\n"
        "        C[i] = A[i - 1] * f32(2.0) if i >= 1 and i < 5 else f32(0.0)\n"
    )
    assert work_of(padded) == Work(4, 16, 24, 40)


def test_lanes_that_a_mask_leaves_out_are_not_read_or_written() -> None:
    tail = func(
        "def tail(A: f32[10], C: f32[10]):\n"
        "    for i in serial(0, 2):\n"
        "        m: boolx8 = ramp(i * 8, 1, 8) < broadcast(10, 8)\n"
        "        store(C, (ramp(i * 8, 1, 8),), load(A, (ramp(i * 8, 1, 8),), mask=m) "
        "+ broadcast(f32(1.0), 8), mask=m)\n"
    )
    assert work_of(tail) == Work(16, 40, 40, 80)


def test_lanes_must_take_every_side_around_a_load() -> None:
    nested = func(
        "def nested(A: f32[8], C: f32[8]):\n"
        "    for i in serial(0, 2):\n"
        "        v: i64x8 = ramp(i, 1, 8)\n"
        "        zero: f32x8 = broadcast(f32(0.0), 8)\n"
        "        C[ramp(0, 1, 8)] = ((A[v] + zero if v < broadcast(4, 8) else zero) "
        "if v >= broadcast(2, 8) else zero)\n"
    )
    # Lanes 2 and 3, then 1 and 2, read A[2] and A[3], and add.
    assert work_of(nested) == Work(4, 16, 64, 16 + 32)
    args = [np.ones(8, np.float32), np.zeros(8, np.float32)]
    assert counted(nested, args) == (4, 16, 64, 16 + 32)


def test_bounds_of_inner_loops_may_depend_on_outer_ones() -> None:
    triangle = func(
        "def triangle(A: f32[5, 5], C: f32[1]):\n"
        "    for i in serial(0, 5):\n"
        "        for j in serial(i, 5):\n"
        "            C[0] = C[0] + A[i, j]\n"
    )
    assert work_of(triangle) == Work(15, 15 * 8, 15 * 4, 15 * 4 + 4 + 4)


def test_memory_of_the_function_itself_is_not_moved() -> None:
    through = func(
        "def through(A: f32[4], C: f32[4]):\n"
        "    T = alloc(f32[4])\n"
        "    for i in serial(0, 4):\n"
        "        T[i] = A[i]\n"
        "    for i in serial(0, 4):\n"
        "        C[i] = T[3 - i]\n"
    )
    assert work_of(through) == Work(0, 32, 32, 32)


def test_a_condition_on_data_gives_the_most_it_can_be() -> None:
    some = func(
        "def some(A: f32[4], C: f32[4]):\n"
        "    for i in serial(0, 4):\n"
        "        if A[i] > f32(0.0):\n"
        "            C[i] = A[i] + f32(1.0)\n"
    )
    assert work_of(some) == Work(4, 32, 16, 32, exact=False)


@pytest.mark.parametrize(
    "text",
    [
        "def f(A: f32[n]):\n    for i in serial(0, n):\n        A[i] = f32(0.0)\n",
        "def f(A: f32[9], B: i64[1]):\n    for i in serial(0, B[0]):\n        A[i] = f32(0.0)\n",
        "def f(A: f32[9]):\n    for i in serial(0, 100000000):\n        if i % 7 == 3:\n"
        "            A[0] = f32(0.0)\n",
    ],
)
def test_what_cannot_be_counted_is_none(text: str) -> None:
    assert work_of(func(text)) is None


def test_loops_that_decide_nothing_may_be_of_any_length() -> None:
    long = func(
        "def long(A: f32[9]):\n    for i in serial(0, 1000000000):\n"
        "        for j in serial(0, 4000000000):\n            A[0] = A[0] + f32(1.0)\n"
    )
    found = work_of(long)
    assert found is not None
    assert found.flops == 4 * 10**18
    assert found.loaded == 16 * 10**18


def test_many_points_are_counted_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    text = KERNELS["CONV_PADDED"]
    whole = work_of(func(text))
    monkeypatch.setattr("irkit.ir.work.points.CHUNK", 7)
    assert work_of(func(text)) == whole


def corpus() -> Iterator[tuple[PrimFunc, list[Any]]]:
    """Yield functions at all stages of lowering, with arguments."""
    for text in {**KERNELS, **EDGE_CASES, **BLOCK_PROGRAMS}.values():
        for each in parse_module(text).functions.values():
            if isinstance(each, PrimFunc):
                for stage in stages(each):
                    yield stage, input_sets(stage, samples=1)[0].copied()


def drawn(count: int) -> Iterator[tuple[PrimFunc, list[Any]]]:
    """Yield random programs, as drawn and lowered, with arguments."""
    for number in range(count):
        try:
            sample = draw_case("pipelines" if number % 2 else "programs", picks_of(number))
        except Unusable:
            continue
        if isinstance(sample.ir, PrimFunc) and not sample.may_lack_memory:
            for stage in dict.fromkeys((sample.ir, stages(sample.ir)[-1])):
                yield stage, sample.inputs[0].copied()


def stages(of: PrimFunc) -> list[PrimFunc]:
    """Return a function after each pass that changes it."""
    found = [of]
    try:
        steps = DEFAULT.steps(of)
        found += [s.after for s in steps if s.changed and isinstance(s.after, PrimFunc)]
    except IRKitError:
        pass  # Programs that cannot be lowered are in the corpus too.
    return found


def compared(functions: Iterator[tuple[PrimFunc, list[Any]]]) -> Iterator[tuple[Work, str]]:
    """Yield the counts of functions, each with what is wrong, or an empty text."""
    for each, args in functions:
        work = work_of(each)
        try:
            found = None if work is None else counted(each, args)
        except IRKitError:
            continue  # Some programs stop with an error on purpose.
        if work is None or found is None:
            continue
        claimed = work.flops, work.loaded, work.stored, work.moved
        right = claimed == found if work.exact else bool(np.all(np.array(claimed) >= found))
        yield work, "" if right else f"{claimed}, found {found}:\n{script(each)}"


def exact_counts(functions: Iterator[tuple[PrimFunc, list[Any]]]) -> int:
    """Return how many functions have exact counts, after comparing all."""
    exact = 0
    for work, wrong in compared(functions):
        assert not wrong, wrong
        exact += work.exact
    return exact


def test_counts_are_what_the_interpreter_executes() -> None:
    every = few_or_all(3, 1)
    assert exact_counts(islice(corpus(), 0, None, every)) > 200 // every


def test_counts_of_random_programs_are_what_the_interpreter_executes() -> None:
    assert exact_counts(drawn(60)) > 80


@pytest.mark.long
def test_counts_of_many_random_programs_are_what_the_interpreter_executes() -> None:
    assert exact_counts(drawn(300)) > 400


def test_text_that_is_read_back_has_the_same_counts() -> None:
    for each, _ in islice(corpus(), 0, None, few_or_all(3, 1)):
        assert work_of(func(script(each))) == work_of(each)


def all_lanes(points: IterationPoints, mask: Lanes, lanes: int) -> int:
    return points.total * lanes


def everywhere(points: IterationPoints, mask: Lanes) -> IterationPoints:
    return points


def once(points: IterationPoints, counts: Lanes) -> IterationPoints:
    return points


@pytest.mark.parametrize(
    ("method", "wrong"), [("active", all_lanes), ("where", everywhere), ("repeated", once)]
)
def test_a_wrong_count_is_found(monkeypatch: pytest.MonkeyPatch, method: str, wrong: Any) -> None:
    monkeypatch.setattr(IterationPoints, method, wrong)
    assert any(message for _, message in compared(corpus()))


@pytest.mark.parametrize("depth", DEPTHS)
def test_deep_programs_are_counted(depth: int) -> None:
    buffer = Buffer("A", (as_expr(4),), F32)
    i = Var("i")
    value = buffer[i]
    for _ in range(depth):
        value = Conditional(lt(i, 2), value * 2.0, buffer[i], F32)
    body: Stmt = Store(buffer, (i,), value)
    for _ in range(depth):
        body = If(lt(i, 3), body)
    loop = For(i, as_expr(0), as_expr(4), body)
    found = work_of(PrimFunc("deep", (buffer,), loop))
    assert found == Work(2 * depth, 12, 12, 24)
