"""Cut channels into blocks of a vector's lanes, in all regions of a graph where that pays.

Before, with ``lanes=2``::

    def main(x: f32[1, 1, 3, 3]):
        w: f32[4, 1, 2, 1] = constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
        c: f32[1, 4, 2, 3] = conv(x, w)
        r: f32[1, 4, 2, 3] = relu(c)
        y: f32[1, 4, 1, 1] = mean(r, axes=(2, 3), keepdims=True)
        return y

After::

    def main(x: f32[1, 1, 3, 3]):
        w: f32[4, 1, 2, 1] = constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
        c_packed: f32[2, 1, 2, 1, 1, 2] = constant([1.0, 3.0, 2.0, 4.0, 5.0, 7.0, 6.0, 8.0])
        c_conv_blocked: f32[1, 2, 2, 3, 2] = conv_blocked(x, c_packed)
        r_relu: f32[1, 2, 2, 3, 2] = relu(c_conv_blocked)
        y_mean: f32[1, 2, 1, 1, 2] = mean(r_relu, axes=(2, 3), keepdims=True)
        y: f32[1, 4, 1, 1] = unblock_channels(y_mean, channels=4)
        return y

Constant filters are packed as the loops read them. A channel shuffle, or a ``take`` of constant
numbers, only makes another order of channels: filters, biases and constants behind it are packed in
that order, and convolutions in groups read their channels by a table. Remarks say what each choice
costs.
"""

from typing import Any

from irkit.autoschedule import Machine
from irkit.core import UniqueNames, remark
from irkit.graph import (
    Bind,
    Body,
    GraphFacts,
    GraphFunc,
    Op,
    Replacement,
    extents_of,
    live_values,
)
from irkit.passes.graph.support.blocked import (
    BlockedForms,
    BlockedRegions,
    BlockedValues,
    Shuffles,
    is_used_plain,
    order_of,
    unblocked,
)
from irkit.transform import define_pass


@define_pass(idempotent=True, changes_rounding=True)
def block_channels(
    func: GraphFunc, *, lanes: int = 0, machine: tuple[tuple[str, Any], ...] = ()
) -> GraphFunc:
    """Compute convolutions and what works on their results in blocks of ``lanes`` channels.

    Without lanes, nothing changes. ``machine`` has the fields in which the machine that costs are
    estimated for differs from the generic one.
    """
    if not lanes or not any(_is_conv(bind) for bind in func.body.bindings):
        return func
    shuffles = Shuffles(_without_dead_operators(func))
    alive = shuffles.func
    forms = BlockedForms(GraphFacts(alive), lanes)
    found = BlockedRegions(alive, forms, Machine.of_settings(machine))
    for bind in alive.body.bindings:
        _explain(bind, found, lanes)
    return _rewritten(shuffles, found, lanes) if found.forms else func


def _without_dead_operators(func: GraphFunc) -> GraphFunc:
    """Leave out operators without users, such as convolutions that were folded into others: they
    would count as readers in the plain layout, and their filters would be packed."""
    live = live_values(func)
    kept = [
        bind for bind in func.body.bindings if bind.var in live or not isinstance(bind.step, Op)
    ]
    return func.replace(body=Body(tuple(kept), func.body.result))


def _explain(bind: Bind, found: BlockedRegions, lanes: int) -> None:
    """Leave remarks: the layout of a convolution, with what it costs by the formula; and what an
    order of channels saves or costs."""
    chosen, left = found.costs.get(bind.var), found.left.get(bind.var)
    cost, name = chosen or left, bind.var.name
    if cost is not None:
        where = f"in blocks of {lanes} channels" if chosen else "stays in the plain layout"
        both = f"{cost.blocked:.3g} cycles in blocks, {cost.plain:.3g} in the plain layout"
        remark(bind, f"{name} {where}: {both}, conversions not counted")
    form = found.forms.get(bind.var)
    if form is None or not isinstance(bind.step, Op):
        return
    if bind.step.name == "take":
        remark(bind, f"{name} is another order of channels: nothing is computed")
    for arg, order in form.operands:
        if order is not None and order != order_of(arg, found.forms, lanes):
            remark(bind, f"{name} needs another order of the channels of {arg.name}: a copy")


def _is_conv(bind: Bind) -> bool:
    return isinstance(bind.step, Op) and bind.step.name == "conv"


def _rewritten(shuffles: Shuffles, found: BlockedRegions, lanes: int) -> GraphFunc:
    func = shuffles.func
    names = UniqueNames([value.name for value in func.params])
    for bind in func.body.bindings:
        for each in shuffles.restored(bind):
            names(each.var.name)
    plain = is_used_plain(func, found.forms)
    values = BlockedValues(found.forms, lanes)
    bindings: list[Bind] = []
    for bind in func.body.bindings:
        form = found.forms.get(bind.var)
        if form is None:
            bindings += shuffles.restored(bind)
            continue
        b = Replacement(bind, names)
        result = form.emit(b, values)
        values.put(bind.var, result)
        if bind.var in plain:
            channels = extents_of(bind.var)[1]
            assert channels is not None
            step = unblocked(b, result, form.order, channels)
            bindings += [*b.body(result).bindings, bind.replace(step=step)]
        else:
            bindings += b.body(result).bindings
    return func.replace(body=Body(tuple(bindings), func.body.result))
