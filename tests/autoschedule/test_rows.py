"""Reductions along rows run in lanes, all stages of a row together, with exact results."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit import te, topi
from irkit.autoschedule import Machine, auto_schedule
from irkit.core import Target, walk
from irkit.ir import Allocate, Block, For, PrimFunc, as_dtype, as_int, interpret, verify
from irkit.phases import DEFAULT
from irkit.runtime import compile_functions
from irkit.schedule import BlockRef, Schedule
from tests.draws import few_or_all

REDUCERS = {"sum": np.sum, "max": np.max, "min": np.min}


def run(func: PrimFunc, *arrays: Any) -> None:
    """Run a scheduled function in the interpreter and as native code, and compare both."""
    scheduled = auto_schedule(func)
    assert verify(scheduled) == []
    native = [array.copy() for array in arrays]
    interpret(scheduled, *arrays)
    compile_functions({"main": DEFAULT.run(scheduled)}, Target())["main"](*native)
    np.testing.assert_array_equal(native[-1], arrays[-1])


@settings(max_examples=few_or_all(10, 25), deadline=None, derandomize=True)
@given(
    kind=st.sampled_from(sorted(REDUCERS)),
    shape=st.lists(st.integers(1, 70), min_size=1, max_size=3),
    keep=st.booleans(),
    dtype=st.sampled_from(["i8", "i32", "i64", "f32", "f64"]),
    data=st.data(),
)
def test_reductions_of_whole_numbers_are_exact(
    kind: str, shape: list[int], keep: bool, dtype: str, data: st.DataObject
) -> None:
    shape = [min(size, 9) for size in shape[:-1]] + shape[-1:]
    axes = data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1), label="axes")
    x = te.placeholder(tuple(shape), dtype=dtype, name="x")
    func = te.create_prim_func([x, getattr(topi, kind)(x, sorted(axes), keep)])
    given = (
        np.random.default_rng(0)
        .integers(-3, 4, shape)
        .astype(dtype.replace("i", "int").replace("f", "float"))
    )
    wanted = REDUCERS[kind](given, axis=tuple(axes), keepdims=keep)
    wanted = np.asarray(wanted).astype(given.dtype)
    found = np.zeros_like(wanted)
    run(func, given, found)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("size", "axis", "last"),
    [(1, 1, False), (8, 0, True), (15, 1, True), (33, 0, False), (33, 1, False), (65, 1, True)],
)
def test_argmax_keeps_ties_and_nan(size: int, axis: int, last: bool) -> None:
    rng = np.random.default_rng(size)
    given = rng.integers(0, 3, (6, size) if axis else (5, size)).astype(np.float32)
    given[1], given[2] = -np.inf, np.nan
    given[3, rng.integers(0, size, 2)] = np.nan
    given[:, 0] = -np.inf
    x = te.placeholder(given.shape, name="x")
    found = np.zeros(given.shape[1 - axis], np.int64)
    run(te.create_prim_func([x, topi.argmax(x, axis, last=last)]), given, found)
    back = np.flip(given, axis).argmax(axis)
    wanted = given.shape[axis] - 1 - back if last else given.argmax(axis)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("dtype", "axis"), [("int8", 1), ("int64", 0), ("float16", 0), ("float64", 1)]
)
def test_argmin_of_any_type_finds_the_first(dtype: str, axis: int) -> None:
    given = np.random.default_rng(0).integers(-2, 2, (70, 70)).astype(dtype)
    x = te.placeholder(given.shape, name="x", dtype=str(as_dtype(dtype)))
    found = np.zeros(70, np.int64)
    run(te.create_prim_func([x, topi.argmin(x, axis)]), given, found)
    np.testing.assert_array_equal(found, given.argmin(axis))


def test_lanes_of_an_argmax_keep_positions_in_few_bits() -> None:
    x = te.placeholder((40, 300), name="x")
    for axis in (0, 1):
        func = auto_schedule(te.create_prim_func([x, topi.argmax(x, axis)]))
        kept = [each.buffer for each in walk(func, on=Allocate) if each.buffer.scope == "local"]
        assert {str(buffer.dtype) for buffer in kept} == {"f32", "i32"}
        assert any(loop.kind == "vectorized" for loop in walk(func, on=For))


@pytest.mark.parametrize("shape", [(5, 3), (4, 16), (3, 37), (2, 3, 130), (1, 20)])
def test_a_softmax_computes_all_of_a_row_before_the_next(shape: tuple[int, ...]) -> None:
    x = te.placeholder(shape, name="x")
    func = te.create_prim_func([x, topi.nn.softmax(x)])
    given = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    power = np.exp(given - given.max(-1, keepdims=True))
    found = np.zeros_like(given)
    kernel = compile_functions({"main": DEFAULT.run(auto_schedule(func))}, Target())["main"]
    kernel(given, found)
    np.testing.assert_allclose(found, power / power.sum(-1, keepdims=True), rtol=2e-6)


def test_the_stages_of_a_row_share_its_loop_and_run_in_lanes() -> None:
    x = te.placeholder((6, 80), name="x")
    scheduled = auto_schedule(te.create_prim_func([x, topi.nn.softmax(x)]))
    sch = Schedule(scheduled)
    outer = {sch.get_loops(BlockRef(block.name))[0].var for block in walk(scheduled, on=Block)}
    assert len(outer) == 1
    assert sum(loop.kind == "vectorized" for loop in walk(scheduled, on=For)) >= 6


def test_a_row_that_another_row_reads_is_not_computed_again() -> None:
    """Where a stage reads the sums of all rows, they stay in loops of their own."""
    x = te.placeholder((9, 40), name="x")
    k = te.reduce_axis((0, 40), name="k")
    whole = te.compute((9,), lambda i: te.sum(x[i, k], axis=k), name="whole")
    y = te.compute((9, 9), lambda i, j: whole[i] + whole[j], name="y")
    given = np.random.default_rng(0).integers(-3, 4, (9, 40)).astype(np.float32)
    func = te.create_prim_func([x, y])
    found = np.zeros((9, 9), np.float32)
    run(func, given, found)
    np.testing.assert_array_equal(found, given.sum(1)[:, None] + given.sum(1))
    sch = Schedule(auto_schedule(func))
    names = [block.name for block in walk(sch.func, on=Block) if block.name.startswith("whole")]
    rows = {sch.get_loops(BlockRef(name))[0].var for name in names}
    assert sch.get_loops(BlockRef("y"))[0].var not in rows


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
@pytest.mark.parametrize("size", [(1, 8), (3, 9), (4, 100), (0, 20), (2, 0)])
def test_rows_of_any_length_are_reduced(vector_bytes: int, size: tuple[int, int]) -> None:
    m, n = te.var("m"), te.var("n")
    x = te.placeholder((m, n), name="x")
    k = te.reduce_axis((0, n), name="k")
    y = te.compute((m,), lambda i: te.sum(x[i, k], axis=k), name="y")
    func = auto_schedule(te.create_prim_func([x, y]), Machine.with_vectors(vector_bytes))
    assert any(loop.kind == "vectorized" for loop in walk(func, on=For))
    given = np.random.default_rng(0).integers(-3, 4, size).astype(np.float32)
    found = np.ones(size[0], np.float32)
    compile_functions({"main": DEFAULT.run(func)}, Target())["main"](given, found)
    np.testing.assert_array_equal(found, given.sum(1))


@pytest.mark.parametrize("shape", [(7, 40), (1, 7, 40), (7, 1, 40), (1, 3, 1, 40)])
def test_a_layer_norm_keeps_one_row_whatever_axes_of_one_element_there_are(
    shape: tuple[int, ...],
) -> None:
    x, w = te.placeholder(shape, name="x"), te.placeholder(shape[-1:], name="w")
    last = (len(shape) - 1,)
    centred = topi.subtract(x, topi.mean(x, last, True))
    variance = topi.mean(topi.multiply(centred, centred), last, True)
    y = topi.multiply(topi.divide(centred, topi.add(variance, 1.0)), w)
    scheduled = auto_schedule(te.create_prim_func([x, w, y]))
    assert verify(scheduled) == []
    made = walk(DEFAULT.run(scheduled), on=Allocate)
    assert max(as_int(each.buffer.shape[0]) or 0 for each in made) <= 64
    rng = np.random.default_rng(0)
    given = [rng.standard_normal(shape).astype("f"), rng.standard_normal(shape[-1]).astype("f")]
    found = np.zeros(shape, np.float32)
    compile_functions({"main": DEFAULT.run(scheduled)}, Target())["main"](*given, found)
    exact = given[0].astype(np.float64)
    exact = exact - exact.mean(-1, keepdims=True)
    exact = exact / (np.square(exact).mean(-1, keepdims=True) + 1) * given[1]
    assert np.allclose(found, exact, rtol=1e-5, atol=1e-6)
