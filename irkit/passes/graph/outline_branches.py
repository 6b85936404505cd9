"""Move the sides of a choice into functions of their own, which become kernels like any other.

Before::

    def main(x: f32[4], c: bool[()]):
        if c:
            a: f32[4] = exp(x)
            y: f32[4] = a
        else:
            y: f32[4] = x
        return y

After::

    def main(x: f32[4], c: bool[()]):
        if c:
            y_then: f32[4] = call("y_then", x)
            y: f32[4] = y_then
        else:
            y_else: f32[4] = call("y_else", x)
            y: f32[4] = y_else
        return y

and the functions ``y_then``, which returns ``exp(x)``, and ``y_else``, which copies ``x``, are
added.
"""

from irkit.core import IRModule, Span, UniqueNames, walk
from irkit.graph import (
    Apply,
    ArrayData,
    Bind,
    Body,
    GraphFunc,
    GraphIf,
    GraphLoop,
    GraphStep,
    Invoke,
    Op,
    Tuple,
    TupleGet,
    TupleType,
    Value,
    bindings_of,
    constants_of,
    outlined,
    type_of,
)
from irkit.transform import define_pass


@define_pass(idempotent=True, atomic=True)
def outline_branches(mod: IRModule) -> IRModule:
    """Make a graph function of each side of each choice, which then invokes it.

    The function takes the values from outside that the side uses; constants of one element are
    repeated in it. What a side returns without computing it is copied, and so is what a function
    that a loop calls returns.
    """
    names = UniqueNames(mod)
    changed: dict[str, GraphFunc] = {}
    waiting = [func for func in mod.functions.values() if isinstance(func, GraphFunc)]
    looped = {step.function for func in waiting for step in walk(func.body, GraphLoop)}
    while waiting:
        func = waiting.pop(0)
        if func.name in looped:
            func = _with_own_results(func, func.span)
        outlined, made = _outlined(func, mod, names)
        changed[func.name] = outlined
        waiting += made
    return mod.with_functions(changed)


def _outlined(
    func: GraphFunc, mod: IRModule, names: UniqueNames
) -> tuple[GraphFunc, list[GraphFunc]]:
    """Return a function whose choices are of calls, and the functions that they call."""
    constants = constants_of(func)
    made: list[GraphFunc] = []
    bindings: list[Bind] = []
    for bind in func.body.bindings:
        step = bind.step
        if isinstance(step, GraphIf):
            sides = [step.then, step.otherwise]
            for at, word in enumerate(("then", "else")):
                if not _is_call(sides[at], mod):
                    name = names(f"{bind.var.name}_{word}")
                    inner, sides[at] = _function(sides[at], name, constants, bind.span)
                    made.append(inner)
            step = GraphIf(step.cond, *sides)
        bindings.append(bind.replace(step=step) if step is not bind.step else bind)
    if not made:
        return func, []
    return func.replace(body=Body(tuple(bindings), func.body.result)), made


def _is_call(side: Body, mod: IRModule) -> bool:
    """Return True if a side does nothing but invoke a graph function."""
    if len(side.bindings) != 1 or side.result is not side.bindings[0].var:
        return False
    step = side.bindings[0].step
    return isinstance(step, Invoke) and isinstance(mod.functions.get(step.function), GraphFunc)


def _function(
    side: Body, name: str, constants: dict[Value, ArrayData], span: Span | None
) -> tuple[GraphFunc, Body]:
    """Return the function of a side, and the side that invokes it."""
    func, args = outlined(name, (), side, constants, span)
    var = Value(name, side.result.type)
    return _with_own_results(func, span), Body((Bind(var, Invoke(name, args), span),), var)


def _with_own_results(func: GraphFunc, span: Span | None) -> GraphFunc:
    """Return a function whose results are each computed by a step of its own: others are copied,
    at ``span`` if they are not bound in it."""
    body = func.body
    names = UniqueNames(value.name for value in (*func.params, *bindings_of(func)))
    added: list[Bind] = []
    bind_of = {bind.var: bind for bind in body.bindings}

    def bound(step: GraphStep, name: str, value: Value) -> Value:
        at = bind_of[value].span if value in bind_of else span
        added.append(Bind(Value(names(name), type_of(step)), step, at))
        return added[-1].var

    last, items = bind_of.get(body.result), (body.result,)
    if isinstance(body.result.type, TupleType):
        count = len(body.result.type.items)
        items = (
            last.step.items
            if last is not None and isinstance(last.step, Tuple)
            else tuple(
                bound(TupleGet(body.result, at), body.result.name, body.result)
                for at in range(count)
            )
        )
    results: list[Value] = []
    for item in items:
        is_own = item in bind_of and isinstance(bind_of[item].step, (Op, Invoke, Apply, GraphIf))
        if not is_own or item in results:
            item = bound(Op("identity", (item,)), f"{item.name}_copy", item)
        results.append(item)
    if not added:
        return func
    found = (
        results[0]
        if body.result is items[0]
        else bound(Tuple(tuple(results)), "results", body.result)
    )
    return func.replace(body=Body((*body.bindings, *added), found))
