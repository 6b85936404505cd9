"""Operators of topi that move elements, multiply matrices and slide windows: each applied to whole
numbers, with the same in NumPy."""

from typing import Any

import numpy as np

from irkit import topi
from irkit.fuzz.generators.operators.pointwise import POINTWISE, Draw, Found, Operand, Operands
from irkit.fuzz.generators.sample import Array
from irkit.ir import as_int

_INDICES = ("i64", "i32", "u8")
_DIVISIBLE = 12


def _matmul(o: Operands) -> Found:
    """Multiply matrices, perhaps transposed or in batches, or vectors."""
    x = o.axed()
    inner, at = x.shape[-1], x.array.shape[-1]
    flip_a = x.rank > 1 and bool(o.picks.below(2))
    if flip_a:
        inner, at = x.shape[-2], x.array.shape[-2]
    if o.picks.one_in(4):
        y, flip_b = o.input((inner,), _type(x)), False
    else:
        columns, flip_b = o.picks.pick((4, 3, 1)), bool(o.picks.below(2))
        lead = x.shape[:-2] if x.rank > 2 and o.picks.below(2) else ()
        tail = (columns, inner) if flip_b else (inner, columns)
        y = o.input((*lead, *tail), _type(x))
    given: dict[str, Any] = {"transpose_a": flip_a, "transpose_b": flip_b}
    if o.picks.one_in(3):
        given["out_dtype"] = "f32" if x.kind == "f" else "i64"
    left = np.swapaxes(x.wide, -1, -2) if flip_a else x.wide
    right = np.swapaxes(y.wide, -1, -2) if flip_b else y.wide
    assert at == left.shape[-1]
    return topi.matmul(x.tensor, y.tensor, **given), left @ right


def _type(x: Operand) -> str:
    return str(x.tensor.dtype)


def _dense(o: Operands) -> Found:
    x, units = o.axed(), o.picks.pick((3, 4, 1))
    w = o.input((units, x.shape[-1]), _type(x))
    if o.picks.below(2):
        return topi.dense(x.tensor, w.tensor), x.wide @ w.wide.T
    bias = o.input((units,), _type(x))
    return topi.dense(x.tensor, w.tensor, bias.tensor), x.wide @ w.wide.T + bias.wide


def _gemm(o: Operands) -> Found:
    a, n = o.number(2), o.picks.pick((3, 4, 1))
    ta, tb = bool(o.picks.below(2)), bool(o.picks.below(2))
    inner = a.shape[0] if ta else a.shape[1]
    b = o.input((n, inner) if tb else (inner, n), _type(a))
    left, right = a.wide.T if ta else a.wide, b.wide.T if tb else b.wide
    product = left @ right
    given: dict[str, Any] = {"transpose_a": ta, "transpose_b": tb}
    floats = a.kind == "f"
    if floats and o.picks.below(2):
        given["alpha"], product = 2.0, product * 2
    if o.picks.one_in(3):
        return topi.gemm(a.tensor, b.tensor, **given), product
    c = o.input((n,) if o.picks.below(2) else (1, n), _type(a))
    beta = o.picks.pick((1.0, 3.0, 0.0)) if floats else 1.0
    found = topi.gemm(a.tensor, b.tensor, c.tensor, beta=beta, **given)
    return found, product + beta * c.wide if floats else product + c.wide


def _flatten(o: Operands) -> Found:
    x = o.axed()
    axis = o.picks.below(x.rank + 1)
    rows = int(np.prod(x.array.shape[:axis]))
    return topi.flatten(x.tensor, axis), x.wide.reshape(rows, -1)


def _reshape(o: Operands) -> Found:
    """Reshape; one extent can be inferred."""
    x = o.axed()
    if any(as_int(dim) is None for dim in x.shape):
        shape: tuple[int, ...] = (-1,)
    else:
        factor = o.picks.pick([n for n in (1, 2, 3, 4) if x.array.size % n == 0])
        rest = x.array.size // factor
        forms = ((factor, -1), (-1, factor), (-1,), (1, -1, factor), (rest, factor))
        shape = o.picks.pick(forms)
    return topi.reshape(x.tensor, shape), x.wide.reshape(shape)


def _transpose(o: Operands) -> Found:
    x = o.axed()
    if o.picks.below(2):
        return topi.transpose(x.tensor), x.wide.T
    order = [at - x.rank if o.picks.one_in(3) else at for at in o.rng.permutation(x.rank).tolist()]
    return topi.transpose(x.tensor, order), x.wide.transpose(order)


def _expand_dims(o: Operands) -> Found:
    x = o.number()
    axes: Any = o.picks.pick((0, -1, (0, -1), (0, 1)) if x.rank else (0, -1))
    return topi.expand_dims(x.tensor, axes), np.expand_dims(x.wide, axes)


