"""Compute once what several bindings compute in the same way.

Before::

    def main(x: f32[4]):
        a: f32[4] = exp(x)
        b: f32[4] = exp(x)
        c: f32[4] = add(a, b)
        return c

After::

    def main(x: f32[4]):
        a: f32[4] = exp(x)
        c: f32[4] = add(a, a)
        return c
"""

from collections.abc import Hashable

from irkit.core import allowed, substitute
from irkit.graph import (
    Bind,
    Body,
    Constant,
    GraphFunc,
    GraphStep,
    Op,
    StateResults,
    Tuple,
    TupleGet,
    Value,
)
from irkit.transform import define_pass


@define_pass(idempotent=True)
def eliminate_common_nodes(func: GraphFunc) -> GraphFunc:
    """Replace a binding by an earlier one of the same operator on the same operands.

    Constants, tuples and their items are shared too; bindings inside of branches and functions are
    left alone, since they are not always computed.
    """
    first: dict[Hashable, Value] = {}
    results = StateResults(func)
    same: dict[Value, Value] = {}
    kept: list[Bind] = []
    for bind in func.body.bindings:
        key = _key(bind.step, same)
        known = None if key is None else first.setdefault((key, bind.var.type), bind.var)
        if known is None or known is bind.var or not results.may_be(bind.var, known):
            kept.append(bind)
        elif allowed("eliminate-common-nodes", bind, bind.replace(step=Body((), known))):
            same[bind.var] = known
        else:
            kept.append(bind)
    if not same:
        return func
    return substitute(func.replace(body=Body(tuple(kept), func.body.result)), same)


def _key(step: GraphStep, same: dict[Value, Value]) -> Hashable:
    """Return what is equal for steps that compute the same; None for other steps."""
    match step:
        case Constant(data):
            return None if data.is_absent else ("constant", data)
        case Op(name, args, attrs):
            given = tuple(id(same.get(arg, arg)) for arg in args)
            return ("op", name, given, tuple(sorted(attrs, key=lambda pair: pair[0])))
        case Tuple(items):
            return ("tuple", tuple(id(same.get(item, item)) for item in items))
        case TupleGet(value, index):
            return ("item", id(same.get(value, value)), index)
        case _:
            return None
