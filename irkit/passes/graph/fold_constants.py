"""Compute operators on constants at compile time.

Before::

    def main(x: f32[2]):
        a: f32[2] = constant([1.0, 2.0])
        b: f32[2] = exp2(a)
        c: f32[2] = add(x, b)
        return c

After::

    def main(x: f32[2]):
        a: f32[2] = constant([1.0, 2.0])
        b: f32[2] = constant([2.0, 4.0])
        c: f32[2] = add(x, b)
        return c
"""

from math import prod

import numpy as np

from irkit.core import remark, rewrite
from irkit.graph import (
    ArrayData,
    Bind,
    Constant,
    GraphFunc,
    Op,
    TensorType,
    Value,
    op_spec,
)
from irkit.ir import as_int
from irkit.transform import define_pass


@define_pass(idempotent=True)
def fold_constants(
    func: GraphFunc, *, max_bytes: int = 1 << 28, max_total_bytes: int = 1 << 31
) -> GraphFunc:
    """Replace operators on constants by their results, unless those need too much memory.

    A result may be as large as its operands together, or have up to ``max_bytes``; results larger
    than their operands may have ``max_total_bytes`` together. Nodes that are no longer used stay,
    for ``eliminate_dead_nodes``.
    """
    known: dict[Value, ArrayData] = {}
    left = max_total_bytes

    def fold(bind: Bind) -> Bind | None:
        nonlocal left
        step = bind.step
        if isinstance(step, Constant) and not step.data.is_absent:
            known[bind.var] = step.data
        if not isinstance(step, Op) or not all(arg in known for arg in step.args):
            return None
        size = _bytes(bind.var)
        held = sum(_bytes(arg) or 0 for arg in step.args)
        if size is None or (size > held and size > min(max_bytes, left)):
            remark(bind, f"its result takes more than {max_bytes} bytes: left for run time")
            return None
        left -= max(0, size - held)
        found = op_spec(step.name).evaluate([known[arg].array for arg in step.args], step.attrs)
        assert not isinstance(found, tuple)
        # A scalar of NumPy's, which an operator may give, has no flags to set.
        if (
            type(found) is np.ndarray and found.base is None
        ):  # Nobody else has it, so it need not be copied.
            found.flags.writeable = False
        known[bind.var] = ArrayData(found)
        return bind.replace(step=Constant(known[bind.var]))

    return rewrite(func, fold, on=Bind)


def _bytes(value: Value) -> int | None:
    """Return the bytes of a tensor, or None for anything else than a tensor of constant shape."""
    if not isinstance(value.type, TensorType):
        return None
    extents = [as_int(extent) for extent in value.type.shape]
    if None in extents:
        return None
    return prod(extent or 0 for extent in extents) * value.type.dtype.bytes