def _squeeze(o: Operands) -> Found:
    x = o.number()
    ones = [at for at, dim in enumerate(x.shape) if as_int(dim) == 1]
    axes = o.picks.pick(ones) if ones and o.picks.below(2) else None
    wanted = tuple(ones) if axes is None else axes
    return topi.squeeze(x.tensor, axes), np.squeeze(x.wide, wanted)


def _concatenate(o: Operands) -> Found:
    x = o.axed()
    axis, parts = o.picks.below(x.rank), [x]
    for _ in range(o.picks.below(3)):
        shape = [1 + o.picks.below(2) if at == axis else dim for at, dim in enumerate(x.shape)]
        parts.append(o.input(shape, _type(x)))
    joined = np.concatenate([each.wide for each in parts], axis)
    given = axis - x.rank if o.picks.one_in(3) else axis
    return topi.concatenate([each.tensor for each in parts], given), joined


def _pad(o: Operands) -> Found:
    """Pad with a value, or crop."""
    x = o.axed()
    widths = [[o.picks.pick((1, 0, 2, -1)) for _ in range(x.rank)] for _ in range(2)]
    for at, size in enumerate(x.array.shape):
        if as_int(x.shape[at]) is None or widths[0][at] + widths[1][at] + size < 1:
            widths[0][at], widths[1][at] = abs(widths[0][at]), abs(widths[1][at])
    value = o.picks.below(3)
    grown = np.pad(
        x.wide,
        [(max(low, 0), max(high, 0)) for low, high in zip(*widths, strict=True)],
        constant_values=value,
    )
    kept = tuple(
        slice(max(-low, 0), size - max(-high, 0))
        for low, high, size in zip(*widths, grown.shape, strict=True)
    )
    return topi.pad(x.tensor, widths[0], widths[1], value), grown[kept]


def _strided_slice(o: Operands) -> Found:
    """Slice as Python does: from either end, beyond it, backwards, or up to the end."""
    x = o.axed()
    axes = sorted(o.picks.some(range(x.rank), x.rank))
    begins = [o.picks.pick((0, 1, -1, -2, 9)) for _ in axes]
    ends = [o.picks.pick((None, 2, -1, 9, -9)) for _ in axes]
    steps = [o.picks.pick((1, 2, -1, -2)) for _ in axes]
    slices = [slice(None)] * x.rank
    for at, begin, end, step in zip(axes, begins, ends, steps, strict=True):
        slices[at] = slice(begin, end, step)
    given: dict[str, Any] = {} if axes == list(range(len(axes))) else {"axes": axes}
    found = topi.strided_slice(x.tensor, begins, ends, steps, **given)
    return found, x.wide[tuple(slices)]


def _split(o: Operands) -> list[Found] | None:
    x = o.axed()
    axis = o.picks.below(x.rank)
    size = as_int(x.shape[axis])
    if size is None:
        return None
    first = o.picks.below(size + 1)
    sizes = (first, size - first) if o.picks.below(2) else (size - first, 0, first)
    ends = np.cumsum(sizes)[:-1].tolist()
    pieces = np.split(x.wide, ends, axis)
    return list(zip(topi.split(x.tensor, sizes, axis), pieces, strict=True))


def _places(o: Operands, shape: Any, size: int) -> Operand:
    """Make indices into an axis; signed ones can count from its end."""
    dtype = o.picks.pick(_INDICES)
    return o.input(shape, dtype, -size, size - 1)


def _take(o: Operands) -> Found:
    """Take slices by indices of any number of axes."""
    x = o.axed()
    axis = o.picks.below(x.rank)
    where = _places(o, o.picks.pick(((3,), (2, 2), ())), x.array.shape[axis])
    given = axis - x.rank if o.picks.one_in(3) else axis
    return topi.take(x.tensor, where.tensor, given), np.take(x.wide, where.wide, axis)


def _gather(o: Operands) -> Found:
    x = o.axed()
    axis = o.picks.below(x.rank)
    shape = [o.picks.pick((2, 3, 1)) if at == axis else dim for at, dim in enumerate(x.shape)]
    where = _places(o, shape, x.array.shape[axis])
    places = np.where(where.wide < 0, where.wide + x.array.shape[axis], where.wide)
    found = np.take_along_axis(x.wide, places, axis)
    return topi.gather(x.tensor, where.tensor, axis), found


def _image(o: Operands, *, times: int = 1) -> Operand:
    """Make a signal or an image."""
    spatial = [o.picks.pick((3, 2, 4)) for _ in range(1 + o.picks.below(2))]
    dtype = o.picks.pick(("f32", "i32", "f16") if times == 1 else ("f32", "f64"))
    return o.input((*o.shape(2), *spatial), dtype, times=times)


