"""3x3 convolutions in a blocked layout, by schedule primitives only.

Run it: ``python examples/schedules/conv.py 64 56``.
"""

import sys
import time
from typing import Any

import numpy as np

import irkit
from irkit import te
from irkit.core import substitute
from irkit.ir import I64, Buffer, PrimFunc, const

LANES = 16
Array = np.ndarray[Any, np.dtype[np.float32]]


def conv3x3(channels: int, size: int) -> PrimFunc:
    """Convolve an image with 3x3 filters, as many as it has channels.

    Channels are in groups of 16, the innermost dimension. ``X`` has a border of one element;
    ``Y`` is the inside of an array with such a border, so that it can be the next ``X``.
    Shapes: ``X`` [C/16, size + 2, size + 2, 16], ``W`` [C/32, C/16, 3, 3, 16, 32],
    ``Y`` [C/16, size, size, 16], f32.
    """
    groups, whole = channels // LANES, size + 2
    x = te.placeholder((groups, whole, whole, LANES), name="X")
    w = te.placeholder((groups // 2, groups, 3, 3, LANES, 2 * LANES), name="W")
    g = te.reduce_axis((0, groups), name="g")
    r = te.reduce_axis((0, 3), name="r")
    s = te.reduce_axis((0, 3), name="s")
    c = te.reduce_axis((0, LANES), name="c")
    y = te.compute(
        (groups, size, size, LANES),
        lambda k, h, v, lane: te.sum(
            x[g, h + r, v + s, c] * w[k // 2, g, r, s, c, k % 2 * LANES + lane], axis=[g, r, s, c]
        ),
        name="Y",
    )
    func = te.create_prim_func([x, w, y])
    out = func.params[-1]
    assert isinstance(out, Buffer)
    strides = tuple(const(n, I64) for n in (whole * whole * LANES, whole * LANES, LANES, 1))
    return substitute(func, {out: out.replace(strides=strides)})


def blocked(x: Array) -> Array:
    """Return an image in groups of channels, with a border of zeros.

    Shapes: [C, H, W] -> [C/16, H + 2, W + 2, 16].
    """
    c, h, w = x.shape
    grouped = x.reshape(c // LANES, LANES, h, w).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(np.pad(grouped, ((0, 0), (1, 1), (1, 1), (0, 0))))


def plain(y: Array) -> Array:
    """Return the image that :func:`blocked` has laid out. Shapes: [C/16, H + 2, W + 2, 16] ->
    [C, H, W]."""
    inside = y[:, 1:-1, 1:-1, :].transpose(0, 3, 1, 2)
    return np.ascontiguousarray(inside.reshape(-1, *inside.shape[2:]))


def filters(w: Array, *, width: int = 2 * LANES) -> Array:
    """Return filters in the order of their use. Shapes: [K, C, 3, 3] -> [K/32, C/16, 3, 3, 16,
    32]."""
    k, c = w.shape[:2]
    parts = w.reshape(k // width, width, c // LANES, LANES, 3, 3)
    return np.ascontiguousarray(parts.transpose(0, 2, 4, 5, 3, 1))


def schedule(func: PrimFunc, *, columns: int = 14, vectors: int = 2) -> irkit.Schedule:
    """Keep ``columns`` x ``vectors`` vectors of sums in registers until they are complete; a thread
    takes whole images."""
    sch = irkit.Schedule(func)
    block = sch.get_block("Y")
    k, h, v, lane, g, r, s, c = sch.get_loops(block)
    store = sch.cache_write(block, "local")
    ko, ki = sch.split(k, [None, vectors])
    vo, vi = sch.split(v, [None, columns])
    sch.reorder(ko, h, vo, g, r, s, c, vi, ki, lane)
    sch.reverse_compute_at(store, vo)
    init = sch.decompose_reduction(block, g)
    for name in (block, init, store):
        column, vector, last = sch.get_loops(name)[-3:]
        sch.unroll(column)
        sch.unroll(vector)
        sch.vectorize(last)
    sch.parallel(ko)
    return sch


def tile(size: int) -> int:
    """Return the number of columns of a tile: 14 or 7 if they divide the image."""
    return next((columns for columns in (14, 7) if size % columns == 0), 1)


def main(channels: int, size: int) -> None:
    """Print the schedule of a convolution, check it against NumPy, and time it."""
    sch = schedule(conv3x3(channels, size), columns=tile(size))
    print(sch.trace)
    kernel = irkit.build(sch.func)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((channels, size, size), dtype=np.float32)
    w = rng.standard_normal((channels, channels, 3, 3), dtype=np.float32)
    inner, packed, out = blocked(x), filters(w), blocked(np.zeros_like(x))
    times: list[float] = []
    for _ in range(10):
        start = time.perf_counter()
        kernel(inner, packed, out[:, 1:-1, 1:-1, :])
        times.append(time.perf_counter() - start)
    around = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(around, (3, 3), axis=(1, 2))
    wanted = np.tensordot(w, windows, axes=((1, 2, 3), (0, 3, 4)))
    np.testing.assert_allclose(plain(out), wanted, rtol=1e-3, atol=1e-2)
    speed = 2 * 9 * x.size * channels / min(times) / 1e9
    print(f"{channels} x {size} x {size}: as NumPy has it; {speed:.0f} GFLOP/s")


if __name__ == "__main__":
    main(*(int(each) for each in sys.argv[1:3]) if len(sys.argv) > 2 else (64, 56))
