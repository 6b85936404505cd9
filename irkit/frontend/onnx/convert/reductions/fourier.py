"""Fourier transforms, as products with matrices of cosines and sines."""

import math

import numpy as np

from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.graph import Value


def dft(node: OnnxNode) -> Value:
    """Transform along an axis; the last axis holds real and imaginary parts, or only real ones.

    Source: DFT-17 (the axis is an attribute), DFT-20.
    """
    x = node.input(0)
    rank = node.rank(x)
    if node.version < 20:
        axis = node.integer("axis", 1)
    else:
        given = node.ints(2, "axis")
        axis = -2 if given is None or not given else given[0]
    axis = node.axis(axis, rank)
    if axis == rank - 1:
        raise node.fail("the last axis holds real and imaginary parts")
    length = node.ints(1, "length")
    count = node.shape(x)[axis] if not length else length[0]
    onesided, inverse = bool(node.integer("onesided", 0)), bool(node.integer("inverse", 0))
    if count < 1:
        raise node.fail(f"a transform of length {count}")
    if onesided and inverse:
        return _real_inverse(node, x, axis, count, bool(length))
    x = _fitted(node, x, axis, count)
    bins = count // 2 + 1 if onesided else count
    return _transformed(node, x, axis, bins, inverse)


def _real_inverse(node: OnnxNode, x: Value, axis: int, count: int, given: bool) -> Value:
    """Return the real signal of the first half of its spectrum."""
    bins = node.shape(x)[axis]
    size = count if given else 2 * (bins - 1)
    if size < 1:
        raise node.fail(f"a transform of length {size}")
    half = _fitted(node, x, axis, size // 2 + 1)
    places = np.arange(size)
    mirrored = np.minimum(places, size - places)
    whole = node.op("take", half, node.constant(mirrored), axis=axis)
    tail = (1,) * (node.rank(x) - axis - 1)
    signs = np.where(places <= size // 2, 1.0, -1.0).reshape(size, *tail)
    both = np.concatenate([np.ones_like(signs), signs], axis=-1)
    turned = node.op("multiply", whole, node.constant(both.astype(node.numpy_type(x))))
    found = _transformed(node, turned, axis, size, True)
    last = node.rank(x) - 1
    return node.op("slice", found, begins=(0,), ends=(1,), strides=(1,), axes=(last,))


def _fitted(node: OnnxNode, x: Value, axis: int, count: int) -> Value:
    rank = node.rank(x)
    pads = [0] * 2 * rank
    pads[rank + axis] = count - node.shape(x)[axis]
    whole = list(node.shape(x))
    whole[axis] = count
    node.check_size(whole)
    return node.op("pad", x, pads=tuple(pads), value=0.0)


def _transformed(node: OnnxNode, x: Value, axis: int, bins: int, inverse: bool) -> Value:
    rank, parts = node.rank(x), node.shape(x)[-1]
    count = node.shape(x)[axis]
    if parts not in (1, 2):
        raise node.fail(f"the last axis must hold 1 or 2 numbers, found {parts}")
    node.check_size((count, bins, 4))
    angles = (np.outer(np.arange(count), np.arange(bins)) % count) * (2 * math.pi / count)
    scale = 1 / count if inverse else 1.0
    cosine, sine = np.cos(angles) * scale, np.sin(angles) * (scale if inverse else -scale)
    # Rows are the parts of each element of the signal, columns those of each bin.
    rows = [[cosine, sine], [-sine, cosine]][:parts]
    matrix = np.stack([np.stack(row, axis=-1) for row in rows], axis=1)
    order = [at for at in range(rank) if at != axis and at != rank - 1]
    lead = tuple(node.shape(x)[at] for at in order)
    flat = node.op("transpose", x, axes=(*order, axis, rank - 1))
    flat = node.op("reshape", flat, shape=(math.prod(lead), count * parts))
    weights = node.constant(matrix.reshape(count * parts, bins * 2).astype(node.numpy_type(x)))
    found = node.op("reshape", node.op("matmul", flat, weights), shape=(*lead, bins, 2))
    back = [(*order, axis, rank - 1).index(at) for at in range(rank)]
    return node.op("transpose", found, axes=tuple(back))


def stft(node: OnnxNode) -> Value:
    """Transform overlapping frames of a signal.

    Shapes: signal [batch, length, 1 or 2] -> [batch, frames, bins, 2].
    Source: STFT-17.
    """
    signal, window = node.input(0), node.optional(2)
    step, length = node.ints(1, "frame step"), node.ints(3, "frame length")
    if node.rank(signal) == 2:
        signal = node.op("reshape", signal, shape=(*node.shape(signal), 1))
    _, extent, parts = node.shape(signal)
    size = length[0] if length else node.shape(window)[0] if window is not None else 0
    if not step or step[0] < 1 or not 1 <= size <= extent:
        raise node.fail(f"frames of {size}, {step} apart, of a signal of {extent}")
    frames = (extent - size) // step[0] + 1
    node.check_size((frames, size, parts))
    places = np.arange(frames)[:, None] * step[0] + np.arange(size)
    cut = node.op("take", signal, node.constant(places), axis=1)
    if window is not None:
        cut = node.op("multiply", cut, node.op("reshape", window, shape=(-1, 1)))
    bins = size // 2 + 1 if node.integer("onesided", 1) else size
    return _transformed(node, cut, 2, bins, False)
