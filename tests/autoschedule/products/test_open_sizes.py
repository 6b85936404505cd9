"""Products whose sizes are not constant: the same results for every size, from a few plans."""

import numpy as np
import pytest

import irkit
from irkit import te
from irkit.autoschedule import Machine, auto_schedule, automatic_schedule
from irkit.core import Recorder, recording, walk
from irkit.debug import check
from irkit.ir import Block, Expr, If, PrimFunc, Var, interpret
from irkit.schedule import Schedule

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
        made = te.compute(made.shape, lambda *at: te.max(made[at], te.const(0.0)), name="D")
    return te.create_prim_func([a, b, made])


def remarks_of(func: PrimFunc, machine: Machine = SMALL) -> list[str]:
    recorder = Recorder()
    with recording(recorder):
        auto_schedule(func, machine)
    return [each.text for each in recorder.remarks]


def run(func: PrimFunc, shapes: list[tuple[int, ...]]) -> np.ndarray:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, shape).astype(np.float32) for shape in shapes[:2])
    result = np.full(shapes[2], np.nan, np.float32)
    irkit.build(func, schedule="none")(a, b, result)
    return result
