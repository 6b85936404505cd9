"""Products of many steps are cut into blocks of steps: exact, legal, and small in memory."""

import math

import pytest
from hypothesis import assume, given, settings, strategies as st

import irkit
from irkit.autoschedule import Machine, auto_schedule
from irkit.autoschedule.products.plan import Dots, Panels, plan_of, plans_of
from irkit.autoschedule.products.recognise import product_of
from irkit.autoschedule.products.schedule_product import apply_plan
from irkit.core import walk
from irkit.ir import Allocate, Block, PrimFunc, as_int
from irkit.schedule import Schedule
from tests.autoschedule.products.test_products import agree, product
from tests.draws import few_or_all

TINY = {16: Machine(16, 16, l1=1 << 10, l2=1 << 12), 64: Machine(64, 32, l1=1 << 10, l2=1 << 12)}
"""Machines whose second cache holds no panel of more than a few dozen steps."""


def chosen(func: PrimFunc, machine: Machine) -> Panels | Dots:
    """Return the plan for a function that is one product."""
    product = product_of(next(walk(func, on=Block)), {})
    assert product is not None
    choice = plan_of(product, machine)
    assert choice is not None
    return choice[1]


def is_deep(plan: object) -> bool:
    return isinstance(plan, Panels) and plan.deep > 0


def is_small(plan: object) -> bool:
    """Return True if a tile is few lines of code, which are compiled fast."""
    return isinstance(plan, Panels) and plan.rows * plan.vectors <= 6


@settings(max_examples=few_or_all(5, 60), deadline=None)
@given(
    sizes=st.tuples(st.integers(2, 40), st.integers(2, 70), st.integers(40, 300)),
    transposed=st.tuples(st.booleans(), st.booleans()),
    batch=st.sampled_from([0, 2]),
    epilogue=st.sampled_from(["", "bias", "residual"]),
    vector=st.sampled_from([16, 64]),
    at=st.floats(0, 1, exclude_max=True),
)
def test_blocks_of_steps_are_exact_and_legal(
    sizes: tuple[int, int, int],
    transposed: tuple[bool, bool],
    batch: int,
    epilogue: str,
    vector: int,
    at: float,
) -> None:
    func = product(*sizes, transposed=transposed, batch=batch, epilogue=epilogue)
    found = product_of(next(walk(func, on=Block)), {})
    assert found is not None
    plans = [
        choice
        for choice in plans_of(found, TINY[vector])
        if is_deep(choice[1]) and is_small(choice[1])
    ]
    assume(plans)
    sch = Schedule(func)  # Every step is checked.
    apply_plan(sch, *plans[int(at * len(plans))])
    agree(sch.func, func)


@pytest.mark.parametrize("transposed", [(False, False), (True, True)])
def test_a_panel_of_a_deep_product_fits_the_second_cache(transposed: tuple[bool, bool]) -> None:
    machine = Machine()
    func = product(96, 96, 40000, transposed=transposed)
    assert is_deep(chosen(func, machine))
    lowered = irkit.lower(auto_schedule(func, machine), stop_after=1)
    sizes = [
        math.prod(as_int(dim) or 0 for dim in each.buffer.shape) * each.buffer.dtype.bytes
        for each in walk(lowered, on=Allocate)
    ]
    panels = [size for size in sizes if size > machine.l1]
    assert panels
    assert min(panels) <= machine.l2 // 4


def test_few_steps_are_one_block() -> None:
    func = product(1024, 1024, 1024)
    assert not is_deep(chosen(func, Machine()))
