"""Functions of their own from bodies that use values around them."""

from collections.abc import Mapping

from irkit.core import Span, substitute, symbols_bound
from irkit.graph.arrays import ArrayData
from irkit.graph.flow import used_inside
from irkit.graph.function import GraphFunc
from irkit.graph.nodes import Bind, Body, Constant, Value

_NOTHING: Mapping[Value, ArrayData] = {}


def outlined(
    name: str,
    params: tuple[Value, ...],
    body: Body,
    constants: Mapping[Value, ArrayData] = _NOTHING,
    span: Span | None = None,
) -> tuple[GraphFunc, tuple[Value, ...]]:
    """Return a function of a body, and what it takes behind its parameters: the values from outside
    that the body uses.

    Those among ``constants`` that have one element are repeated in the function, at ``span``.
    """
    own = {*params, *symbols_bound(body)}
    outer = [value for value in dict.fromkeys(used_inside(body)) if value not in own]
    known = {v: constants[v] for v in outer if v in constants and _is_one(constants[v])}
    given = {value: Value(value.name, value.type) for value in outer}
    repeated = [Bind(given[value], Constant(data), span) for value, data in known.items()]
    inner = substitute(body, given)
    args = tuple(value for value in outer if value not in known)
    func = GraphFunc(
        name,
        (*params, *(given[value] for value in args)),
        Body((*repeated, *inner.bindings), given.get(inner.result, inner.result)),
    )
    return func, args


def _is_one(data: ArrayData) -> bool:
    return all(extent == 1 for extent in data.shape)
