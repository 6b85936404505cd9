"""What comes before a convolution on blocks of channels is computed part by part in its kernel."""

from typing import Any

import numpy as np
import pytest

import irkit
from irkit.autoschedule import Machine, automatic_schedule
from irkit.core import IRModule, walk
from irkit.graph import Builder, GraphFunc, interpret
from irkit.ir import Allocate, For, PrimFunc
from irkit.passes.graph import fuse_ops, lower_to_loops
from tests.draws import sampled

MACHINE = Machine(vector_bytes=32, vector_registers=16, l2=64 << 10)
LANES = 8


def convolution(seed: int) -> GraphFunc:
    """Draw a scale, a shift and a relu, some of them, before a convolution on blocks."""
    rng, b = np.random.default_rng(seed), Builder("main")

    def numbers(*shape: int) -> Any:
        return b.constant(rng.standard_normal(shape).astype(np.float32))

    blocks, filters = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    high, wide = int(rng.integers(4, 20)), int(rng.integers(4, 20))
    size, stride = int(rng.choice([1, 3])), int(rng.choice([1, 2]))
    before = int(rng.integers(0, size))
    x = b.param("x", (int(rng.integers(1, 3)), blocks, high, wide, LANES))
    y = b.op("multiply", x, numbers(blocks, 1, 1, LANES))
    y = b.op("add", y, numbers(blocks, 1, 1, LANES)) if rng.integers(2) else y
    y = b.op("relu", y) if rng.integers(2) else y
    w = numbers(filters, blocks, size, size, LANES, LANES)
    y = b.op("conv_blocked", y, w, pads=(before, before, before, 0), strides=(stride, stride))
    return b.finish(b.op("relu", y))


@pytest.mark.parametrize("seed", sampled(range(40), every=5))
def test_drawn_convolutions_give_what_numpy_gives_in_f64(seed: int) -> None:
    func = convolution(seed)
    x = np.random.default_rng(seed).standard_normal(
        [int(dim.value) for dim in func.params[0].type.shape]
    )
    wanted = np.asarray(interpret(func, [x.astype(np.float32)]), np.float64)
    model = irkit.compile(IRModule({"main": func}), machine=MACHINE)
    assert len(model.plan.calls) == 1
    (found,) = model.run({"x": x.astype(np.float32)}).values()
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4 * np.abs(wanted).max())


def kernel(func: GraphFunc) -> PrimFunc:
    module = lower_to_loops.using(schedule="none")(IRModule({"main": fuse_ops(func)}))
    (made,) = [each for each in module.functions.values() if isinstance(each, PrimFunc)]
    scheduled = automatic_schedule(made, MACHINE)
    assert scheduled is not None
    return scheduled.func


def test_a_part_is_computed_inside_the_loop_over_rows() -> None:
    b, rng = Builder("main"), np.random.default_rng(0)
    x = b.param("x", (1, 8, 64, 32, LANES))
    scale = b.constant(rng.standard_normal((8, 1, 1, LANES)).astype(np.float32))
    w = b.constant(rng.standard_normal((4, 8, 3, 3, LANES, LANES)).astype(np.float32))
    y = b.op("relu", b.op("multiply", x, scale))
    func = kernel(b.finish(b.op("conv_blocked", y, w, pads=(1, 1, 1, 1))))
    (rows,) = [loop for loop in walk(func.body, on=For) if loop.kind == "parallel"]
    assert "pad" in [each.buffer.name for each in walk(rows, on=Allocate)]
