"""Attention by tiles of queries: the same results, scores in registers and the first cache."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import irkit
from irkit import te, topi
from irkit.autoschedule import Machine, attention_tile, auto_schedule
from irkit.autoschedule.attention import attention_of, stages_of_attention
from irkit.core import walk
from irkit.ir import Allocate, Block, For, PrimFunc, as_int, verify
from irkit.phases import DEFAULT
from irkit.runtime import num_threads, set_num_threads
from irkit.schedule import Schedule
from tests.autoschedule.test_tiles import SMALL, sums_of
from tests.draws import few_or_all
from tests.shared.attentions import Sizes, exact, operands
from tests.topi.nn.test_attention import te_dtype

TILES = [(3, 4, 0), (2, 8, 0), (4, 4, 2), (1, 4, 1), (5, 8, 1)]


def attention(given: Sequence[Any], finish: str = "none", **options: Any) -> PrimFunc:
    """Return the loops of attention on tensors like some arrays, and what is made of it."""
    inputs = [te.placeholder(each.shape, te_dtype(each)) for each in given]
    q, k, v, *mask = inputs
    if finish == "scaled":  # The operands are computed where they are copied.
        q, k, v = (topi.multiply(each, 0.5) for each in (q, k, v))
    y = topi.nn.attention(q, k, v, *mask, **options)
    made = {"none": lambda: y, "scaled": lambda: y, "relu": lambda: topi.relu(y)}[finish]()
    return te.create_prim_func([*inputs, made], name="attention")


def run(func: PrimFunc, given: Sequence[Any], shape: Sequence[int]) -> Any:
    return called(irkit.build(func, schedule="none"), given, shape)


def called(kernel: Any, given: Sequence[Any], shape: Sequence[int]) -> Any:
    out = np.full(shape, np.nan, given[0].dtype)
    kernel(*given, out)
    return out


@settings(max_examples=few_or_all(5, 60), deadline=None, derandomize=True)
@given(
    sizes=st.tuples(
        st.integers(1, 9), st.integers(1, 19), st.sampled_from((1, 2, 5, 8)), st.integers(1, 13)
    ),
    lead=st.sampled_from(((), (2,), (9,), (1, 8))),
    mask=st.sampled_from(("none", "f32", "bool")),
    tile=st.sampled_from(TILES),
    finish=st.sampled_from(("none", "scaled", "relu")),
    turned=st.booleans(),
)
def test_scheduled_loops_are_as_exact_as_the_plain_form(
    sizes: Any, lead: Any, mask: str, tile: tuple[int, int, int], finish: str, turned: bool
) -> None:
    given = operands(Sizes(lead, *sizes), mask)
    axes = (1, 0, 2) if turned and len(lead) == 1 else ()
    rows, columns, part = tile
    options: dict[str, Any] = {"rows": rows, "columns": columns, "part": part, "axes": axes}
    func = attention(given, finish, scale=0.5, **options)
    scheduled = auto_schedule(func, SMALL)
    assert verify(scheduled) == []
    assert any(loop.kind == "vectorized" for loop in walk(scheduled, on=For))
    inputs = [each * np.float32(0.5) for each in given[:3]] if finish == "scaled" else given[:3]
    wanted = exact([*inputs, *given[3:]], 0.5, axes)
    wanted = np.maximum(wanted, 0) if finish == "relu" else wanted
    found = run(scheduled, given, wanted.shape)
    assert np.abs(found - wanted).max() <= 2e-6 * max(1.0, np.abs(wanted).max())


def plain(given: Sequence[Any], scale: float) -> Any:
    """Compute attention in f32 as separate operators do, each sum one step after another."""
    q, k, v = given
    scores = product(q, k) * np.float32(scale)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return product(powers / powers.sum(-1, keepdims=True), v)


def product(a: Any, b: Any) -> Any:
    total = np.zeros((*a.shape[:-1], b.shape[-1]), np.float32)
    for step in range(a.shape[-1]):
        total += a[..., step, None] * b[..., None, step, :]
    return total


@pytest.mark.parametrize("part", [0, 2])
def test_errors_are_those_of_the_plain_form(part: int) -> None:
    drawn = [operands(Sizes((2,), 13, 70, 64, 40), seed=seed) for seed in range(2)]
    func = attention(drawn[0], scale=0.125, rows=4, columns=16, part=part)
    kernel = irkit.build(auto_schedule(func), schedule="none")
    for (q, k, v), size in zip(drawn, (1.0, 30.0), strict=True):
        given = [q * np.float32(size), k, v]
        wanted = exact(given, 0.125)
        found = called(kernel, given, wanted.shape)
        error = np.abs(plain(given, 0.125) - wanted).max()
        assert np.abs(found - wanted).max() <= 1.5 * error


@pytest.mark.parametrize("part", [0, 1])
def test_rows_without_keys_are_no_numbers(part: int) -> None:
    q, k, v, _ = operands(Sizes((), 5, 9, 4, 8), "bool")
    mask = np.ones((5, 9), bool)
    mask[1], mask[2, :8] = False, False
    func = attention([q, k, v, mask], rows=2, columns=4, part=part)
    found = run(auto_schedule(func, SMALL), [q, k, v, mask], (5, 8))
    assert np.isnan(found[1]).all()
    others = [0, 2, 3, 4]
    assert np.allclose(found[others], exact([q[others], k, v, mask[others]]), atol=1e-6)
    assert np.allclose(found[2], v[8], atol=1e-6)
    func = attention([q, k, v, mask], rows=2, columns=4, part=part, empty=True)
    without = run(auto_schedule(func, SMALL), [q, k, v, mask], (5, 8))
    assert np.array_equal(without[1], np.zeros(8))
    assert np.allclose(without[others], found[others], atol=1e-6)


@pytest.mark.parametrize("part", [0, 2])
def test_sums_stay_in_registers_without_masks_and_scores_in_the_cache(part: int) -> None:
    given = operands(Sizes((8,), 24, 64, 8, 16), "f32")
    func = attention(given, rows=6, columns=8, part=part, scale=0.5)
    scheduled = auto_schedule(func, SMALL)
    sums = sums_of(scheduled)
    assert sums
    assert all(store.mask is None for store in sums)
    sizes = [
        as_int(each.buffer.shape[0]) or 0 for each in walk(DEFAULT.run(scheduled), on=Allocate)
    ]
    scores = 6 * (8 * part if part else 64)
    assert max(sizes) == 64 * 16  # The values of a head.
    assert scores in sizes
    assert 24 * 64 not in sizes


def test_threads_take_heads_or_tiles_and_change_no_bit() -> None:
    before = num_threads()
    try:
        for lead in ((1,), (12,)):
            given = operands(Sizes(lead, 150, 130, 32, 32), "f32")
            func = auto_schedule(attention(given, rows=4, columns=16))
            assert any(loop.kind == "parallel" for loop in walk(func, on=For))
            kernel = irkit.build(func, schedule="none")
            found: list[Any] = []
            for threads in (1, 2, 4):
                set_num_threads(threads)
                found.append(called(kernel, given, (*lead, 150, 32)))
            assert all(np.array_equal(each, found[0]) for each in found)
    finally:
        set_num_threads(before)


def test_other_softmaxes_are_no_attention() -> None:
    given = operands(Sizes((), 4, 5, 6, 7))
    q, k, v = (te.placeholder(each.shape, "f32") for each in given)
    scores = topi.matmul(q, k)
    y = topi.add(topi.matmul(topi.nn.softmax(scores), v), topi.reduction.max(scores, -1, True))
    sch = Schedule(te.create_prim_func([q, k, v, y]), check="off")
    assert stages_of_attention(sch) == frozenset()
    blocks = [block for block in walk(sch.func) if getattr(block, "init", None) is not None]
    assert all(attention_of(sch, block) is None for block in blocks)  # pyright: ignore[reportArgumentType] -- those with an init are blocks


def test_a_tile_fits_registers_and_its_scores_the_first_cache() -> None:
    machine = Machine()
    for queries, keys in ((1, 1), (7, 100), (197, 197), (512, 5000), (4000, 100_000)):
        tile = attention_tile((queries, keys, 64, 64), 16, machine)
        vectors = tile.columns // 16
        assert tile.rows <= queries
        assert (tile.rows + 1) * vectors < machine.vector_registers
        panels = tile.part or -(-keys // tile.columns)
        assert tile.rows * panels * tile.columns * 4 <= machine.l1


def test_the_sum_of_all_products_is_no_attention() -> None:
    a, b = te.placeholder((64,)), te.placeholder((64,))
    k = te.reduce_axis((0, 64))
    total = te.compute((), lambda: te.sum(a[k] * b[k], k))
    func = te.create_prim_func([a, b, total])
    (block,) = walk(func, on=Block)
    assert attention_of(Schedule(func), block) is None
