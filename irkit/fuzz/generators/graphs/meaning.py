"""The meaning of a graph, computed body by body: the reference for branches, loops, prefixes,
functions and nested lets.

Operators are the NumPy rules of the table; nothing else is shared with ``irkit.graph.interpret``,
because that is under test too. It recurses, which is fine for graphs drawn here: bodies are two
deep.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, Union, cast

import numpy as np

from irkit.core import IRKitError, IRModule
from irkit.fuzz.generators.sample import Array
from irkit.graph import (
    Apply,
    Body,
    Constant,
    GraphFunc,
    GraphIf,
    GraphLoop,
    GraphStep,
    Lambda,
    Op,
    Prefix,
    Tuple,
    TupleGet,
    TupleType,
    Value,
    op_spec,
    tensors_in,
)
from irkit.ir import as_int, numpy_dtype

_Found: TypeAlias = Union[Array, "tuple[_Found, ...]", "Callable[..., _Found]"]
_Scope: TypeAlias = dict[Value, _Found]
_Functions: TypeAlias = Mapping[str, GraphFunc]


def meaning(program: GraphFunc | IRModule, args: Sequence[Array]) -> list[Array]:
    """Compute the results of a graph function, or of ``main`` of a module, with tuples flattened.

    Raises: IRKitError for a prefix of more rows than there are.
    """
    functions: dict[str, GraphFunc] = {}
    if isinstance(program, IRModule):
        graphs = program.functions.items()
        functions = {name: func for name, func in graphs if isinstance(func, GraphFunc)}
    func = program if isinstance(program, GraphFunc) else functions["main"]
    given: _Scope = dict(zip(func.params, args, strict=True))
    waiting: list[_Found] = [_body(func.body, given, functions)]
    found: list[Array] = []
    while waiting:
        each = waiting.pop()
        if isinstance(each, tuple):
            waiting += cast("tuple[_Found, ...]", each)[::-1]
        else:
            found.append(cast(Array, each))
    return found


def _body(body: Body, around: _Scope, functions: _Functions) -> _Found:
    scope = dict(around)
    for bind in body.bindings:
        if isinstance(bind.step, GraphLoop):
            scope[bind.var] = _loop(bind.var, bind.step, scope, functions)
        else:
            scope[bind.var] = _step(bind.step, scope, functions)
    return scope[body.result]


def _loop(var: Value, step: GraphLoop, scope: _Scope, functions: _Functions) -> _Found:
    """Call the function of a loop again and again; a row that no iteration makes is 0."""
    func = functions[step.function]
    assert isinstance(var.type, TupleType)
    kinds = tensors_in(TupleType(var.type.items[1 + len(step.state) :]))
    tables = [
        np.zeros([as_int(dim) or 0 for dim in kind.shape], numpy_dtype(kind.dtype))
        for kind in kinds
    ]
    state = [scope[each] for each in step.state]
    others = [scope[each] for each in step.others]
    made, goes_on = 0, bool(scope[step.cond])
    limits = [int(cast(Array, scope[step.count])), *map(len, tables)]
    while goes_on and all(made < limit for limit in limits):
        given = dict(zip(func.params, [np.int64(made), *state, *others], strict=True))
        found = cast("tuple[_Found, ...]", _body(func.body, cast(_Scope, given), functions))
        goes_on, state = bool(found[0]), list(found[1 : 1 + len(state)])
        for table, row in zip(tables, found[1 + len(state) :], strict=True):
            table[made] = row
        made += 1
    return (np.array(made), *state, *tables)


def _step(step: GraphStep, scope: _Scope, functions: _Functions) -> _Found:
    match step:
        case Prefix(_, value, count):
            rows, number = cast(Array, scope[value]), int(cast(Array, scope[count]))
            if not 0 <= number <= len(rows):
                raise IRKitError(f"{number} of {len(rows)} rows")
            return rows[:number]
        case Op(name, args, attrs):
            return op_spec(name).evaluate([cast(Array, scope[arg]) for arg in args], attrs)
        case Constant(data):
            return data.array
        case Tuple(items):
            return tuple(scope[item] for item in items)
        case TupleGet(value, index):
            return cast("tuple[_Found, ...]", scope[value])[index]
        case GraphIf(cond, then, otherwise):
            return _body(then if scope[cond] else otherwise, scope, functions)
        case Body():
            return _body(step, scope, functions)
        case Lambda(params, body):
            return lambda *given: _body(
                body, scope | dict(zip(params, given, strict=True)), functions
            )
        case Apply(callee, args):
            return cast("Callable[..., _Found]", scope[callee])(*(scope[arg] for arg in args))
        case _:
            raise AssertionError(f"a {type(step).__name__} is never drawn")
