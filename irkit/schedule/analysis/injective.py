"""Whether an index map is injective: by algebra, and where that does not tell, point by point."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from irkit.core import rewrite, walk
from irkit.ir import LT, Axis, Expr, Interval, Var, as_int, bounds
from irkit.schedule.analysis.grid_eval import values_on_grid
from irkit.schedule.analysis.index_digits import determined
from irkit.schedule.limits import MOST_POINTS

Sizes = Mapping[Var, int | None]
"""How many values variables have that begin at 0, None for any number."""


def is_injective(image: Sequence[Expr], axes: Sequence[Axis]) -> bool:
    """Return True if an image provably has no duplicates over the points of the axes."""
    sizes = {axis.var: as_int(axis.extent) for axis in axes}
    return all(
        _has_no_duplicates({var: sizes[var] for var in vars_}, items)
        for vars_, items in undetermined(image, sizes)
    )


def is_bijective(
    image: Sequence[Expr], extents: Sequence[int | None], sizes: Sizes, guards: Sequence[Expr]
) -> bool:
    """Return True if algebra shows that the points at which guards hold have each point of a box of
    some extents as their image, exactly once.

    An injective map is onto if its image has as many points as the box that it is in. Guards may
    cut that box, or a fused index.
    """
    left, whole = dict(sizes), dict[Expr, Expr]()
    clipped: set[Expr] = set()
    for part in guards:
        if not isinstance(part, LT):
            return False
        limit = as_int(part.b)
        if any(part.a == item and limit == n for item, n in zip(image, extents, strict=True)):
            clipped.add(part.a)
            continue
        cut = _cut_index(part.a, limit, left)
        if cut is None:
            return False
        whole[part.a] = cut
    mine = [_with_indices(item, whole) for item in image]
    ranges = {var: Interval(0, None if n is None else n - 1) for var, n in left.items()}
    boxes = [bounds(item, ranges) for item in mine]
    if any(box.low != 0 or box.high is None for box in boxes):
        return False
    counts = [(box.high or 0) + 1 for box in boxes]
    if math.prod(counts) != math.prod(size or 0 for size in left.values()):
        return False
    for item, extent, count in zip(image, extents, counts, strict=True):
        if extent is None or extent > count or (extent < count and item not in clipped):
            return False
    return determined(mine, left) == set(left)


def _cut_index(index: Expr, end: int | None, sizes: dict[Var, int | None]) -> Var | None:
    """Put one variable in place of those that make up a fused index which is cut at ``end``, if it
    otherwise has each value once; None if that is not known."""
    used = set(walk(index, on=Var))
    digits = {var: size for var, size in sizes.items() if var in used}
    count = math.prod(size or 0 for size in digits.values())
    if end is None or end < 1 or not is_bijective([index], [count], digits, ()):
        return None
    for var in digits:
        del sizes[var]
    made = Var("cut", index.dtype)
    sizes[made] = min(end, count)
    return made


def _with_indices(expr: Expr, whole: Mapping[Expr, Expr]) -> Expr:
    if not whole:
        return expr
    return rewrite(expr, whole.get, on=tuple({type(index) for index in whole}))


def undetermined(image: Sequence[Expr], sizes: Sizes) -> list[tuple[list[Var], list[Expr]]]:
    """Return the variables that algebra does not show to be determined by an image, in groups that
    share no part of it, each with its part.

    A group also has the variables that its part of the image uses, which keeps the others out of
    the grid.
    """
    known = determined(image, sizes)
    if len(known) == len(sizes):
        return []
    groups: list[tuple[set[Var], list[Expr]]] = [({var}, []) for var in sizes]
    for item in image:
        used = sizes.keys() & set(walk(item, on=Var))
        met = [group for group in groups if group[0] & used]
        if met:
            together = set[Var]().union(*(vars_ for vars_, _ in met))
            items = [each for _, parts in met for each in parts]
            groups = [*(group for group in groups if group not in met), (together, [*items, item])]
    return [
        ([var for var in sizes if var in vars_], items)
        for vars_, items in groups
        if not vars_ <= known
    ]


def _has_no_duplicates(sizes: Sizes, image: Sequence[Expr]) -> bool:
    """Compare the values of an image at all points."""
    known = [size for size in sizes.values() if size is not None]
    count = math.prod(known)
    if len(known) < len(sizes) or count > MOST_POINTS:
        return False
    points = np.indices(known).reshape(len(known), -1)
    grid = dict(zip(sizes, points, strict=True))
    code = np.zeros(count, dtype=np.int64)
    for item in image:
        found = values_on_grid(item, grid)
        if found is None:
            return False
        place = np.broadcast_to(found, code.shape)
        place = place - place.min(initial=0)
        code = np.unique(code, return_inverse=True)[1] * (int(place.max(initial=0)) + 1) + place
    return len(np.unique(code)) == count
