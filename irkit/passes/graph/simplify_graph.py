"""Remove steps whose result is their operand.

Before::

    def main(x: f32[2, 3]):
        a: f32[2, 3] = identity(x)
        b: f32[2, 3] = reshape(a, shape=(2, 3))
        p: (f32[2, 3], f32[2, 3]) = (b, x)
        c: f32[2, 3] = p[0]
        d: f32[2, 3] = relu(c)
        return d

After::

    def main(x: f32[2, 3]):
        p: (f32[2, 3], f32[2, 3]) = (x, x)
        d: f32[2, 3] = relu(x)
        return d
"""

from irkit.core import current_recorder, equal, rewrite, walk
from irkit.graph import (
    Bind,
    Body,
    Constant,
    GraphFunc,
    GraphIf,
    Op,
    StateResults,
    Tuple,
    TupleGet,
    Value,
    attributes,
    bindings_of,
    flatten_lets,
    overwritten,
)
from irkit.transform import define_pass

_NOTHING_IF_SAME_TYPE = frozenset(
    {"identity", "reshape", "expand_dims", "squeeze", "broadcast_to", "cast", "slice", "pad"}
)


@define_pass(idempotent=True)
def simplify_graph(func: GraphFunc) -> GraphFunc:
    """Replace identities, shape changes without effect, items of known tuples, and nested lets by
    the values they stand for."""
    # An item of a tuple from a let is known only once the let is flat.
    while (after := _simplified_once(func)) is not func:
        func = after
    return func


def _simplified_once(func: GraphFunc) -> GraphFunc:
    bound = bindings_of(func)
    same: dict[Value, Value] = {}  # Values of items, so that items of items are known too.

    def simplify(bind: Bind) -> Bind | None:
        if isinstance(bind.step, GraphIf):
            return _chosen(bind, bind.step, bound, results)
        stands_for = _stands_for(bind, bound, same)
        if stands_for is None or stands_for in state:
            return None  # A copy of what is overwritten can be read later than that.
        if not results.may_be(bind.var, same.get(stands_for, stands_for)):
            return None
        same[bind.var] = same.get(stands_for, stands_for)
        return bind.replace(step=Body((), stands_for))

    state, results = overwritten(func), StateResults(func)
    made = rewrite(func, simplify, on=Bind)
    return flatten_lets(made, _kept_lets(func))


def _kept_lets(func: GraphFunc) -> set[Value]:
    """Return the variables of the lets that are not to be flattened."""
    recorder = current_recorder()
    if recorder is None:
        return set()
    lets = [bind for bind in walk(func.body, on=Bind) if isinstance(bind.step, Body)]
    return {bind.var for bind in lets if not recorder.allows("flatten", bind.step, bind)}


def _chosen(
    bind: Bind, step: GraphIf, bound: dict[Value, Bind], results: StateResults
) -> Bind | None:
    """Return a choice by a known condition as the side that it takes."""
    cond = bound[step.cond].step if step.cond in bound else None
    if not isinstance(cond, Constant) or cond.data.is_absent:
        return None
    side = step.then if bool(cond.data.array) else step.otherwise
    made = any(each.var is side.result for each in side.bindings)
    return bind.replace(step=side) if made or results.may_be(bind.var, side.result) else None


def _stands_for(bind: Bind, bound: dict[Value, Bind], same: dict[Value, Value]) -> Value | None:
    step = bind.step
    if isinstance(step, TupleGet):
        value = same.get(step.value, step.value)
        source = bound[value].step if value in bound else None
        return source.items[step.index] if isinstance(source, Tuple) else None
    if not isinstance(step, Op) or not step.args or not equal(step.args[0].type, bind.var.type):
        return None
    if step.name == "transpose":
        axes = attributes(step).ints("axes")
        return step.args[0] if axes == tuple(range(len(axes))) else None
    if step.name == "slice" and any(stride < 0 for stride in attributes(step).ints("strides")):
        return None  # It can reverse.
    if step.name == "pad" and any(attributes(step).ints("pads")):
        return None  # It can cut on one side and add on the other.
    return step.args[0] if step.name in _NOTHING_IF_SAME_TYPE else None
