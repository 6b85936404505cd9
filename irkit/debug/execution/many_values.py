"""Expressions computed on many values at once, as vectors."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.core import children, deep_recursion, with_fields
from irkit.ir import Broadcast, Buffer, Const, Expr, Load, Var, evaluate, index, ramp

Array = NDArray[Any]
Batch = dict[Var, Array]
"""Values of each variable; all arrays are as long."""


@deep_recursion
def computed(expr: Expr, batch: Batch) -> Array:
    """Compute an expression of scalars, without loads, on all values of a batch.

    Raises: IRKitError as ``evaluate`` does.
    """
    count = len(next(iter(batch.values())))
    buffers = {var: Buffer(var.name, (index(count),), var.dtype) for var in batch}
    at = ramp(0, 1, count)
    lanes = {
        var: Load(buffer, (at,), None, var.dtype.with_lanes(count))
        for var, buffer in buffers.items()
    }
    wide = _widened(expr, lanes, count, {})
    return np.asarray(evaluate(wide, {buffers[var]: values for var, values in batch.items()}))


def _widened(node: Expr, lanes: dict[Var, Load], count: int, done: dict[int, Expr]) -> Expr:
    if id(node) not in done:
        if isinstance(node, Var):
            done[id(node)] = lanes[node]
        elif isinstance(node, Const):
            done[id(node)] = Broadcast(node, node.dtype.with_lanes(count))
        else:
            new: dict[int, Any] = {}
            for child in children(node):
                assert isinstance(child, Expr)
                new[id(child)] = _widened(child, lanes, count, done)
            changed: Any = with_fields(node, new)
            done[id(node)] = changed.replace(dtype=node.dtype.with_lanes(count))
    return done[id(node)]
