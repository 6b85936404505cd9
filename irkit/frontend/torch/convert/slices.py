"""Operators that take a part of a tensor, whose bounds can be computed from dimensions."""

from collections.abc import Sequence
from itertools import accumulate

from irkit.core import equal
from irkit.frontend.sizes import AxisWindow, Dim, add, settled, sliced, subtract, window_kernel
from irkit.frontend.torch.aten_node import LEAST, AtenNode, Convert, apply
from irkit.graph import TensorExpr
from irkit.ir import Assert, Expr, bounds, index, le, logical_and

_MOST = (1 << 63) - 1


def cut(
    node: AtenNode, x: TensorExpr, axis: int, begin: Dim, end: Dim, step: int = 1
) -> TensorExpr:
    """Take a slice along an axis, as Python defines it."""
    dims = node.dims(x)
    if begin == 0 and step == 1 and (end == _MOST or equal(index(end), index(dims[axis]))):
        return x
    if isinstance(begin, int) and isinstance(end, int) and isinstance(dims[axis], int):
        return apply("slice", x, begins=(begin,), ends=(end,), strides=(step,), axes=(axis,))
    window = _window(node, begin, end, step, dims[axis], axis)
    if window.begin == 0 and step == 1 and equal(index(window.count), index(dims[axis])):
        return x
    return _taken(
        node, x, [AxisWindow(0, dim) if at != axis else window for at, dim in enumerate(dims)]
    )


def _window(node: AtenNode, begin: Dim, end: Dim, step: int, extent: Dim, axis: int) -> AxisWindow:
    """Return what a slice takes, as it is within the ranges that PyTorch has."""
    found = [sliced(begin, end, step, extent, node.source.ranges(least)) for least in LEAST]
    widest, wanted = found[0], found[-1]
    least = next(at for at, each in zip(LEAST, found, strict=True) if _same(each, wanted))
    for size in (widest.begin, widest.count):
        node.source.restrict(size, least)
    return AxisWindow(wanted.begin, node.declared_or(wanted.count, axis), step)


def _same(a: AxisWindow, b: AxisWindow) -> bool:
    pairs = ((a.begin, b.begin), (a.count, b.count))
    return all(equal(index(one), index(other)) for one, other in pairs)


def _taken(
    node: AtenNode, x: TensorExpr, windows: Sequence[AxisWindow], checks: Sequence[Assert] = ()
) -> TensorExpr:
    """Take windows, if the checks hold in a call."""
    sizes = [size for each in windows for size in (each.begin, each.count)]
    likes = [each for each in node.likes(*sizes) if each is not x]
    kinds = [each.type for each in likes]
    func, kind = window_kernel(x.type, windows, kinds, node.span, checks=checks)
    return node.source.kernel(func, [x, *likes], kind, node.span)


def _inside(node: AtenNode, window: AxisWindow, extent: Dim, axis: int) -> list[Assert]:
    """Return what PyTorch checks: that a window lies within an axis; nothing if that is known."""
    begin, end = window.begin, add(window.begin, window.count)
    message = f"takes elements from {{}} to before {{}} of dimension {axis}, which has {{}}"
    return _checked(node, [(0, begin), (end, extent)], message, [begin, end, extent])


def _checked(
    node: AtenNode, pairs: Sequence[tuple[Dim, Dim]], message: str, values: Sequence[Dim]
) -> list[Assert]:
    """Return the check that the first size of each pair is at most the second; nothing if that is
    known."""
    rooms = [subtract(most, least) for least, most in pairs]
    for least in LEAST:
        ranges = node.source.ranges(least)
        lows = [bounds(index(settled(each, ranges)), ranges).low for each in rooms]
        if all(low is not None and low >= 0 for low in lows):
            for each in rooms:
                node.source.restrict(each, least)
            return []
    holds = logical_and(*[le(index(one), index(other)) for one, other in pairs])
    named = f"{node.node.name!r}, a {node.node.target}, {message}"
    return [Assert(holds, named, tuple(map(index, values)), span=node.span)]


