"""Products of drawn shapes keep their results: ragged, transposed, batched, with an epilogue."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import irkit
from irkit import te, topi
from irkit.autoschedule import Machine, auto_schedule
from irkit.autoschedule.products.plan import Dots, plan_of, plans_of
from irkit.autoschedule.products.recognise import product_of
from irkit.autoschedule.products.schedule_product import apply_plan
from irkit.core import Recorder, ScheduleError, children, recording, walk
from irkit.ir import (
    Block,
    Buffer,
    Conditional,
    Expr,
    For,
    If,
    Load,
    PrimFunc,
    Stmt,
    Store,
    Var,
    as_int,
    numpy_dtype,
    trip_count,
)
from irkit.runtime import set_num_threads
from irkit.schedule import Schedule
from tests.draws import few_or_all, sampled

GENERIC = Machine()


def product(
    rows: int,
    columns: int,
    steps: int,
    *,
    transposed: tuple[bool, bool] = (False, False),
    batch: int = 0,
    dtype: str = "float32",
    result: str = "",
    epilogue: str = "",
) -> PrimFunc:
    """Return C = A B, with A and B transposed or batched, and a bias and relu, or a residual."""
    head = (batch,) if batch else ()
    first = (steps, rows) if transposed[0] else (rows, steps)
    second = (columns, steps) if transposed[1] else (steps, columns)
    a = te.placeholder((*head, *first), name="A", dtype=dtype)
    b = te.placeholder((*head, *second), name="B", dtype=dtype)
    k = te.reduce_axis((0, steps), name="k")
    kind = result or dtype

    def cell(*at: Var) -> Expr:
        *front, i, j = at
        x = a[(*front, k, i) if transposed[0] else (*front, i, k)]
        y = b[(*front, j, k) if transposed[1] else (*front, k, j)]
        if kind != dtype:
            x, y = x.astype(kind), y.astype(kind)
        return te.sum(x * y, axis=k)

    c = te.compute((*head, rows, columns), cell, name="C")
    if not epilogue:
        return te.create_prim_func([a, b, c])
    if epilogue == "bias":
        bias = te.placeholder((columns,), name="bias", dtype=kind)

        def biased(*at: Var) -> Expr:
            return te.maximum(c[at] + bias[at[-1]], te.const(0, kind))

        d = te.compute(c.shape, biased, name="D")
        return te.create_prim_func([a, b, bias, d])
    other = te.placeholder(c.shape, name="R", dtype=kind)

    def added(*at: Var) -> Expr:
        return c[at] + other[at]

    d = te.compute(c.shape, added, name="D")
    return te.create_prim_func([a, b, other, d])


def arrays_of(func: PrimFunc) -> list[Any]:
    rng = np.random.default_rng(1)
    made: list[Any] = []
    for buffer in func.params:
        assert isinstance(buffer, Buffer)
        shape = tuple(as_int(dim) or 0 for dim in buffer.shape)
        made.append(rng.integers(-4, 5, shape).astype(numpy_dtype(buffer.dtype)))
    made[-1][...] = 77
    return made


def check(func: PrimFunc, machine: Machine = GENERIC) -> None:
    """Compare the scheduled function with the loops as written."""
    agree(auto_schedule(func, machine), func)


def agree(scheduled: PrimFunc, func: PrimFunc) -> None:
    """Compare two forms of a function, exactly: on small integers."""
    ours, theirs = arrays_of(func), arrays_of(func)
    irkit.build(scheduled)(*ours)
    irkit.build(func, schedule="none")(*theirs)
    np.testing.assert_array_equal(ours[-1], theirs[-1])


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    sizes=st.tuples(st.integers(1, 70), st.integers(1, 70), st.integers(1, 70)),
    transposed=st.tuples(st.booleans(), st.booleans()),
    batch=st.sampled_from([0, 0, 1, 3]),
    types=st.sampled_from(
        [("float32", ""), ("float64", ""), ("int32", ""), ("int8", "int32"), ("float16", "float32")]
    ),
    epilogue=st.sampled_from(["", "bias", "residual"]),
    vector=st.sampled_from([16, 32, 64]),
)
def test_products_of_any_shape_are_exact(
    sizes: tuple[int, int, int],
    transposed: tuple[bool, bool],
    batch: int,
    types: tuple[str, str],
    epilogue: str,
    vector: int,
) -> None:
    func = product(
        *sizes,
        transposed=transposed,
        batch=batch,
        dtype=types[0],
        result=types[1],
        epilogue=epilogue,
    )
    check(func, Machine.with_vectors(vector))


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    sizes=st.tuples(st.integers(1, 70), st.integers(1, 70), st.integers(1, 70)),
    transposed=st.tuples(st.booleans(), st.booleans()),
    batch=st.sampled_from([0, 2]),
    epilogue=st.sampled_from(["", "bias"]),
    vector=st.sampled_from([16, 32, 64]),
    at=st.floats(0, 1, exclude_max=True),
)
def test_every_plan_is_exact_and_legal(
    sizes: tuple[int, int, int],
    transposed: tuple[bool, bool],
    batch: int,
    epilogue: str,
    vector: int,
    at: float,
) -> None:
    func = product(*sizes, transposed=transposed, batch=batch, epilogue=epilogue)
    block = next(walk(func, on=Block))
    found = product_of(block, {})
    if found is None:
        assert sizes[0] == sizes[1] == 1
        return
    plans = plans_of(found, Machine.with_vectors(vector))
    sch = Schedule(func)
    apply_plan(sch, *plans[int(at * len(plans))])
    agree(sch.func, func)


@pytest.mark.parametrize(
    ("sizes", "transposed"),
    sampled(
        itertools.product(
            [(197, 131, 67), (131, 197, 131), (64, 256, 64), (257, 100, 33)],
            [(False, False), (False, True), (True, True)],
        ),
        every=4,
    ),
)
def test_large_ragged_products_are_exact_on_threads(
    sizes: tuple[int, int, int], transposed: tuple[bool, bool]
) -> None:
    set_num_threads(2)
    check(product(*sizes, transposed=transposed, epilogue="bias"))


def test_prime_rows_do_not_shrink_the_tile() -> None:
    func = product(197, 768, 768)
    found = product_of(next(walk(func, on=Block)), {})
    assert found is not None
    choice = plan_of(found, GENERIC)
    assert choice is not None
    assert choice[1].rows >= 6


@pytest.mark.parametrize("transposed", [(False, False), (False, True), (True, True)])
@pytest.mark.parametrize("sizes", [(387, 184, 132), (41, 321, 74), (847, 17, 60)])
def test_whole_tiles_have_neither_masks_nor_tests(
    sizes: tuple[int, int, int], transposed: tuple[bool, bool]
) -> None:
    """A mask would take one of sixteen registers, and stores with one are slow."""
    made = auto_schedule(product(*sizes, transposed=transposed), Machine.with_vectors(32))
    loops = list(_loops_over_steps(irkit.lower(made).body, sizes[2], 1))
    often = max(times for times, _ in loops)
    plain = [loop for times, loop in loops if times == often and not _is_guarded(loop)]
    assert plain


def _loops_over_steps(stmt: Stmt, steps: int, times: int) -> Iterator[tuple[int, For]]:
    """Yield the loops that add to sums, each with the number of times that it runs."""
    if isinstance(stmt, For) and as_int(stmt.end) == steps and _adds(stmt):
        yield times, stmt
        return
    inner = times * (trip_count(stmt) or 1) if isinstance(stmt, For) else times
    for below in children(stmt):
        if isinstance(below, Stmt):
            yield from _loops_over_steps(below, steps, inner)


def _adds(loop: For) -> bool:
    return any(store.buffer.scope == "local" for store in walk(loop, on=Store))


def _is_guarded(loop: For) -> bool:
    masks = [access.mask for access in (*walk(loop, on=Load), *walk(loop, on=Store))]
    return any(mask is not None for mask in masks) or any(walk(loop, on=(If, Conditional)))


def times_itself(rows: int, steps: int, *, turned: bool, square: bool = False) -> PrimFunc:
    """Return the product of a matrix and its transpose, or of a square one and itself."""
    a = te.placeholder((steps, rows) if turned else (rows, steps), name="A")
    k = te.reduce_axis((0, steps), name="k")

    def cell(i: Var, j: Var) -> Expr:
        if square:
            return te.sum(a[i, k] * a[k, j], axis=k)
        return te.sum(a[k, i] * a[k, j] if turned else a[i, k] * a[j, k], axis=k)

    return te.create_prim_func([a, te.compute((rows, rows), cell, name="C")])


@settings(max_examples=few_or_all(5, 10), deadline=None, derandomize=True)
@given(
    rows=st.one_of(st.integers(1, 70), st.sampled_from([32, 64, 84])),
    steps=st.integers(1, 70),
    kind=st.sampled_from(["turned", "plain", "square"]),
    at=st.floats(0, 1, exclude_max=True),
    vector=st.sampled_from([16, 32, 64]),
)
def test_a_matrix_times_itself_is_exact(
    rows: int, steps: int, kind: str, at: float, vector: int
) -> None:
    square = kind == "square"
    func = times_itself(rows, rows if square else steps, turned=kind == "turned", square=square)
    machine = Machine.with_vectors(vector)
    check(func, machine)
    found = product_of(next(walk(func, on=Block)), {})
    plans = [] if found is None else plans_of(found, machine)
    if not plans:
        return
    sch = Schedule(func)
    try:
        apply_plan(sch, *plans[int(at * len(plans))])
    except ScheduleError:
        return
    ours, theirs = arrays_of(func), arrays_of(func)
    irkit.build(sch.func)(*ours)
    irkit.build(func, schedule="none")(*theirs)
    np.testing.assert_array_equal(ours[-1], theirs[-1])


@pytest.mark.parametrize("sizes", [(220, 242), (500, 500), (101, 67)])
@pytest.mark.parametrize("turned", [False, True])
def test_a_ragged_matrix_times_its_transpose_is_blocked(
    sizes: tuple[int, int], turned: bool
) -> None:
    func = times_itself(*sizes, turned=turned)
    with recording(Recorder()) as recorder:
        auto_schedule(func)
    assert not [each for each in recorder.remarks if "does not apply" in each.text]


def test_dot_products_of_a_last_partial_tile_read_nothing_beyond_the_rows() -> None:
    """A masked load beyond the end of memory is slow even where its mask is false."""
    func = times_itself(220, 64, turned=False)
    found = product_of(next(walk(func, on=Block)), {})
    machine = Machine.with_vectors(32)
    choice = None if found is None else plan_of(found, machine)
    assert choice is not None
    assert isinstance(choice[1], Dots)
    assert 220 % choice[1].rows
    lowered = irkit.lower(auto_schedule(func, machine))
    assert all(load.mask is None for load in walk(lowered, on=Load))


def test_packing_is_bounded() -> None:
    """A packed panel is a part of an operand, not a copy of it."""
    func = product(1024, 1024, 1024)
    made = auto_schedule(func)
    copies = [block for block in walk(made, on=Block) if block.name.endswith("_B")]
    assert len(copies) == 1
    loops = [loop for loop in walk(made, on=For) if copies[0] in list(walk(loop, on=Block))]
    assert len(loops) > 2


def test_the_epilogue_stays_on_the_tile() -> None:
    """The bias is added where a tile is stored, and no pass over the result follows."""
    made = auto_schedule(product(100, 100, 100, epilogue="bias"))
    readers = [
        block
        for block in walk(made, on=Block)
        if any(load.buffer.name == "bias" for load in walk(block, on=Load))
    ]
    inside = [
        loop
        for loop in walk(made, on=For)
        if {"C", readers[0].name} <= {block.name for block in walk(loop, on=Block)}
    ]
    assert len(readers) == 1
    assert len(inside) == 2


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("rows", [1, 3, 17])
def test_a_batch_beside_one_operand_may_have_one_column(rows: int, columns: int) -> None:
    a, b = te.placeholder((rows, 6), name="A"), te.placeholder((2, 6, columns), name="B")
    func = te.create_prim_func([a, b, topi.matmul(a, b)])
    rng = np.random.default_rng(0)
    x, y = rng.integers(-9, 9, (rows, 6)), rng.integers(-9, 9, (2, 6, columns))
    found = np.zeros((2, rows, columns), np.float32)
    irkit.build(auto_schedule(func, GENERIC))(x.astype("f4"), y.astype("f4"), found)
    np.testing.assert_array_equal(found, x @ y)
