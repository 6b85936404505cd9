"""Products whose sizes are not constant: the same results for every size, from a few plans."""

import importlib
import itertools

import numpy as np
import pytest

import irkit
from irkit import te, topi
from irkit.autoschedule import GENERIC, Machine, auto_schedule, automatic_schedule
from irkit.autoschedule.products import schedule_product
from irkit.autoschedule.structure import Estimates
from irkit.core import Recorder, ScheduleError, recording, same, walk
from irkit.debug import check
from irkit.ir import Block, Expr, If, PrimFunc, Var
from irkit.runtime import Kernel
from irkit.schedule import Schedule
from tests.draws import part_of, sampled

Size = int | Var
SMALL = Machine.with_vectors(16)


def product(
    rows: Size,
    columns: Size,
    steps: Size,
    batch: Size = 0,
    *,
    flips: str = "NN",
    relu: bool = False,
) -> PrimFunc:
    head = () if isinstance(batch, int) and not batch else (batch,)
    a = te.placeholder((*head, *((steps, rows) if flips[0] == "T" else (rows, steps))), name="A")
    b = te.placeholder(
        (*head, *((columns, steps) if flips[1] == "T" else (steps, columns))), name="B"
    )
    k = te.reduce_axis((0, steps), name="k")

    def cell(*at: Var) -> Expr:
        *front, i, j = at
        x = a[(*front, k, i) if flips[0] == "T" else (*front, i, k)]
        y = b[(*front, j, k) if flips[1] == "T" else (*front, k, j)]
        return te.sum(x * y, axis=k)

    made = te.compute((*head, rows, columns), cell, name="C")
    if relu:
        made = topi.nn.relu(made)
    return te.create_prim_func([a, b, made])


def remarks_of(func: PrimFunc, machine: Machine = SMALL) -> list[str]:
    recorder = Recorder()
    with recording(recorder):
        auto_schedule(func, machine)
    return [each.text for each in recorder.remarks]


def kernels(func: PrimFunc, machine: Machine) -> tuple[Kernel, Kernel]:
    return irkit.build(func, schedule="none"), irkit.build(auto_schedule(func, machine))


def assert_same(
    pair: tuple[Kernel, Kernel], sizes: tuple[int, int, int, int], flips: str = "NN"
) -> None:
    rows, columns, steps, batch = sizes
    head = (batch,) if batch >= 0 else ()
    rng = np.random.default_rng(rows)
    shapes = (
        (steps, rows) if flips[0] == "T" else (rows, steps),
        (columns, steps) if flips[1] == "T" else (steps, columns),
    )
    a, b = (rng.integers(-4, 5, (*head, *shape)).astype(np.float32) for shape in shapes)
    found = [np.full((*head, rows, columns), np.nan, np.float32) for _ in pair]
    for kernel, result in zip(pair, found, strict=True):
        kernel(a, b, result)
    np.testing.assert_array_equal(found[1], found[0])


COUNTS = (*range(36), 47, 48, 49, 61, 63, 64, 65, 97, 128, 255)
"""Numbers of rows: none, one, primes, and those around the heights of tiles."""


@pytest.mark.parametrize(
    ("flips", "machine"),
    sampled(itertools.product(["NN", "NT", "TN", "TT"], [SMALL, GENERIC]), every=3),
)
def test_any_number_of_rows_is_exact(flips: str, machine: Machine) -> None:
    func = product(te.var("m"), 37, 20, flips=flips)
    assert not remarks_of(func, machine)
    pair = kernels(func, machine)
    for rows in COUNTS:
        assert_same(pair, (rows, 37, 20, -1), flips)


@pytest.mark.parametrize("flips", ["NN", "NT", "TN"])
def test_all_sizes_can_be_open(flips: str) -> None:
    func = product(te.var("m"), te.var("n"), te.var("k"), te.var("b"), flips=flips)
    assert not remarks_of(func, GENERIC)
    pair = kernels(func, GENERIC)
    rng = np.random.default_rng(0)
    edges = [(0, 3, 4, 2), (3, 0, 4, 2), (3, 4, 0, 2), (3, 4, 5, 0), (1, 1, 1, 1), (16, 16, 16, 1)]
    for _ in range(25):
        rows, columns, steps = (int(each) for each in rng.integers(1, 70, 3))
        edges.append((rows, columns, steps, 2))
    for sizes in edges:
        assert_same(pair, sizes, flips)


@pytest.mark.parametrize("open_", [0, 1, 2])
def test_one_open_size_of_three(open_: int) -> None:
    given: list[Size] = [24, 40, 33]
    given[open_] = te.var("s")
    rows, columns, steps = given
    func = product(rows, columns, steps)
    assert not remarks_of(func)
    pair = kernels(func, SMALL)
    for size in (0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 64):
        sizes = [24, 40, 33]
        sizes[open_] = size
        assert_same(pair, (sizes[0], sizes[1], sizes[2], -1))


def test_an_epilogue_is_computed_on_each_tile_of_each_copy() -> None:
    func = product(te.var("m"), 40, 33, relu=True)
    assert not remarks_of(func)
    pair = kernels(func, SMALL)
    for rows in COUNTS[::3]:
        assert_same(pair, (rows, 40, 33, -1))


def test_every_copy_has_its_tiles_along_the_rows_and_not_along_the_batch() -> None:
    n, m = te.var("n"), te.var("m")
    a, b = te.placeholder((n, m, 512), name="A"), te.placeholder((512, 40), name="B")
    func = te.create_prim_func([a, b, topi.nn.relu(topi.matmul(a, b))])
    text = auto_schedule(func, SMALL).script()
    assert text.count("chosen") >= 2
    assert "(m + " in text
    assert "(n + " not in text


def test_few_plans_are_chosen_and_the_schedule_can_be_replayed() -> None:
    func = product(te.var("m"), 40, 33)
    sch = automatic_schedule(func, GENERIC)
    assert sch is not None
    assert [step.primitive for step in sch.trace.steps].count("specialize") == 1
    copies = [block for block in walk(sch.func, on=Block) if block.name in ("C", "C_1", "C_2")]
    assert 2 <= len(copies) <= 4
    again = Schedule(func)  # With its checks.
    again.replay(sch.trace)
    assert same(again.func, sch.func)


@pytest.mark.long
def test_every_step_of_lowering_agrees_and_no_access_is_out_of_bounds() -> None:
    func = product(te.var("m"), 10, 6)
    traced = irkit.trace(func, schedule="auto", machine=SMALL)
    assert traced.steps[0].name == "auto-schedule"
    for rows in part_of((0, 1, 9, 3), 2):
        verdicts = check(traced.steps, dims={"m": rows}, samples=1)
        assert all(verdict.ok for verdict in verdicts)


def test_a_constant_number_of_rows_has_one_plan() -> None:
    assert not list(walk(auto_schedule(product(24, 40, 33), SMALL), on=If))
    assert not list(walk(auto_schedule(product(24, te.var("n"), 33), SMALL), on=If))


def test_a_copy_that_no_rule_can_schedule_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def unless_refused(sch: Schedule, block: Block, machine: Machine, estimates: Estimates) -> None:
        if block.name == "C_1":
            raise ScheduleError("no such luck")
        schedule_product(sch, block, machine, estimates)

    rules = importlib.import_module("irkit.autoschedule.auto_schedule")
    monkeypatch.setattr(rules, "_OF_REDUCTIONS", (unless_refused,))
    func = product(te.var("m"), 40, 33)
    assert "not copied for other sizes: no rule applies to 'C_1'" in remarks_of(func, GENERIC)
    assert not list(walk(auto_schedule(func, GENERIC), on=If))
