"""Fold batch normalisation into the weights and the bias of the convolution before it.

Before::

    def main(x: f32[1, 1, 2, 2]):
        w: f32[1, 1, 1, 1] = constant([3.0])
        one: f32[1] = constant([1.0])
        var: f32[1] = constant([4.0])
        c: f32[1, 1, 2, 2] = conv(x, w)
        n: f32[1, 1, 2, 2] = batch_norm(c, one, one, one, var, epsilon=0.0)
        return n

After::

    def main(x: f32[1, 1, 2, 2]):
        w: f32[1, 1, 1, 1] = constant([3.0])
        one: f32[1] = constant([1.0])
        var: f32[1] = constant([4.0])
        c: f32[1, 1, 2, 2] = conv(x, w)
        c_weight: f32[1, 1, 1, 1] = constant([1.5])
        c_bias: f32[1] = constant([0.5])
        n: f32[1, 1, 2, 2] = conv(x, c_weight, c_bias)
        return n
"""

import numpy as np

from irkit.core import Span, UniqueNames, remark, rewrite, walk
from irkit.graph import (
    ArrayData,
    Bind,
    Body,
    Builder,
    GraphFunc,
    Op,
    Value,
    attributes,
    bindings_of,
    constants_of,
    flatten_lets,
    use_counts,
)
from irkit.transform import define_pass


@define_pass(idempotent=True, changes_rounding=True)
def fold_batch_norm(func: GraphFunc) -> GraphFunc:
    """Fold each batch_norm with constant statistics into a conv with constant weights.

    The conv must have no other use; the old one stays, for ``eliminate_dead_nodes``.
    """
    # A batch norm of a batch norm can be folded once the inner one has been.
    while (after := _fold_once(func)) is not func:
        func = after
    return func


def _fold_once(func: GraphFunc) -> GraphFunc:
    bound, known, uses = bindings_of(func), constants_of(func), use_counts(func)
    names = UniqueNames([value.name for value in (*func.params, *bound)])

    def fold(bind: Bind) -> Bind | None:
        norm = bind.step
        if not isinstance(norm, Op) or norm.name != "batch_norm" or norm.args[0] not in bound:
            return None
        source = bound[norm.args[0]]
        conv = source.step
        if not isinstance(conv, Op) or conv.name != "conv":
            return None
        if uses[source.var] != 1:
            remark(bind, f"{source.var.name} has other uses: left as it is")
            return None
        given = (*conv.args[1:], *norm.args[1:])
        if any(value not in known or known[value].is_absent for value in given):
            remark(bind, "weights or statistics are not constants: left as it is")
            return None
        folded = _folded(source.var.name, conv, norm, known, names, bind.span)
        return bind.replace(step=folded)

    lets = {bind.var for bind in walk(func.body, on=Bind) if isinstance(bind.step, Body)}
    return flatten_lets(rewrite(func, fold, on=Bind), lets)  # Other lets stay.


def _folded(
    name: str,
    conv: Op,
    norm: Op,
    known: dict[Value, ArrayData],
    names: UniqueNames,
    span: Span | None,
) -> Body:
    """Return the conv with weights w * s and bias (b - mean) * s + shift, computed in float64,
    where s = scale / sqrt(var + epsilon)."""
    weight = known[conv.args[1]].array
    wide = [known[value].array.astype(np.float64) for value in (*conv.args[1:], *norm.args[1:])]
    scale, shift, mean, var = wide[-4:]
    bias = wide[1] if len(conv.args) == 3 else np.zeros_like(mean)
    with np.errstate(all="ignore"):  # A variance below zero gives NaN, as batch_norm does.
        factor = scale / np.sqrt(var + attributes(norm).float("epsilon"))
        scaled = (wide[0] * factor.reshape(-1, *(1,) * (weight.ndim - 1))).astype(weight.dtype)
        moved = ((bias - mean) * factor + shift).astype(weight.dtype)
    scaled.flags.writeable = False  # Nobody else has it, so it need not be copied.
    inner = Builder(names=names)
    w = inner.constant(scaled, name=f"{name}_weight", span=span)
    b = inner.constant(moved, name=f"{name}_bias", span=span)
    return inner.body(inner.emit(conv.replace(args=(conv.args[0], w, b)), name, span=span))
