"""Operators that take a part of a tensor, whose bounds can be computed from dimensions."""

from collections.abc import Sequence

from irkit.core import equal
from irkit.frontend.sizes import Dim, Window, add, sliced, subtract, window_kernel
from irkit.frontend.torch.aten_node import LEAST, AtenNode, Convert, apply
from irkit.graph import TensorExpr
from irkit.ir import Expr, bounds, index

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
        node, x, [Window(0, dim) if at != axis else window for at, dim in enumerate(dims)]
    )


def _window(node: AtenNode, begin: Dim, end: Dim, step: int, extent: Dim, axis: int) -> Window:
    """Return what a slice takes, as it is within the ranges that PyTorch has."""
    found = [sliced(begin, end, step, extent, node.source.ranges(least)) for least in LEAST]
    widest, wanted = found[0], found[-1]
    least = next(at for at, each in zip(LEAST, found, strict=True) if _same(each, wanted))
    for size in (widest.begin, widest.count):
        node.source.restrict(size, least)
    return Window(wanted.begin, node.declared_or(wanted.count, axis), step)


def _same(a: Window, b: Window) -> bool:
    pairs = ((a.begin, b.begin), (a.count, b.count))
    return all(equal(index(one), index(other)) for one, other in pairs)


def _taken(
    node: AtenNode, x: TensorExpr, windows: Sequence[Window], places: Sequence[int] = ()
) -> TensorExpr:
    """Take windows; along the axes ``places``, those that are not known to be inside are guarded:
    PyTorch refuses a call that makes them leave the tensor."""
    sizes = [size for each in windows for size in (each.begin, each.count)]
    likes = [each for each in node.likes(*sizes) if each is not x]
    kinds = [each.type for each in likes]
    guarded = [axis for axis in places if not _is_inside(node, windows[axis], node.dims(x)[axis])]
    func, kind = window_kernel(x.type, windows, kinds, node.span, guarded=guarded)
    return node.source.kernel(func, [x, *likes], kind, node.span)


def _is_inside(node: AtenNode, window: Window, extent: Dim) -> bool:
    rest = subtract(extent, add(window.begin, window.count))
    for least in LEAST:
        low = bounds(index(rest), node.source.ranges(least)).low
        if low is not None and low >= 0:
            node.source.restrict(rest, least)
            return True
    return False


def _slice(node: AtenNode) -> TensorExpr:
    x = node.tensor(0)
    axis, step = node.axis(1, "dim", x.rank, 0), node.whole(4, "step", 1)
    return cut(node, x, axis, node.size(2, "start", 0), node.size(3, "end", _MOST), step)


def _select(node: AtenNode) -> TensorExpr:
    x = node.tensor(0)
    axis, at = node.axis(1, "dim", x.rank), node.size(2, "index", 0)
    if isinstance(at, int) and isinstance(node.dims(x)[axis], int):
        return x[(*(slice(None),) * axis, at)]
    windows = [Window(0, dim) for dim in node.dims(x)]
    begin = add(node.dims(x)[axis], at) if isinstance(at, int) and at < 0 else at
    windows[axis] = Window(begin, 1)
    return apply("squeeze", _taken(node, x, windows, (axis,)), axes=(axis,))


def _split(node: AtenNode) -> tuple[TensorExpr, ...]:
    x, axis = node.tensor(0), node.axis(2, "dim", node.tensor(0).rank, 0)
    given = node.given(1)
    if isinstance(given, int):
        # PyTorch knows how many parts there are, also of an axis that it does not know.
        counts = [given] * len(node.node.results)
    else:
        counts = node.extents(1)
    found = list[TensorExpr]()
    begin: Dim = 0
    for at, count in enumerate(counts):
        is_last = at == len(counts) - 1
        end = _MOST if is_last and isinstance(given, int) else add(begin, count)
        found.append(_part(node, x, axis, begin, end))
        begin = add(begin, count)
    return tuple(found)


def _part(node: AtenNode, x: TensorExpr, axis: int, begin: Dim, end: Dim) -> TensorExpr:
    """Take a part that is known to lie within the axis."""
    extent = node.dims(x)[axis]
    if all(isinstance(each, int) for each in (begin, end, extent)):
        return cut(node, x, axis, begin, end)
    windows = [Window(0, dim) for dim in node.dims(x)]
    windows[axis] = Window(begin, subtract(extent if end == _MOST else end, begin))
    return _taken(node, x, windows, (axis,))


def _flip(node: AtenNode) -> TensorExpr:
    x = node.tensor(0)
    axes = {axis % x.rank for axis in node.wholes(1)}
    if not any(isinstance(node.dims(x)[axis], Expr) for axis in axes):
        return x[tuple(slice(None, None, -1 if at in axes else None) for at in range(x.rank))]
    windows = [Window(0, dim) for dim in node.dims(x)]
    for axis in axes:
        windows[axis] = Window(subtract(windows[axis].count, 1), windows[axis].count, -1)
    return _taken(node, x, windows)


SLICES: dict[str, Convert] = {
    "slice": _slice,
    "select": _select,
    "split_with_sizes": _split,
    "split": _split,
    "flip": _flip,
}
