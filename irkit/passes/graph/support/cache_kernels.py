"""Kernels of a cache: state that grows along an axis, in memory that has room for a capacity.

A row along that axis lies at the same place whatever the length, so tensors in a cache have strides
by its capacity, and what is appended is stored behind the rows that are there.
"""

from collections.abc import Mapping

from irkit.core import rewrite, substitute
from irkit.graph import APPENDS, StatePair
from irkit.ir import I64, Buffer, Const, Expr, PrimFunc, Store, simplify


def in_caches(func: PrimFunc, caches: Mapping[Buffer, StatePair]) -> PrimFunc:
    """Return a kernel whose buffers lie in caches."""
    return substitute(func, {each: _in_cache(each, pair) for each, pair in caches.items()})


def _in_cache(buffer: Buffer, pair: StatePair) -> Buffer:
    strides: list[Expr] = []
    step: Expr = Const(1, I64)
    for axis in reversed(range(len(buffer.shape))):
        strides.insert(0, simplify(step))
        step = step * (Const(pair.capacity, I64) if axis == pair.axis else buffer.shape[axis])
    return buffer.replace(strides=tuple(strides))


def appended(func: PrimFunc, cache: Buffer, pair: StatePair, length: Expr) -> PrimFunc:
    """Return a kernel that stores its last parameter, some rows, in a cache of this length."""
    rows, own = func.params[-1], _in_cache(cache, pair)

    def store(each: Store) -> Store | None:
        if each.buffer is not rows:
            return None
        indices = list(each.indices)
        indices[pair.axis] = indices[pair.axis] + length
        return each.replace(buffer=own, indices=tuple(indices))

    body = rewrite(func.body, store, on=Store)
    attrs = (*func.attrs, (APPENDS, pair.axis))
    return func.replace(params=(*func.params[:-1], own), body=body, attrs=attrs)
