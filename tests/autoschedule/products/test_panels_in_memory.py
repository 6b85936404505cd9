"""Products with a matrix that lies in panels: any shape, any plan, exact on small integers."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import irkit
from irkit import te, topi
from irkit.autoschedule import Machine, auto_schedule, panel_width
from irkit.autoschedule.products.plan import Panels, plan_of, plans_of
from irkit.autoschedule.products.recognise import product_of
from irkit.autoschedule.products.schedule_product import apply_plan
from irkit.core import walk
from irkit.graph import in_panels, out_of_panels
from irkit.ir import F32, Block, Expr, PrimFunc, script
from irkit.runtime import set_num_threads
from irkit.schedule import Schedule
from tests.autoschedule.products.test_products import agree
from tests.draws import few_or_all


def panels(rows: int | Expr, columns: int, steps: int, width: int, *, bias: bool) -> PrimFunc:
    """Return the product of rows by panels of some columns, with a bias and relu or without."""
    a = te.placeholder((rows, steps), name="A", dtype="float32")
    b = te.placeholder((-(-columns // width), steps, width), name="B", dtype="float32")
    made = topi.matmul_panels(a, b, columns=columns)
    given = [a, b]
    if bias:
        given.append(te.placeholder((columns,), name="bias", dtype="float32"))
        made = topi.relu(topi.add(made, given[-1]))
    sizes = [] if isinstance(rows, int) else [rows]
    return te.create_prim_func([*sizes, *given, made], name="panels")


@settings(max_examples=few_or_all(10, 120), deadline=None)
@given(
    sizes=st.tuples(st.integers(1, 70), st.integers(1, 140), st.integers(1, 150)),
    width=st.integers(1, 6),
    bias=st.booleans(),
    vector=st.sampled_from([16, 32, 64]),
    at=st.floats(0, 1, exclude_max=True),
)
def test_every_plan_is_exact_and_legal(
    sizes: tuple[int, int, int], width: int, bias: bool, vector: int, at: float
) -> None:
    func = panels(*sizes, width * vector // 4, bias=bias)
    found = product_of(next(walk(func, on=Block)), {})
    machine = Machine.with_vectors(vector)
    plans = [] if found is None else plans_of(found, machine)
    if plans:
        sch = Schedule(func)
        apply_plan(sch, *plans[int(at * len(plans))])
        agree(sch.func, func)
    agree(auto_schedule(func, machine), func)


@settings(max_examples=few_or_all(3, 30), deadline=None)
@given(
    rows=st.lists(st.integers(1, 70), min_size=2, max_size=6),
    sizes=st.tuples(st.integers(1, 140), st.integers(1, 150)),
    width=st.integers(1, 6),
    vector=st.sampled_from([16, 64]),
)
def test_any_number_of_rows_is_exact(
    rows: list[int], sizes: tuple[int, int], width: int, vector: int
) -> None:
    n = te.var("n")
    func = panels(n, *sizes, width * vector // 4, bias=True)
    kernel = irkit.build(auto_schedule(func, Machine.with_vectors(vector)))
    rng = np.random.default_rng(0)
    b = rng.integers(-8, 8, (-(-sizes[0] // (width * vector // 4)), sizes[1], width * vector // 4))
    b, bias = b.astype(np.float32), rng.integers(-8, 8, sizes[0]).astype(np.float32)
    for count in rows:
        a = rng.integers(-8, 8, (count, sizes[1])).astype(np.float32)
        found = np.empty((count, sizes[0]), np.float32)
        kernel(count, a, b, bias, found)
        wanted = np.maximum(a @ out_of_panels(b, sizes[0]) + bias, 0)
        np.testing.assert_array_equal(found, wanted)


def test_a_tile_is_as_wide_as_a_panel_and_memory_is_fetched_ahead() -> None:
    width = panel_width(128, 768, 768, F32, Machine())
    func = panels(128, 768, 768, width, bias=False)
    product = product_of(next(walk(func, on=Block)), {})
    assert product is not None
    choice = plan_of(product, Machine())
    assert choice is not None
    assert isinstance(choice[1], Panels)
    assert choice[1].columns == width
    assert not choice[1].packed
    assert "prefetch(B" in script(auto_schedule(func))


@pytest.mark.parametrize("rows", [1, 127])
def test_results_are_the_same_on_two_threads(rows: int) -> None:
    func = panels(rows, 700, 650, 64, bias=True)
    rng = np.random.default_rng(1)
    a = rng.standard_normal((rows, 650)).astype(np.float32)
    matrix = rng.standard_normal((650, 700)).astype(np.float32)
    bias = rng.standard_normal(700).astype(np.float32)
    kernel, found = irkit.build(func), []
    for threads in (1, 2):
        set_num_threads(threads)
        found.append(np.empty((rows, 700), np.float32))
        kernel(a, in_panels(matrix, 64), bias, found[-1])
    np.testing.assert_array_equal(*found)
    exact = np.maximum(a.astype(np.float64) @ matrix.astype(np.float64) + bias, 0)
    np.testing.assert_allclose(found[0], exact, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("columns", [1, 10, 16, 17, 100])
def test_panels_are_whole_vectors_and_hold_little_else(columns: int) -> None:
    width = panel_width(5, columns, 300, F32, Machine())
    assert width % 16 == 0
    assert -(-columns // width) * width < columns + width
