"""The meaning of a graph, computed body by body: the reference for branches, functions and nested
lets.

Operators are the NumPy rules of the table; nothing else is shared with ``irkit.graph.interpret``,
because that is under test too. It recurses, which is fine for graphs drawn here: bodies are two
deep.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias, Union, cast

from irkit.fuzz.generators.sample import Array
from irkit.graph import (
    Apply,
    Body,
    Constant,
    GraphFunc,
    GraphIf,
    GraphStep,
    Lambda,
    Op,
    Tuple,
    TupleGet,
    Value,
    op_spec,
)

_Found: TypeAlias = Union[Array, "tuple[_Found, ...]", "Callable[..., _Found]"]
_Scope: TypeAlias = dict[Value, _Found]


def meaning(func: GraphFunc, args: Sequence[Array]) -> list[Array]:
    """Compute the results of a graph function, with tuples flattened."""
    given: _Scope = dict(zip(func.params, args, strict=True))
    waiting: list[_Found] = [_body(func.body, given)]
    found: list[Array] = []
    while waiting:
        each = waiting.pop()
        if isinstance(each, tuple):
            waiting += cast("tuple[_Found, ...]", each)[::-1]
        else:
            found.append(cast(Array, each))
    return found


def _body(body: Body, around: _Scope) -> _Found:
    scope = dict(around)
    for bind in body.bindings:
        scope[bind.var] = _step(bind.step, scope)
    return scope[body.result]


def _step(step: GraphStep, scope: _Scope) -> _Found:
    match step:
        case Op(name, args, attrs):
            return op_spec(name).evaluate([cast(Array, scope[arg]) for arg in args], attrs)
        case Constant(data):
            return data.array
        case Tuple(items):
            return tuple(scope[item] for item in items)
        case TupleGet(value, index):
            return cast("tuple[_Found, ...]", scope[value])[index]
        case GraphIf(cond, then, otherwise):
            return _body(then if scope[cond] else otherwise, scope)
        case Body():
            return _body(step, scope)
        case Lambda(params, body):
            return lambda *given: _body(body, scope | dict(zip(params, given, strict=True)))
        case Apply(callee, args):
            return cast("Callable[..., _Found]", scope[callee])(*(scope[arg] for arg in args))
        case _:
            raise AssertionError(f"a {type(step).__name__} is never drawn")
