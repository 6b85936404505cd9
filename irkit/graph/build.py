"""Build graph functions binding by binding, with unique names and inferred types.

Example::

    b = Builder("main")
    x = b.param("x", (1, 3, 224, 224))
    w = b.constant(weights, name="w")
    c = b.op("conv", x, w, strides=(2, 2))
    func = b.finish(b.op("relu", c))
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from irkit.core import IRKitError, Span, UniqueNames, same, symbols_bound
from irkit.graph.arrays import ArrayData
from irkit.graph.function import GraphFunc
from irkit.graph.infer import type_of
from irkit.graph.nodes import (
    Apply,
    Bind,
    Body,
    Constant,
    GraphIf,
    GraphLoop,
    GraphStep,
    Invoke,
    Lambda,
    Op,
    Prefix,
    Tuple,
    TupleGet,
    Value,
)
from irkit.graph.ops import as_attrs
from irkit.graph.types import TensorType, TupleType, Type
from irkit.ir import DType, ExprLike, PrimFunc, Var, as_dtype, index


def tensor_type(shape: Sequence[ExprLike], dtype: DType | str = "f32") -> TensorType:
    """Return a tensor type; extents are ints or expressions."""
    return TensorType(tuple(index(extent) for extent in shape), as_dtype(dtype))


class Builder:
    """Bindings of one body under construction.

    ``inner()`` opens the body of a lambda or of a branch, which shares the names.
    """

    def __init__(
        self,
        name: str = "main",
        *,
        names: UniqueNames | None = None,
        functions: dict[str, PrimFunc | GraphFunc] | None = None,
    ) -> None:
        self.name = name
        self.names = UniqueNames() if names is None else names
        self.functions: dict[str, PrimFunc | GraphFunc] = {} if functions is None else functions
        """Functions that are called, by name; the module of the function must hold them."""
        self._params: list[Value] = []
        self._bindings: list[Bind] = []
        self._bound: set[Value] = set()
        self._outer: Builder | None = None

    @classmethod
    def of(cls, func: GraphFunc) -> "Builder":
        """Return a builder that goes on with a function, of which it has all values."""
        made = cls(
            func.name,
            names=UniqueNames(
                [*(value.name for value in symbols_bound(func) if isinstance(value, Value))]
            ),
        )
        made._params, made._bindings = list(func.params), list(func.body.bindings)
        made._bound.update(func.params, (bind.var for bind in func.body.bindings))
        return made

    def param(
        self,
        name: str,
        shape: "Sequence[ExprLike] | Type",
        dtype: DType | str = "f32",
    ) -> Value:
        """Add a parameter of a shape and element type, or of a type."""
        found = shape if isinstance(shape, Type) else tensor_type(shape, dtype)
        value = Value(self.names(name), found)
        self._params.append(value)
        self._bound.add(value)
        return value

    def op(
        self, operator: str, *args: Value, name: str = "", span: Span | None = None, **attrs: Any
    ) -> Value:
        """Apply an operator; attributes can be lists, tuples, NumPy scalars or types.

        Raises: ShapeError, DTypeError or OptionError from inference, with ``span``.
        """
        return self.emit(Op(operator, args, as_attrs(attrs)), name or operator, span=span)

    def constant(
        self, array: "NDArray[Any] | ArrayData", *, name: str = "const", span: Span | None = None
    ) -> Value:
        """Bind an array."""
        data = array if isinstance(array, ArrayData) else ArrayData(np.asarray(array))
        return self.emit(Constant(data), name, span=span)

    def tuple(self, *items: Value, name: str = "pair", span: Span | None = None) -> Value:
        """Make a tuple of values."""
        return self.emit(Tuple(items), name, span=span)

    def item(self, value: Value, index: int, *, name: str = "", span: Span | None = None) -> Value:
        """Return one item of a tuple, counted from 0."""
        return self.emit(TupleGet(value, index), name or f"{value.name}_{index}", span=span)

    def apply(
        self, callee: Value, *args: Value, name: str = "result", span: Span | None = None
    ) -> Value:
        """Call a function value."""
        return self.emit(Apply(callee, args), name, span=span)

    def invoke(
        self,
        function: str,
        *args: Value,
        type: Type,
        name: str = "result",
        span: Span | None = None,
    ) -> Value:
        """Call a function of the module, whose result has the given type."""
        return self.emit(Invoke(function, args), name, type=type, span=span)

    def kernel(
        self, func: PrimFunc, *args: Value, type: Type, name: str = "", span: Span | None = None
    ) -> Value:
        """Call a loop function, which writes a result of the given type to its last parameters.

        It joins ``functions``, as ``define`` says.
        """
        return self.emit(Invoke(self.define(func), args), name or func.name, type=type, span=span)

    def define(self, func: "PrimFunc | GraphFunc") -> str:
        """Add a function to ``functions``, under another name if that is taken, or once if it is
        there already; return its name."""
        called, number = func.name, 1
        while called == self.name or (
            called in self.functions and not same(self.functions[called], func)
        ):
            number += 1
            called = f"{func.name}_{number}"
        self.functions.setdefault(called, func.replace(name=called))
        return called

    def inner(self) -> "Builder":
        """Open a nested body."""
        made = Builder(names=self.names, functions=self.functions)
        made._outer = self
        return made

    def function(
        self,
        inner: "Builder",
        result: Value,
        *,
        name: str = "f",
        span: Span | None = None,
        **attrs: Any,
    ) -> Value:
        """Bind the lambda with the parameters and bindings of ``inner``."""
        step = Lambda(tuple(inner._params), inner.body(result), as_attrs(attrs))
        return self.emit(step, name, span=span)

    def branch(
        self,
        cond: Value,
        then: Body,
        otherwise: Body,
        *,
        name: str = "chosen",
        span: Span | None = None,
    ) -> Value:
        """Choose between the results of two bodies."""
        return self.emit(GraphIf(cond, then, otherwise), name, span=span)

    def loop(
        self,
        function: str,
        count: Value,
        cond: Value,
        state: Sequence[Value],
        others: Sequence[Value] = (),
        *,
        rows: Sequence[TensorType] = (),
        name: str = "loop",
        span: Span | None = None,
    ) -> Value:
        """Call a function of the module repeatedly, as ``GraphLoop`` says; ``rows`` are the types
        of the results that have a row for each iteration."""
        kinds = (tensor_type((), "i64"), *(value.type for value in state), *rows)
        step = GraphLoop(function, count, cond, tuple(state), tuple(others))
        return self.emit(step, name, type=TupleType(kinds), span=span)

    def prefix(
        self, value: Value, count: Value, *, name: str = "", span: Span | None = None
    ) -> Value:
        """Return the first ``count`` rows of a value; its first dimension is a new one."""
        called = name or f"{value.name}_prefix"
        extent = Var(self.names(f"{called}_rows"))
        return self.emit(Prefix(extent, value, count), called, span=span)

    def emit(
        self,
        step: GraphStep,
        name: str = "v",
        *,
        type: Type | None = None,
        span: Span | None = None,
    ) -> Value:
        """Bind the result of a step, with its inferred type unless one is given."""
        try:
            value = Value(self.names(name), type_of(step) if type is None else type)
        except IRKitError as error:
            if span is None or error.span is not None:
                raise
            raise error.__class__(error.message, hint=error.hint, span=span) from None
        self._bindings.append(Bind(value, step, span))
        self._bound.add(value)
        return value

    @property
    def bindings(self) -> Sequence[Bind]:
        """The bindings so far."""
        return list(self._bindings)

    def binds(self, value: Value) -> bool:
        """Return True if a value is a parameter or a binding of this body, or of one around it."""
        builder: Builder | None = self
        while builder is not None and value not in builder._bound:
            builder = builder._outer
        return builder is not None

    def body(self, result: Value) -> Body:
        """Return the finished body."""
        return Body(tuple(self._bindings), result)

    def finish(self, *results: Value, span: Span | None = None, **attrs: Any) -> GraphFunc:
        """Return the finished function; several results become a tuple."""
        result = results[0] if len(results) == 1 else self.tuple(*results, name="results")
        return GraphFunc(
            self.name, tuple(self._params), self.body(result), as_attrs(attrs), span=span
        )
