"""The function of the graph IR."""

from irkit.core import Attrs, Binds, Function, Names, Span
from irkit.graph.nodes import Body, Value
from irkit.graph.script import script


class GraphFunc(Function, frozen=True, eq=False, weakref=True):
    """A function over tensors without side effects."""

    params: Binds[tuple[Value, ...]]
    body: Body
    attrs: Attrs = ()
    span: Span | None = None

    def script(self, *, names: Names | None = None) -> str:
        """Print as text that parses back."""
        return script(self, names=names)

    def __str__(self) -> str:
        return script(self)
