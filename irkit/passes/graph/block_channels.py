"""Cut channels into blocks of a vector's lanes, in all regions of a graph where that pays.

Before, with ``lanes=2``::

    def main(x: f32[1, 1, 3, 3]):
        w: f32[3, 1, 2, 2] = constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0])
        c: f32[1, 3, 2, 2] = conv(x, w)
        r: f32[1, 3, 2, 2] = relu(c)
        m: f32[1, 3, 1, 1] = max_pool(r, kernel=(2, 2))
        return m

After::

    def main(x: f32[1, 1, 3, 3]):
        return x

Constant filters are packed as the loops read them. Remarks say what each choice costs.
"""

from typing import Any

from irkit.autoschedule import Machine
from irkit.core import UniqueNames, current_recorder, remark
from irkit.graph import Bind, Body, GraphFacts, GraphFunc, Op, Replacement, Value, extents_of
from irkit.passes.graph.support.blocked_forms import BlockedForms
from irkit.passes.graph.support.blocked_regions import BlockedRegions, is_used_plain
from irkit.transform import define_pass


# Atomic: a tensor in blocks is of no use to what reads it in the plain layout.
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
    forms = BlockedForms(GraphFacts(func), lanes)
    found = BlockedRegions(func, forms, Machine.of_settings(machine))
    return _rewritten(func, found, lanes) if found.forms else func


def _is_conv(bind: Bind) -> bool:
    return isinstance(bind.step, Op) and bind.step.name == "conv"


def _rewritten(func: GraphFunc, found: BlockedRegions, lanes: int) -> GraphFunc:
    names = UniqueNames([value.name for value in func.params])
    for bind in func.body.bindings:
        names(bind.var.name)
    recorder = current_recorder()
    plain = is_used_plain(func, found.forms)
    made: dict[Value, Value] = {}
    bindings: list[Bind] = []
    for bind in func.body.bindings:
        form = found.forms.get(bind.var)
        if form is None:
            bindings.append(bind)
            continue
        b = Replacement(bind, names)
        for arg in form.operands:
            if arg not in made:
                made[arg] = b.op("block_channels", arg, lanes=lanes)
        result = form.emit(b, made)
        made[bind.var] = result
        bindings += b.body(result).bindings
        if bind.var in plain:
            channels = extents_of(bind.var)[1]
            assert channels is not None
            step = Op("unblock_channels", (result,), (("channels", channels),))
            bindings.append(bind.replace(step=step))
        cost = found.costs.get(bind.var)
        if cost is not None:
            remark(
                bind,
                f"{bind.var.name}: in blocks of {lanes} channels {cost.blocked:.3g} cycles by the "
                f"formula, {cost.plain:.3g} in the plain layout",
            )
    return func.replace(body=Body(tuple(bindings), func.body.result))