def _slice(node: AtenNode) -> TensorExpr:
    x = node.tensor(0)
    axis, step = node.axis(1, "dim", x.rank, 0), node.whole(4, "step", 1)
    return cut(node, x, axis, node.size(2, "start", 0), node.size(3, "end", _MOST), step)


def _select(node: AtenNode) -> TensorExpr:
    x = node.tensor(0)
    axis, at = node.axis(1, "dim", x.rank), node.size(2, "index", 0)
    if isinstance(at, int) and isinstance(node.dims(x)[axis], int):
        return x[(*(slice(None),) * axis, at)]
    windows = [AxisWindow(0, dim) for dim in node.dims(x)]
    begin = add(node.dims(x)[axis], at) if isinstance(at, int) and at < 0 else at
    windows[axis] = AxisWindow(begin, 1)
    checks = _inside(node, windows[axis], node.dims(x)[axis], axis)
    return apply("squeeze", _taken(node, x, windows, checks), axes=(axis,))


def _split(node: AtenNode) -> tuple[TensorExpr, ...]:
    x, axis = node.tensor(0), node.axis(2, "dim", node.tensor(0).rank, 0)
    given = node.given(1)
    if isinstance(given, int):
        # PyTorch knows how many parts there are, also of an axis that it does not know.
        counts = [given] * len(node.node.results)
    else:
        counts = node.extents(1)
    if all(isinstance(each, int) for each in (*counts, node.dims(x)[axis])):
        return _known_parts(x, axis, [each for each in counts if isinstance(each, int)])
    checks = _filled(node, counts, node.dims(x)[axis], axis, ends_early=isinstance(given, int))
    found = list[TensorExpr]()
    begin: Dim = 0
    for at, count in enumerate(counts):
        windows = [AxisWindow(0, dim) for dim in node.dims(x)]
        is_rest = isinstance(given, int) and at == len(counts) - 1
        here = subtract(node.dims(x)[axis], begin) if is_rest else count
        windows[axis] = AxisWindow(begin, here)
        found.append(_taken(node, x, windows, checks))
        begin = add(begin, count)
    return tuple(found)


def _known_parts(x: TensorExpr, axis: int, counts: Sequence[int]) -> tuple[TensorExpr, ...]:
    ends = list(accumulate(counts))
    return tuple(
        apply("slice", x, begins=(end - count,), ends=(end,), strides=(1,), axes=(axis,))
        for end, count in zip(ends, counts, strict=True)
    )


def _filled(
    node: AtenNode, counts: Sequence[Dim], extent: Dim, axis: int, *, ends_early: bool
) -> list[Assert]:
    """Return the check that parts fill an axis; the last may be smaller if it ``ends_early``."""
    begin: Dim = 0
    for count in counts[:-1]:
        begin = add(begin, count)
    end = add(begin, counts[-1])
    # An axis without elements is one part, which is empty.
    least = end if not ends_early else begin if len(counts) == 1 else add(begin, 1)
    message = f"has parts for {{}} to {{}} elements of dimension {axis}, which has {{}}"
    return _checked(node, [(least, extent), (extent, end)], message, [least, end, extent])


def _flip(node: AtenNode) -> TensorExpr:
    x = node.tensor(0)
    axes = {axis % x.rank for axis in node.wholes(1)}
    if not any(isinstance(node.dims(x)[axis], Expr) for axis in axes):
        return x[tuple(slice(None, None, -1 if at in axes else None) for at in range(x.rank))]
    windows = [AxisWindow(0, dim) for dim in node.dims(x)]
    for axis in axes:
        windows[axis] = AxisWindow(subtract(windows[axis].count, 1), windows[axis].count, -1)
    return _taken(node, x, windows)


SLICES: dict[str, Convert] = {
    "slice": _slice,
    "select": _select,
    "split_with_sizes": _split,
    "split": _split,
    "flip": _flip,
}
