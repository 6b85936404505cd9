"""Products with packed weights: any shape, any vectors, exact on small integers."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numpy.typing import NDArray

import irkit
from irkit import te, topi
from irkit.autoschedule import Machine, auto_schedule, quantized_width, schedule_reduction
from irkit.core import Recorder, recording, walk
from irkit.graph import in_panels
from irkit.ir import F32, Allocate, Block, Expr, For, Load, PrimFunc, as_int, script
from irkit.runtime import num_threads, set_num_threads
from irkit.schedule import Schedule
from tests.draws import few_or_all

_Array = NDArray[np.generic]
_KINDS = {4: "uint8", 8: "int8"}


def product(
    lead: tuple[int | Expr, ...], sizes: tuple[int, int, int], bits: int, width: int, *, zeros: bool
) -> PrimFunc:
    """Return the product by blocks of ``sizes``: blocks, rows of one and columns; bias and relu."""
    blocks, block, columns = sizes
    count = -(-columns // width)
    a = te.placeholder((*lead, blocks * block), name="A")
    b = te.placeholder((count, blocks * block * bits // 8, width), name="B", dtype=_KINDS[bits])
    scales = te.placeholder((count, blocks, width), name="scales")
    more = (
        [te.placeholder((count, blocks, width), name="zeros", dtype=_KINDS[bits])] if zeros else []
    )
    bias = te.placeholder((columns,), name="bias")
    made = topi.matmul_quantized_panels(
        a, b, scales, *more, columns=columns, block=block, bits=bits
    )
    made = topi.relu(topi.add(made, bias))
    open_sizes = [each for each in lead if not isinstance(each, int)]
    return te.create_prim_func([*open_sizes, a, b, scales, *more, bias, made], name="packed")


def drawn(
    lead: tuple[int, ...], sizes: tuple[int, int, int], bits: int, width: int, *, zeros: bool
) -> tuple[list[_Array], _Array]:
    """Draw small numbers; return the arguments, and the result as NumPy multiplies them."""
    blocks, block, columns = sizes
    rng = np.random.default_rng(blocks * 7 + block * 3 + columns)
    kind, low = _KINDS[bits], 0 if bits == 4 else -128
    numbers = rng.integers(low, low + (1 << bits), (blocks * block, columns)).astype(kind)
    a = rng.integers(-2, 3, (*lead, blocks * block)).astype(np.float32)
    scales = rng.integers(1, 4, (blocks, columns)).astype(np.float32)
    zero = rng.integers(0, 16, (blocks, columns)).astype(kind)
    bias = rng.integers(-9, 9, columns).astype(np.float32)
    packed = numbers[::2] | numbers[1::2] << 4 if bits == 4 else numbers
    middle = np.repeat(zero, block, 0).astype(float) if zeros else 8.0 * (bits == 4)
    weights = numbers.astype(np.float64) - middle
    wanted = np.maximum(a.astype(np.float64) @ (weights * np.repeat(scales, block, 0)) + bias, 0)
    more = [in_panels(zero, width)] if zeros else []
    return [a, in_panels(packed, width), in_panels(scales, width), *more, bias], wanted


@settings(max_examples=few_or_all(8, 120), deadline=None)
@given(
    lead=st.sampled_from([(), (1,), (3,), (5,), (9,), (14,), (1, 1), (2, 3), (1, 7), (6, 1)]),
    blocks=st.integers(1, 5),
    block=st.sampled_from([2, 4, 16, 32]),
    columns=st.integers(1, 150),
    vectors=st.integers(1, 8),
    vector=st.sampled_from([16, 32, 64]),
    bits=st.sampled_from([4, 8]),
    zeros=st.booleans(),
)
def test_results_are_exact(
    lead: tuple[int, ...],
    blocks: int,
    block: int,
    columns: int,
    vectors: int,
    vector: int,
    bits: int,
    zeros: bool,
) -> None:
    sizes, width = (blocks, block, columns), vectors * vector // 4
    func = product(lead, sizes, bits, width, zeros=zeros)
    given, wanted = drawn(lead, sizes, bits, width, zeros=zeros)
    scheduled = auto_schedule(func, Machine.with_vectors(vector))
    found = np.zeros(wanted.shape, np.float32)
    irkit.build(scheduled, schedule="none")(*given, found)
    np.testing.assert_array_equal(found, wanted)
    if lead and lead != (2, 3):
        assert _is_tiled(scheduled)


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("batch", [(), (1,)])
def test_any_number_of_rows_has_a_form_for_one_row_and_is_exact(
    batch: tuple[int, ...], bits: int
) -> None:
    sizes, m = (2, 16, 70), te.var("m")
    func = product((*batch, m), sizes, bits, 32, zeros=True)
    machine = Machine.with_vectors(32)
    scheduled = auto_schedule(func, machine)
    assert len([each for each in walk(scheduled, on=Block) if each.init is None]) > 4
    assert _is_tiled(scheduled)
    kernel = irkit.build(scheduled, schedule="none")
    for rows in (1, 2, 5, 13):
        given, wanted = drawn((*batch, rows), sizes, bits, 32, zeros=True)
        found = np.zeros(wanted.shape, np.float32)
        kernel(rows, *given, found)
        np.testing.assert_array_equal(found, wanted)


def _is_tiled(func: PrimFunc) -> bool:
    """Return True if the sums of a block are in registers, and some loops run in lanes."""
    kept = [each.buffer for each in walk(func, on=Allocate) if each.buffer.scope == "local"]
    lanes = any(loop.kind == "vectorized" for loop in walk(func, on=For))
    return lanes and any("block_sums" in buffer.name for buffer in kept)


def test_a_scale_is_multiplied_once_for_each_block() -> None:
    """The inner loop unpacks and multiplies: scales are loaded outside of it."""
    func = auto_schedule(product((4,), (4, 32, 64), 4, 32, zeros=True), Machine.with_vectors(32))
    read = [
        {load.buffer.name for load in walk(loop, on=Load)}
        for loop in walk(func, on=For)
        if loop.kind == "serial" and as_int(loop.end) == 16
    ]
    assert [each & {"A", "B", "scales"} for each in read] == [{"A", "B"}]


def test_weights_that_no_cache_holds_are_fetched_ahead() -> None:
    machine = Machine.with_vectors(32)
    small = auto_schedule(product((1,), (2, 32, 64), 4, 32, zeros=False), machine)
    large = auto_schedule(product((1,), (64, 32, 1024), 4, 32, zeros=False), machine)
    assert "prefetch" not in script(small)
    assert "prefetch" in script(large)


def test_a_sum_for_which_no_tile_fits_into_16_registers_is_left_alone() -> None:
    """The rule for other reductions, which comes after the one for these."""
    func = product((5,), (4, 16, 200), 4, 64, zeros=True)
    (total,) = [each for each in walk(func, on=Block) if each.name == "matmul_quantized_panels"]
    sch = Schedule(func, check="off")
    schedule_reduction(sch, total, Machine.with_vectors(32), {})
    assert sch.func is func


def test_nothing_is_said_because_every_rule_applies() -> None:
    for lead in ((1,), (5,), (1, 1)):
        with recording(Recorder()) as recorder:
            auto_schedule(product(lead, (3, 16, 100), 4, 64, zeros=True), Machine())
        assert not recorder.remarks


def test_a_panel_is_as_wide_as_the_tile_for_its_rows() -> None:
    machine = Machine()
    widths = [quantized_width(rows, 4096, 4096, F32, machine) for rows in (1, 2, 4, 8, 64)]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] == 8 * 16
    assert quantized_width(1, 20, 64, F32, machine) == 2 * 16
    assert quantized_width(1, 3, 64, F32, machine) == 16


def test_results_have_the_same_bits_on_any_number_of_threads() -> None:
    sizes = (8, 32, 4096)
    func = product((2,), sizes, 4, 128, zeros=True)
    rng = np.random.default_rng(3)
    given, wanted = drawn((2,), sizes, 4, 128, zeros=True)
    given[0] = rng.standard_normal(given[0].shape).astype(np.float32)
    kernel = irkit.build(auto_schedule(func, Machine()), schedule="none")
    found: list[bytes] = []
    before = num_threads()
    try:
        for count in (1, 2, 4):
            set_num_threads(count)
            out = np.zeros(wanted.shape, np.float32)
            kernel(*given, out)
            found.append(out.tobytes())
    finally:
        set_num_threads(before)
    assert found[0] == found[1] == found[2]