def _windows(array: Array, kernel: list[int], strides: list[int]) -> Array:
    """List the windows of the spatial axes, their elements along the last axis."""
    axes = tuple(range(2, array.ndim))
    every = np.lib.stride_tricks.sliding_window_view(array, kernel, axes)
    kept = every[(slice(None), slice(None), *(slice(None, None, step) for step in strides))]
    return kept.reshape(*kept.shape[: array.ndim], -1)


def _conv(o: Operands) -> Found:
    """Convolve, also with strides greater than filters of one element, or into a wider type."""
    x = _image(o)
    kernel = [1 if o.picks.below(2) else min(2, n) for n in x.array.shape[2:]]
    strides, filters = [1 + o.picks.below(2) for _ in kernel], o.picks.pick((2, 1, 3))
    w = o.input((filters, x.shape[1], *kernel), _type(x))
    pads = [o.picks.below(2) for _ in (*kernel, *kernel)]
    around = [(0, 0), (0, 0), *zip(pads[: len(kernel)], pads[len(kernel) :], strict=True)]
    windows = _windows(np.pad(x.wide, around), kernel, strides)
    found = np.einsum("nc...k,fck->nf...", windows, w.wide.reshape(*w.array.shape[:2], -1))
    given: dict[str, Any] = {"strides": strides, "pads": pads}
    if o.picks.one_in(3):
        given["out_dtype"] = "f32" if x.kind == "f" else "i64"
    if o.picks.below(2):
        bias = o.input((filters,), str(given.get("out_dtype", _type(x))))
        found = found + bias.wide.reshape(-1, *(1,) * len(kernel))
        return topi.conv(x.tensor, w.tensor, bias.tensor, **given), found
    return topi.conv(x.tensor, w.tensor, **given), found


def _max_pool(o: Operands) -> Found:
    x = _image(o)
    kernel, strides = [2] * (x.rank - 2), [1 + o.picks.below(2) for _ in range(x.rank - 2)]
    found = _windows(x.wide, kernel, strides).max(-1)
    return topi.max_pool(x.tensor, kernel, strides=strides), found


def _avg_pool(o: Operands) -> Found:
    x = _image(o, times=_DIVISIBLE)
    kernel, strides = [2] * (x.rank - 2), [1 + o.picks.below(2) for _ in range(x.rank - 2)]
    found = _windows(x.wide, kernel, strides).mean(-1)
    return topi.avg_pool(x.tensor, kernel, strides=strides), found


def _global_avg_pool(o: Operands) -> Found:
    x = o.input((*o.shape(2), *o.picks.pick(((2,), (2, 3), (4,), (2, 2)))), "f32", times=_DIVISIBLE)
    axes = tuple(range(2, x.rank))
    return topi.global_avg_pool(x.tensor), x.wide.mean(axes, keepdims=True)


def _global_max_pool(o: Operands) -> Found:
    x = _image(o)
    return topi.global_max_pool(x.tensor), x.wide.max(tuple(range(2, x.rank)), keepdims=True)


def _batch_norm(o: Operands) -> Found:
    """Normalise along any axis, with variances whose roots are whole."""
    x = o.input(o.shape(2 + o.picks.below(2)), o.picks.pick(("f32", "f64")))
    axis, dtype = o.picks.below(x.rank), _type(x)
    channels = (x.shape[axis],)
    scale, mean = o.input(channels, dtype, times=2), o.input(channels, dtype)
    bias = o.input(channels, dtype)
    squares = o.rng.choice((1, 4), mean.array.shape).astype(mean.array.dtype)
    variance = o.param(channels, squares)
    form = [-1 if at == axis else 1 for at in range(x.rank)]
    s, b, m, v = (each.wide.reshape(form) for each in (scale, bias, mean, variance))
    tensors = [each.tensor for each in (x, scale, bias, mean, variance)]
    return topi.batch_norm(*tensors, epsilon=0.0, axis=axis), (x.wide - m) * s / np.sqrt(v) + b


OPERATORS: dict[str, Draw] = {
    **POINTWISE,
    **{"matmul": _matmul, "dense": _dense, "gemm": _gemm, "flatten": _flatten},
    **{"reshape": _reshape, "transpose": _transpose, "expand_dims": _expand_dims},
    **{"squeeze": _squeeze, "concatenate": _concatenate, "pad": _pad, "split": _split},
    **{"strided_slice": _strided_slice, "take": _take, "gather": _gather, "conv": _conv},
    **{"max_pool": _max_pool, "avg_pool": _avg_pool, "batch_norm": _batch_norm},
    **{"global_avg_pool": _global_avg_pool, "global_max_pool": _global_max_pool},
}
"""The function that applies each operator of topi."""
