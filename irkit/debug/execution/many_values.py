"""Expressions computed on many values at once, as vectors."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.core import children, deep_recursion, with_fields
from irkit.ir import (
    Broadcast,
    Buffer,
    Const,
    Evaluate,
    Expr,
    InterpretedFunction,
    Load,
    PrimFunc,
    Var,
    index,
    ramp,
)

Array = NDArray[Any]
Batch = dict[Var, Array]
"""Values of each variable; all arrays are as long."""
MAX_BYTES = 1 << 31


@deep_recursion
def computed(expr: Expr, batch: Batch) -> Array:
    """Compute an expression of scalars, without loads, on all values of a batch.

    Raises: IRKitError as ``evaluate`` does.
    """
    return prepared(expr, batch)(batch)


@deep_recursion
def prepared(expr: Expr, like: Batch) -> Callable[[Batch], Array]:
    """Return what computes an expression, as ``computed`` does, on any batch of the same variables
    and as many values."""
    count = len(next(iter(like.values())))
    buffers = {var: Buffer(var.name, (index(count),), var.dtype) for var in like}
    at = ramp(0, 1, count)
    lanes = {
        var: Load(buffer, (at,), None, var.dtype.with_lanes(count))
        for var, buffer in buffers.items()
    }
    wide = _widened(expr, lanes, count, {})
    run = InterpretedFunction(PrimFunc("computed", tuple(buffers.values()), Evaluate(wide)))

    def compute(batch: Batch) -> Array:
        given = [batch[var] for var in buffers]
        return np.asarray(run.run(given, None, MAX_BYTES)[run.result])

    return compute


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
