"""Arguments of PyTorch's operators whose shapes have to fit."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irkit.fuzz.judge.subsystems.torch_operands import DTYPES, TorchOperands, TorchPlace, torch


def _refused(p: TorchOperands) -> Sequence[Any]:
    raise TypeError("it changes its arguments")


def _mm(p: TorchOperands) -> Sequence[Any]:
    m, k, n = p.size(), p.size(), p.size()
    return p.floats(m, k), p.floats(k, n)


def _addmm(p: TorchOperands) -> Sequence[Any]:
    m, k, n = p.size(), p.size(), p.size()
    return p.floats(*p.picks.pick(((m, n), (n,), (1, n)))), p.floats(m, k), p.floats(k, n)


def _bmm(p: TorchOperands) -> Sequence[Any]:
    b, m, k, n = p.size(), p.size(), p.size(), p.size()
    return p.floats(b, m, k), p.floats(b, k, n)


def _baddbmm(p: TorchOperands) -> Sequence[Any]:
    b, m, k, n = p.size(), p.size(), p.size(), p.size()
    return (
        p.floats(*p.picks.pick(((b, m, n), (m, n), (1, m, 1)))),
        p.floats(b, m, k),
        p.floats(b, k, n),
    )


def _mv(p: TorchOperands) -> Sequence[Any]:
    m, k = p.size(), p.size()
    return p.floats(m, k), p.floats(k)


def _dot(p: TorchOperands) -> Sequence[Any]:
    k = p.size()
    return p.floats(k), p.floats(k)


def _convolution(p: TorchOperands) -> Sequence[Any]:
    picks, rank, groups = p.picks, p.picks.pick((2, 1, 2, 3)), p.picks.pick((1, 1, 2))
    inner, outer = p.size(), p.size() * groups
    kernel = [picks.pick((3, 1, 2)) for _ in range(rank)]
    extents = [size + picks.below(5) for size in kernel]
    transposed = picks.one_in(4)
    x = p.floats(picks.pick((1, 2)), inner * groups, *extents)
    weight = (inner * groups, outer // groups) if transposed else (outer, inner)
    w = p.floats(*weight, *kernel)
    bias = p.floats(outer) if picks.below(2) else None
    three = [
        [picks.pick(among) for _ in range(rank)] for among in ((1, 2, 3), (0, 1, 2), (1, 1, 2))
    ]
    more = [picks.below(step) if transposed else 0 for step in three[0]]
    return x, w, bias, *three, transposed, more, groups


def _max_pool(rank: int) -> Callable[[TorchOperands], Sequence[Any]]:
    def draw(p: TorchOperands) -> Sequence[Any]:
        p.several = True
        x, window = _window(p, rank)
        return x, *window, [p.picks.pick((1, 1, 2)) for _ in range(rank)], bool(p.picks.below(2))

    return draw


def _avg_pool(rank: int) -> Callable[[TorchOperands], Sequence[Any]]:
    def draw(p: TorchOperands) -> Sequence[Any]:
        x, window = _window(p, rank)
        flags = bool(p.picks.below(2)), bool(p.picks.below(2))
        divisor = [p.picks.pick((None, None, 3))] if rank > 1 else []
        return x, *window, *flags, *divisor

    return draw


def _adaptive(rank: int) -> Callable[[TorchOperands], Sequence[Any]]:
    def draw(p: TorchOperands) -> Sequence[Any]:
        lead = p.picks.pick(((1, 2), (2, 1), (3,)))
        return p.floats(*lead, *(p.size() for _ in range(rank))), [p.size() for _ in range(rank)]

    return draw


def _window(p: TorchOperands, rank: int) -> tuple[TorchPlace, list[list[int]]]:
    picks = p.picks
    kernel = [picks.pick((2, 3, 1)) for _ in range(rank)]
    x = p.floats(
        *picks.pick(((1, 2), (2, 1), (3,))), *(size + 2 + picks.below(4) for size in kernel)
    )
    stride = [picks.pick((2, 1, 3)) for _ in range(rank)]
    return x, [kernel, stride, [picks.below(size // 2 + 1) for size in kernel]]


def _layer_norm(p: TorchOperands) -> Sequence[Any]:
    shape = [p.size() for _ in range(2 + p.picks.below(2))]
    normal = shape[1 + p.picks.below(len(shape) - 1) :]
    scales = [p.floats(*normal) if p.picks.below(3) else None for _ in range(2)]
    return p.floats(*shape), normal, *scales, 1e-5


def _group_norm(p: TorchOperands) -> Sequence[Any]:
    groups, n, size = p.picks.pick((1, 2, 3)), p.size(), p.size()
    c = groups * p.size()
    scales = [p.floats(c) if p.picks.below(3) else None for _ in range(2)]
    return p.floats(n, c, size), *scales, n, c, size, groups, 1e-5


def _batch_statistics(p: TorchOperands) -> Sequence[Any]:
    c = p.size()
    scales = [p.floats(c) if p.picks.below(3) else None for _ in range(2)]
    return p.floats(1 + p.size(), c, p.size()), *scales, True, 0.1, 1e-5


def _batch_norm(p: TorchOperands) -> Sequence[Any]:
    n, c, size = p.size(), p.size(), p.size()
    four = [p.floats(c), p.floats(c), p.floats(c), p.tensor((c,), "float32", low=1)]
    return p.floats(n, c, size), *four, 0.1, 1e-5


def _embedding(p: TorchOperands) -> Sequence[Any]:
    shape = p.picks.pick(((2, 3), (4,), ()))
    return p.floats(2 + p.size(), p.size()), p.tensor(shape, "int64", high=2)


def _axis_and_index(p: TorchOperands) -> tuple[list[int], int, TorchPlace]:
    shape = [p.size() for _ in range(1 + p.picks.below(3))]
    axis = p.picks.below(len(shape))
    index = [min(size, p.size()) if at != axis else p.size() for at, size in enumerate(shape)]
    numbers = np.random.default_rng(p.picks.below(1 << 16)).integers(0, shape[axis], index)
    p.values.append(torch().tensor(numbers))
    return shape, axis, TorchPlace(len(p.values) - 1)


def _gather(p: TorchOperands) -> Sequence[Any]:
    shape, axis, index = _axis_and_index(p)
    return p.tensor(shape, p.picks.pick(DTYPES)), p.picks.pick((axis, axis - len(shape))), index


def _scatter_add(p: TorchOperands) -> Sequence[Any]:
    shape, axis, index = _axis_and_index(p)
    return p.floats(*shape), axis, index, p.floats(*p.values[index.at].shape)


def _scatter_reduce(p: TorchOperands) -> Sequence[Any]:
    how = p.picks.pick(("sum", "prod", "amax", "amin", "mean"))
    return *_scatter_add(p), how


def _index_select(p: TorchOperands) -> Sequence[Any]:
    shape = [p.size() for _ in range(1 + p.picks.below(3))]
    axis = p.picks.below(len(shape))
    numbers = np.random.default_rng(p.picks.below(1 << 16)).integers(0, shape[axis], p.size())
    p.values.append(torch().tensor(numbers))
    index = TorchPlace(len(p.values) - 1)
    return p.tensor(shape, p.picks.pick(DTYPES)), axis, index


def _index_put(p: TorchOperands) -> Sequence[Any]:
    rows, width = p.size(), p.size()
    numbers = np.random.default_rng(p.picks.below(1 << 16)).permutation(rows)[: p.size()]
    p.values.append(torch().tensor(numbers))
    index = TorchPlace(len(p.values) - 1)
    shape = p.picks.pick(((len(numbers), width), (width,), ()))
    return p.floats(rows, width), [index], p.floats(*shape), bool(p.picks.below(2))


def _reshape(p: TorchOperands) -> Sequence[Any]:
    a, b, c = p.size(), p.size(), p.size()
    ways = ([a * b, c], [-1, c], [a, b * c], [a * b * c], [c, -1, a], [1, a * b, c, 1])
    return p.tensor((a, b, c), p.picks.pick(DTYPES)), p.picks.pick(ways)


def _expand(p: TorchOperands) -> Sequence[Any]:
    a, b = p.size(), p.size()
    ways = ([a, b], [-1, b], [2, a, b], [3, -1, b])
    return p.tensor((a, 1), p.picks.pick(DTYPES)), p.picks.pick(ways)


def _split(p: TorchOperands) -> Sequence[Any]:
    a, b = p.size(), p.size()
    return (
        p.tensor((a, b), p.picks.pick(DTYPES)),
        p.picks.pick((1, 2, 3)),
        p.picks.pick((0, 1, -1)),
    )


def _split_sizes(p: TorchOperands) -> Sequence[Any]:
    a, b, c = p.size(), p.size(), p.size()
    x = p.tensor((a + b, c), p.picks.pick(DTYPES))
    return x, [a, b], p.picks.pick((0, -2))


def _slice(p: TorchOperands) -> Sequence[Any]:
    shape = p.picks.pick(((5, 3), (7,), (2, 3, 4)))
    ends = (None, 0, 1, -1, 2, 100, -100, -2)
    axis, step = p.picks.below(len(shape)), p.picks.pick((1, 2, 3))
    x = p.tensor(shape, p.picks.pick(DTYPES))
    return x, axis, p.picks.pick(ends), p.picks.pick(ends), step


def _slice_scatter(p: TorchOperands) -> Sequence[Any]:
    rows, begin, step = 5 + p.size(), p.picks.below(3), p.picks.pick((1, 2))
    end = begin + 1 + p.picks.below(4)
    count = len(range(begin, end, step))
    x = p.tensor((rows, 3), "float32")
    return x, p.tensor((count, 3), "float32"), 0, begin, end, step


def _select_scatter(p: TorchOperands) -> Sequence[Any]:
    a, b = p.size(), p.size()
    return p.floats(a, b), p.floats(a), 1, p.picks.between(-b, b - 1)


def _cat(p: TorchOperands) -> Sequence[Any]:
    shape, axis = [p.size(), p.size()], p.picks.below(2)
    parts = list[TorchPlace]()
    dtype = p.picks.pick(DTYPES)
    for _ in range(1 + p.picks.below(3)):
        shape[axis] = p.picks.pick((2, 1, 3, 0))
        parts.append(p.tensor(shape, p.picks.pick((dtype, dtype, "float32"))))
    return parts, p.picks.pick((axis, axis - 2))


def _padded(rank: int) -> Callable[[TorchOperands], Sequence[Any]]:
    def draw(p: TorchOperands) -> Sequence[Any]:
        lead = p.picks.pick(((2,), (1, 2)))
        pads = [p.picks.below(3) for _ in range(2 * rank)]
        return p.floats(*lead, *(3 + p.picks.below(3) for _ in range(rank))), pads

    return draw


def _constant_pad(p: TorchOperands) -> Sequence[Any]:
    shape = [2 + p.size(), 2 + p.size()]
    pads = [p.picks.between(-1, 2) for _ in range(p.picks.pick((2, 4)))]
    return p.floats(*shape), pads, p.picks.pick((0, 1.5, -2))


def _upsample(p: TorchOperands) -> Sequence[Any]:
    return p.floats(1, p.size(), p.size(), p.size()), [p.size() * 2, p.size() + 1]


def _bilinear(p: TorchOperands) -> Sequence[Any]:
    return *_upsample(p), bool(p.picks.below(2))


def _softmax(p: TorchOperands) -> Sequence[Any]:
    shape = [p.size() for _ in range(1 + p.picks.below(3))]
    return p.floats(*shape), p.picks.between(-len(shape), len(shape) - 1), False


def _permute(p: TorchOperands) -> Sequence[Any]:
    shape = [p.size() for _ in range(1 + p.picks.below(4))]
    axes = list(range(len(shape)))
    order = [axes.pop(p.picks.below(len(axes))) for _ in shape]
    turned = [axis - len(shape) if p.picks.one_in(3) else axis for axis in order]
    return p.tensor(shape, p.picks.pick(DTYPES)), turned


def _topk(p: TorchOperands) -> Sequence[Any]:
    shape = [2 + p.size(), 2 + p.size()]
    axis = p.picks.pick((1, 0, -1))
    flags = bool(p.picks.below(2)), True
    return p.tensor(shape, "float32"), 1 + p.picks.below(3), axis, *flags


ARGUMENTS: dict[str, Callable[[TorchOperands], Sequence[Any]]] = {
    "mm": _mm, "matmul": _mm, "addmm": _addmm, "bmm": _bmm, "baddbmm": _baddbmm, "mv": _mv,
    "dot": _dot, "convolution": _convolution, "max_pool2d_with_indices": _max_pool(2),
    "max_pool3d_with_indices": _max_pool(3), "avg_pool1d": _avg_pool(1),
    "avg_pool2d": _avg_pool(2), "avg_pool3d": _avg_pool(3), "native_layer_norm": _layer_norm,
    "native_group_norm": _group_norm, "_native_batch_norm_legit_no_training": _batch_norm,
    "_native_batch_norm_legit.no_stats": _batch_statistics,
    "_native_batch_norm_legit.default": _refused,
    "adaptive_avg_pool1d": _adaptive(1),
    "_adaptive_avg_pool2d": _adaptive(2), "_adaptive_avg_pool3d": _adaptive(3),
    "embedding": _embedding, "gather": _gather, "scatter_add": _scatter_add,
    "scatter_reduce": _scatter_reduce, "index_select": _index_select, "index_put": _index_put,
    "_unsafe_index_put": _index_put, "view": _reshape, "reshape": _reshape, "expand": _expand,
    "_unsafe_view": _reshape, "split.Tensor": _split, "split.sizes": _split_sizes,
    "split_with_sizes": _split_sizes, "slice": _slice,
    "slice_scatter": _slice_scatter, "select_scatter": _select_scatter, "cat": _cat,
    "reflection_pad1d": _padded(1), "reflection_pad2d": _padded(2), "reflection_pad3d": _padded(3),
    "replication_pad1d": _padded(1), "replication_pad2d": _padded(2),
    "replication_pad3d": _padded(3), "constant_pad_nd": _constant_pad,
    "upsample_nearest2d": _upsample, "upsample_bilinear2d": _bilinear, "_softmax": _softmax,
    "_log_softmax": _softmax, "permute": _permute, "topk": _topk,
}  # fmt: skip
"""Arguments of operators whose shapes have to fit."""
