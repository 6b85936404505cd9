"""The default schedule keeps results, and makes register tiles where it should."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit import te, topi
from irkit.autoschedule import Machine, auto_schedule
from irkit.core import Target, walk
from irkit.ir import (
    Add,
    Allocate,
    Buffer,
    For,
    Load,
    PrimFunc,
    Ramp,
    Store,
    as_int,
    interpret,
    is_const,
    verify,
)
from irkit.phases import DEFAULT
from irkit.runtime import compile_functions
from tests.draws import few_or_all


def conv_relu(
    channels: int, size: int, out: int, kernel: int, pad: int, stride: int, groups: int = 1
) -> PrimFunc:
    x = te.placeholder((1, channels * groups, size, size), name="x")
    w = te.placeholder((out * groups, channels, kernel, kernel), name="w")
    b = te.placeholder((out * groups,), name="b")
    y = topi.nn.conv(x, w, b, strides=(stride, stride), pads=(pad,) * 4, groups=groups)
    return te.create_prim_func([x, w, b, topi.nn.relu(y)])


def agree(before: PrimFunc, after: PrimFunc, *, native: PrimFunc | None = None) -> None:
    """Run both functions on small integers, where floats are exact."""
    rng = np.random.default_rng(0)
    arrays = []
    for param in before.params:
        assert isinstance(param, Buffer)
        shape = tuple(as_int(dim) or 0 for dim in param.shape)
        arrays.append(rng.integers(-3, 4, shape).astype(np.float32))
    found = [array.copy() for array in arrays]
    interpret(before, *arrays)
    interpret(after, *found)
    np.testing.assert_array_equal(found[-1], arrays[-1])
    if native is not None:
        fresh = [*arrays[:-1], np.zeros_like(arrays[-1])]
        compile_functions({"main": native}, Target())["main"](*fresh)
        np.testing.assert_array_equal(fresh[-1], arrays[-1])


@settings(max_examples=few_or_all(8, 20), deadline=None, derandomize=True)
@given(
    channels=st.integers(1, 3),
    size=st.integers(4, 9),
    out=st.sampled_from([1, 2, 3, 8, 17, 19]),
    kernel=st.integers(1, 3),
    pad=st.integers(0, 1),
    stride=st.integers(1, 2),
    groups=st.sampled_from([1, 1, 2, 3]),
)
def test_a_scheduled_convolution_computes_the_same(
    channels: int, size: int, out: int, kernel: int, pad: int, stride: int, groups: int
) -> None:
    func = conv_relu(channels, size, out, kernel, pad, stride, groups)
    scheduled = auto_schedule(func)
    assert verify(scheduled) == []
    agree(func, scheduled, native=DEFAULT.run(scheduled))


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
def test_the_accumulators_of_a_tile_are_a_small_local_buffer(vector_bytes: int) -> None:
    scheduled = auto_schedule(conv_relu(4, 20, 16, 3, 1, 1), Machine.with_vectors(vector_bytes))
    lowered = DEFAULT.run(scheduled)
    (tile,) = [a.buffer for a in walk(lowered, on=Allocate) if a.buffer.scope == "local"]
    registers = 32 if vector_bytes == 64 else 16
    assert registers // 2 < (as_int(tile.shape[0]) or 0) * 4 // vector_bytes < registers
    assert not any(loop.kind == "vectorized" for loop in walk(lowered, on=For))


@pytest.mark.parametrize(("narrow", "wide"), [("i8", "i32"), ("f16", "f32"), ("bf16", "f32")])
def test_a_product_of_narrow_numbers_has_the_tile_of_wide_ones(narrow: str, wide: str) -> None:
    tiles: list[int | None] = []
    for dtype in (narrow, wide):
        a, b = (te.placeholder((32, 32), dtype=dtype, name=name) for name in "ab")
        product = topi.matmul(a, b, out_dtype=wide)
        lowered = DEFAULT.run(auto_schedule(te.create_prim_func([a, b, product])))
        tiles += [as_int(a.buffer.shape[0]) for a in walk(lowered, on=Allocate)]
    assert tiles == [8 * 32] * 2


def test_a_pointwise_convolution_runs_over_whole_images() -> None:
    scheduled = auto_schedule(conv_relu(4, 13, 8, 1, 0, 1))
    assert any(as_int(loop.end) == 6 for loop in walk(scheduled, on=For)), "169 pixels, 32 a tile"
    agree(conv_relu(4, 13, 8, 1, 0, 1), scheduled)


@pytest.mark.parametrize("kernel", [1, 3])
def test_the_lanes_of_a_strided_convolution_read_neighbours(kernel: int) -> None:
    func = conv_relu(3, 41, 8, kernel, kernel // 2, 2)
    lowered = DEFAULT.run(auto_schedule(func))
    (tile,) = [a.buffer for a in walk(lowered, on=Allocate) if a.buffer.scope == "local"]
    sums = [s for s in walk(lowered, on=Store) if s.buffer is tile and isinstance(s.value, Add)]
    read = [load for store in sums for load in walk(store.value, on=Load)]
    wide = [load for load in read if load.dtype.lanes > 1]
    assert wide
    assert all(
        isinstance(at, Ramp) and is_const(at.stride, 1) for load in wide for at in load.indices
    )


def test_kernels_too_large_to_enumerate_are_scheduled() -> None:
    x = te.placeholder((1, 1 << 50), name="x")
    r = te.reduce_axis((0, 4), name="r")
    y = te.compute((1, 1 << 50), lambda i, j: te.sum(x[i, j] * (r + 1), axis=r), name="y")
    func = te.create_prim_func([x, y])
    scheduled = auto_schedule(func)
    assert scheduled is not func
    assert verify(scheduled) == []


@pytest.mark.parametrize(
    "build",
    [
        lambda x: topi.nn.max_pool(x, (3, 3), strides=(2, 2), pads=(1, 1, 1, 1)),
        lambda x: topi.nn.avg_pool(x, (2, 2), strides=(1, 1)),
        lambda x: topi.mean(x, (2, 3), keepdims=True),
        lambda x: topi.nn.relu(topi.transpose(x, (0, 2, 3, 1))),
        lambda x: topi.concatenate([x, topi.nn.relu(x)], 1),
    ],
    ids=["max_pool", "avg_pool", "mean", "transpose", "concat"],
)
def test_other_kernels_compute_the_same(build: Callable[[te.Tensor], te.Tensor]) -> None:
    x = te.placeholder((1, 3, 10, 17), name="x")
    func = te.create_prim_func([x, build(x)])
    scheduled = auto_schedule(func)
    assert verify(scheduled) == []
    agree(func, scheduled, native=DEFAULT.run(scheduled))
