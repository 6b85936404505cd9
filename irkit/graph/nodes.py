"""The graph IR: bindings in A-normal form. Every operand is a named value, every right-hand side
one step.

A ``Body`` is bindings and a result, so it also serves as a nested ``let``; ``GraphIf`` and
``Lambda`` contain bodies; functions are values.
"""

from typing import ClassVar

from irkit.core import Attrs, Binds, Node, Span
from irkit.graph.arrays import ArrayData
from irkit.graph.types import Type
from irkit.ir import Var


class Value(Node, frozen=True, eq=False):
    """A named value with identity, bound once: by a binding, a lambda or a function."""

    symbol: ClassVar[bool] = True
    name: str
    type: Type


class GraphStep(Node, frozen=True, eq=False):
    """Base class of right-hand sides."""


class Constant(GraphStep, frozen=True, eq=False):
    """An array known at compile time."""

    data: ArrayData


class Op(GraphStep, frozen=True, eq=False):
    """An operator of ``irkit.graph.OPS`` applied to values."""

    name: str
    args: tuple[Value, ...]
    attrs: Attrs = ()


class Apply(GraphStep, frozen=True, eq=False):
    """A call of a function value."""

    callee: Value
    args: tuple[Value, ...]


class Invoke(GraphStep, frozen=True, eq=False):
    """A call of a function of the module by name.

    It is a graph function, or a loop function, which writes to its last parameters.
    """

    function: str
    args: tuple[Value, ...]


class GraphLoop(GraphStep, frozen=True, eq=False):
    """Repeated calls of a graph function of the module by name.

    The function takes the number of the iteration (i64, from 0), the state and ``others``, and
    returns a tuple: whether to go on (bool), the next state, and a row for each further tensor of
    the result. The result is a tuple: the number of iterations, the last state, and the rows along
    a new first axis. At most ``count`` iterations are made, and none unless ``cond`` holds; where
    there are rows, no more than the first axis holds, and rows of iterations that were not made
    are 0.
    """

    function: str
    count: Value
    cond: Value
    state: tuple[Value, ...]
    others: tuple[Value, ...]


class Tuple(GraphStep, frozen=True, eq=False):
    """A tuple of values."""

    items: tuple[Value, ...]


class TupleGet(GraphStep, frozen=True, eq=False):
    """One item of a tuple, counted from 0."""

    value: Value
    index: int


class Prefix(GraphStep, frozen=True, eq=False):
    """The first rows of a value: as many as the scalar ``count`` (i64) says.

    It binds the dimension ``extent``, which is only known from here on, to that number. A count
    below 0, or of more rows than the value has, ends the run with an error.
    """

    extent: Binds[Var]
    value: Value
    count: Value


class Bind(Node, frozen=True, eq=False):
    """Binding of a name to the result of one step."""

    var: Binds[Value]
    step: GraphStep
    span: Span | None = None


class Body(GraphStep, frozen=True, eq=False):
    """Bindings in order, and the value they compute."""

    bindings: tuple[Bind, ...]
    result: Value


class GraphIf(GraphStep, frozen=True, eq=False):
    """Choice by a bool scalar; only one body is run."""

    cond: Value
    then: Body
    otherwise: Body


class Lambda(GraphStep, frozen=True, eq=False):
    """A function as a value.

    The attribute ``composite`` names a pattern, ``fused`` marks a group that becomes one kernel.
    """

    params: Binds[tuple[Value, ...]]
    body: Body
    attrs: Attrs = ()
