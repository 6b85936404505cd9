"""The graph IR: bindings in A-normal form. Every operand is a named value; every right-hand side is
one step.

A ``Body`` is bindings and a result, so it is also the nested ``let``; ``If`` and ``Lambda`` hold
bodies; functions are values.
"""

from typing import ClassVar

from irkit.core import Attrs, Binds, Node, Span
from irkit.graph.arrays import ArrayData
from irkit.graph.types import Type


class Value(Node, frozen=True, eq=False):
    """A named value, known by identity; bound once, by a binding, a lambda or a function."""

    symbol: ClassVar[bool] = True
    name: str
    type: Type


class GraphStep(Node, frozen=True, eq=False):
    """Be the base of right-hand sides."""


class Constant(GraphStep, frozen=True, eq=False):
    """An array known at compile time."""

    data: ArrayData


class Op(GraphStep, frozen=True, eq=False):
    """An operator of the table ``irkit.graph.OPS`` applied to values."""

    name: str
    args: tuple[Value, ...]
    attrs: Attrs = ()


class Apply(GraphStep, frozen=True, eq=False):
    """A function value called."""

    callee: Value
    args: tuple[Value, ...]


class Invoke(GraphStep, frozen=True, eq=False):
    """A function of the module called by its name: another graph function, or a loop function,
    which fills its last parameters."""

    function: str
    args: tuple[Value, ...]


class Tuple(GraphStep, frozen=True, eq=False):
    """Values put together."""

    items: tuple[Value, ...]


class TupleGet(GraphStep, frozen=True, eq=False):
    """One item of a tuple, counted from 0."""

    value: Value
    index: int


class Bind(Node, frozen=True, eq=False):
    """Name the result of one step."""

    var: Binds[Value]
    step: GraphStep
    span: Span | None = None


class Body(GraphStep, frozen=True, eq=False):
    """Bindings in order, and the value they are for."""

    bindings: tuple[Bind, ...]
    result: Value


class GraphIf(GraphStep, frozen=True, eq=False):
    """A choice by a bool scalar; only one body is run."""

    cond: Value
    then: Body
    otherwise: Body


class Lambda(GraphStep, frozen=True, eq=False):
    """A function as a value; attribute ``composite`` names a pattern, ``fused`` marks a group that
    becomes one kernel."""

    params: Binds[tuple[Value, ...]]
    body: Body
    attrs: Attrs = ()
