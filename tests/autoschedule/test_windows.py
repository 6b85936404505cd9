"""Reductions over windows: their tiles are unrolled whole, within bounds, and change no bit."""

from collections.abc import Callable

import numpy as np
import pytest

import irkit
from irkit import te
from irkit.autoschedule import Machine, Tile, tile_of
from irkit.core import walk
from irkit.ir import Block, Buffer, Expr, For, PrimFunc, as_int, numpy_dtype
from irkit.phases import lower
from irkit.schedule import only_store

MACHINE = Machine.with_vectors(32)
MOST = 320
Combine = Callable[[Expr, list[te.IterVar]], Expr]


def window(size: tuple[int, int], shape: tuple[int, int], what: str, dtype: str) -> PrimFunc:
    """Reduce each window of an image."""
    a = te.placeholder(tuple(n + k - 1 for n, k in zip(shape, size, strict=True)), dtype, "A")
    r, s = (te.reduce_axis((0, k), name) for k, name in zip(size, "rs", strict=True))
    combine = {"sum": te.sum, "max": te.max, "filter": te.sum}[what]
    w = te.placeholder(size, dtype, "W")

    def cell(i: Expr, j: Expr) -> Expr:
        value = a[i + r, j + s] * w[r, s] if what == "filter" else a[i + r, j + s]
        return combine(value, axis=[r, s])

    inputs = [a, w] if what == "filter" else [a]
    return te.create_prim_func([*inputs, te.compute(shape, cell, name="Y")])


def tile(func: PrimFunc) -> Tile:
    (block,) = [each for each in walk(func, on=Block) if each.init is not None]
    store = only_store(block)
    assert store is not None
    found = tile_of(block, store, MACHINE, {})
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("size", "shape", "what", "dtype"),
    [
        ((3, 3), (33, 50), "sum", "float32"),  # Nothing divides: tiles overlap.
        ((2, 5), (13, 37), "max", "float64"),
        ((3, 3), (17, 64), "filter", "float32"),
        ((3, 2), (16, 40), "sum", "int32"),
    ],
)
def test_all_bits_are_those_of_the_loops_as_written(
    size: tuple[int, int], shape: tuple[int, int], what: str, dtype: str
) -> None:
    func = window(size, shape, what, dtype)
    assert tile(func).unrolled
    rng = np.random.default_rng(3)
    given = [
        (rng.random([as_int(n) or 0 for n in p.shape]) * 100).astype(numpy_dtype(p.dtype))
        for p in func.params[:-1]
        if isinstance(p, Buffer)
    ]
    if what == "max":
        given[0][5, 7:9] = np.nan
    results = []
    for schedule in ("auto", "none"):
        result = np.zeros(shape, given[0].dtype)
        irkit.build(func, schedule=schedule, machine="generic")(*given, result)
        results.append(result)
    np.testing.assert_array_equal(results[0].view(np.uint8), results[1].view(np.uint8))


@pytest.mark.parametrize(("what", "each", "fewest"), [("sum", 1, 9), ("max", 3, 5)])
def test_a_tile_is_unrolled_whole_if_it_is_small_enough(what: str, each: int, fewest: int) -> None:
    whole = 0
    for height in (1, 2, 3, 5, 8):
        for width in (2, 3, 7, 11):
            made = tile(window((height, width), (40, 64), what, "float32"))
            if made.unrolled == 2:
                whole += 1
                assert made.sums * height * width * each <= MOST
    assert whole >= fewest


def test_nothing_is_left_of_the_loops_of_a_window() -> None:
    func = lower(window((3, 3), (32, 64), "sum", "float32"), schedule="auto", machine=MACHINE)
    assert [each.var.name for each in walk(func, on=For)] == ["i_0", "j_0"]
