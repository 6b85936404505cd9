"""The function of the graph IR."""

from irkit.core import Attrs, Binds, Function, Span
from irkit.graph.nodes import Body, Value


class GraphFunc(Function, frozen=True, eq=False, weakref=True):
    """A function over tensors without side effects."""

    params: Binds[tuple[Value, ...]]
    body: Body
    attrs: Attrs = ()
    span: Span | None = None
