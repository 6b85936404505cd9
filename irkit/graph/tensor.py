"""Graphs of operators written as expressions: ``relu(x @ w + b)``.

A ``TensorExpr`` knows its type at once and is bound to a name only when ``Binding`` puts it into
the body of a ``Builder``. So an expression needs no builder while it is written, what no result
needs is never bound, and one that is used twice is bound once.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Union

import msgspec
import numpy as np
from numpy.typing import NDArray

from irkit.core import Attrs, DTypeError, IRKitError, ShapeError, Span
from irkit.graph.arrays import ArrayData
from irkit.graph.build import Builder
from irkit.graph.infer import array_type
from irkit.graph.nodes import Op, Value
from irkit.graph.ops import as_attrs, op_spec
from irkit.graph.types import TensorType, TupleType, Type
from irkit.ir import DType, Expr, as_dtype, as_int, numpy_dtype

Operand = Union["TensorExpr", float, "NDArray[Any]"]


class OpApplication(msgspec.Struct, frozen=True, eq=False):
    """An operator applied to tensors; its type is a tuple if it has several results."""

    operator: str
    args: "tuple[TensorExpr, ...]"
    attrs: Attrs
    type: Type
    name: str
    span: Span | None


class Item(msgspec.Struct, frozen=True, eq=False):
    """One result of an operator that has several."""

    whole: OpApplication
    index: int


class TensorExpr:
    """A tensor of a graph that is being written.

    ``source`` is the value, the array or the operator that it comes from, or None for an input,
    which whoever binds it knows.
    """

    __slots__ = ("name", "source", "type")

    if not TYPE_CHECKING:
        # NumPy's scalars and arrays leave the operation to this side.
        __array_ufunc__: ClassVar[None] = None

    def __init__(
        self,
        type: TensorType,
        source: "Value | ArrayData | OpApplication | Item | None" = None,
        name: str = "",
    ) -> None:
        self.type = type
        self.source = source
        self.name = name

    @property
    def dtype(self) -> DType:
        return self.type.dtype

    @property
    def rank(self) -> int:
        return len(self.type.shape)

    @property
    def dims(self) -> tuple[Expr, ...]:
        """The extents as expressions."""
        return self.type.shape

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents as numbers. Raises: ShapeError if one is symbolic."""
        found = [as_int(extent) for extent in self.type.shape]
        known = tuple(extent for extent in found if extent is not None)
        if len(known) != len(found):
            raise ShapeError(
                f"the shape of {self.name or 'the tensor'} is not constant, and its numbers are "
                "needed here",
                hint="Fix the symbolic dimensions, or use dims, which are expressions.",
            )
        return known

    def extent(self, axis: int) -> int:
        """Return one extent as a number. Raises: ShapeError if it is symbolic."""
        found = as_int(self.type.shape[axis])
        if found is None:
            raise ShapeError(
                f"the extent of axis {axis} of {self.name or 'the tensor'} is symbolic, and its "
                "number is needed here",
                hint="Fix the symbolic dimension.",
            )
        return found

    def __repr__(self) -> str:
        extents = ", ".join(str(as_int(extent) or "?") for extent in self.type.shape)
        return f"TensorExpr({self.name or 'tensor'}: {self.dtype}[{extents}])"

    def __bool__(self) -> bool:
        raise DTypeError(
            "a tensor has no truth value while the graph is being written",
            hint='Choose elements by operator("where", cond, a, b), and combine by '
            'operator("logical_and", c, d); whether it is the same tensor says `is`.',
        )

    # Comparisons are operators as well; keys of dictionaries are found by identity.
    __hash__ = object.__hash__

    def __eq__(self, other: Operand) -> "TensorExpr":  # pyright: ignore[reportIncompatibleMethodOverride] -- builds an operator
        return operator("equal", self, other)

    def __ne__(self, other: Operand) -> "TensorExpr":  # pyright: ignore[reportIncompatibleMethodOverride] -- builds an operator
        return operator("not_equal", self, other)

    def __lt__(self, other: Operand) -> "TensorExpr":
        return operator("less", self, other)

    def __le__(self, other: Operand) -> "TensorExpr":
        return operator("less_equal", self, other)

    def __gt__(self, other: Operand) -> "TensorExpr":
        return operator("greater", self, other)

    def __ge__(self, other: Operand) -> "TensorExpr":
        return operator("greater_equal", self, other)

    def __add__(self, other: Operand) -> "TensorExpr":
        return operator("add", self, other)

    def __radd__(self, other: Operand) -> "TensorExpr":
        return operator("add", other, self)

    def __sub__(self, other: Operand) -> "TensorExpr":
        return operator("subtract", self, other)

    def __rsub__(self, other: Operand) -> "TensorExpr":
        return operator("subtract", other, self)

    def __mul__(self, other: Operand) -> "TensorExpr":
        return operator("multiply", self, other)

    def __rmul__(self, other: Operand) -> "TensorExpr":
        return operator("multiply", other, self)

    def __truediv__(self, other: Operand) -> "TensorExpr":
        return operator("divide", self, other)

    def __rtruediv__(self, other: Operand) -> "TensorExpr":
        return operator("divide", other, self)

    def __pow__(self, other: Operand) -> "TensorExpr":
        return operator("power", self, other)

    def __rpow__(self, other: Operand) -> "TensorExpr":
        return operator("power", other, self)

    def __matmul__(self, other: Operand) -> "TensorExpr":
        return operator("matmul", self, other)

    def __rmatmul__(self, other: Operand) -> "TensorExpr":
        return operator("matmul", other, self)

    def __neg__(self) -> "TensorExpr":
        return operator("negative", self)

    def __getitem__(self, index: "int | slice | tuple[int | slice, ...]") -> "TensorExpr":
        """Cut with NumPy's integers and slices. Raises: ShapeError for an index out of range."""
        return _cut(self, index if isinstance(index, tuple) else (index,))

    def reshape(self, *shape: int) -> "TensorExpr":
        """Return the elements in another shape; one extent can be -1."""
        return operator("reshape", self, shape=shape)

    def transpose(self, *axes: int) -> "TensorExpr":
        """Permute the axes; without arguments, reverse them."""
        return operator("transpose", self, axes=axes)

    def cast(self, dtype: DType | str) -> "TensorExpr":
        """Convert the elements to another type."""
        return operator("cast", self, dtype=str(dtype))

    def sum(self, *axes: int, keepdims: bool = False) -> "TensorExpr":
        """Add along axes; without axes, along all of them."""
        return operator("sum", self, axes=axes, keepdims=keepdims)

    def mean(self, *axes: int, keepdims: bool = False) -> "TensorExpr":
        """Average along axes; without axes, along all of them."""
        return operator("mean", self, axes=axes, keepdims=keepdims)

    def max(self, *axes: int, keepdims: bool = False) -> "TensorExpr":
        """Return the largest elements along axes; without axes, along all of them."""
        return operator("max", self, axes=axes, keepdims=keepdims)


def graph_input(name: str, type: TensorType) -> TensorExpr:
    """Return a tensor whose value is known to whoever binds the expression."""
    return TensorExpr(type, None, name)


def tensor_of(value: Value) -> TensorExpr:
    """Return a bound value as an expression. Raises: ShapeError if it is no tensor."""
    if not isinstance(value.type, TensorType):
        raise ShapeError(f"{value.name!r} is not a tensor")
    return TensorExpr(value.type, value, value.name)


def constant(array: "NDArray[Any] | float", dtype: DType | str | None = None) -> TensorExpr:
    """Return an array or a number as an expression, in an element type if one is given."""
    wanted = None if dtype is None else numpy_dtype(as_dtype(dtype))
    data = ArrayData(np.asarray(array, wanted))
    return TensorExpr(array_type(data), data, "const")


def operator(
    name: str, *args: Operand, label: str = "", span: Span | None = None, **attrs: Any
) -> TensorExpr:
    """Apply an operator of ``irkit.graph.OPS`` that has one result.

    A number takes the element type of the last tensor. Raises: ShapeError, DTypeError or
    OptionError from inference; IRKitError if the operator has several results.
    """
    made = _application(name, args, attrs, label, span)
    if not isinstance(made.type, TensorType):
        raise IRKitError(f"{name} has several results", hint="Use operator_results.")
    return TensorExpr(made.type, made, label or name)


def operator_results(
    name: str, *args: Operand, label: str = "", span: Span | None = None, **attrs: Any
) -> tuple[TensorExpr, ...]:
    """Apply an operator and return its results as a tuple, also one alone."""
    made = _application(name, args, attrs, label, span)
    if isinstance(made.type, TensorType):
        return (TensorExpr(made.type, made, label or name),)
    assert isinstance(made.type, TupleType)
    return tuple(
        TensorExpr(kind, Item(made, at), f"{label or name}_{at}")
        for at, kind in enumerate(made.type.items)
        if isinstance(kind, TensorType)
    )


def _application(
    name: str, args: Sequence[Operand], attrs: Mapping[str, Any], label: str, span: Span | None
) -> OpApplication:
    # The last tensor, because the condition of ``where`` comes first.
    dtypes = [arg.dtype for arg in args if isinstance(arg, TensorExpr)]
    tensors = tuple(_operand(name, arg, dtypes[-1] if dtypes else None) for arg in args)
    given = as_attrs(attrs)
    kind = op_spec(name).infer([tensor.type for tensor in tensors], given)
    return OpApplication(name, tensors, given, kind, label or name, span)


def _operand(name: str, arg: Operand, dtype: DType | None) -> TensorExpr:
    if isinstance(arg, TensorExpr):
        return arg
    if isinstance(arg, np.ndarray):
        return constant(arg)
    if isinstance(arg, (bool, int, float, np.generic)):  # pyright: ignore[reportUnnecessaryIsInstance] -- a user's mistake
        if isinstance(arg, float) and dtype is not None and not dtype.is_float:
            raise DTypeError(f"{name}: {arg!r} is not of the type {dtype}", hint="Insert a cast.")
        return constant(arg, dtype)
    raise DTypeError(f"{name}: expected a tensor, a number or an array, found {type(arg).__name__}")


def _cut(x: TensorExpr, index: "tuple[int | slice, ...]") -> TensorExpr:
    if len(index) > x.rank:
        raise ShapeError(f"{len(index)} indices for a tensor of rank {x.rank}")
    cuts, dropped = list[tuple[int, int, int, int]](), list[int]()
    for axis, each in enumerate(index):
        if isinstance(each, slice):
            if each == slice(None):
                continue
            begin, end, stride = each.indices(x.extent(axis))
            end = end if end >= 0 else -x.extent(axis) - 1
        else:
            extent = x.extent(axis)
            if not -extent <= each < extent:
                raise ShapeError(f"index {each} is out of range for axis {axis} of {extent}")
            begin, end, stride = each % extent, each % extent + 1, 1
            dropped.append(axis)
        cuts.append((begin, end, stride, axis))
    if cuts:
        begins, ends, strides, axes = zip(*cuts, strict=True)
        x = operator("slice", x, begins=begins, ends=ends, strides=strides, axes=axes)
    return operator("squeeze", x, axes=dropped) if dropped else x


class Binding:
    """Binds expressions in the body of a builder, each once.

    ``scope`` holds the values of inputs.
    """

    def __init__(self, builder: Builder, scope: "Mapping[TensorExpr, Value] | None" = None) -> None:
        self.builder = builder
        self._bound: dict[int, Value] = {}
        self._kept: list[object] = []  # An id stands for an object only while that lives.
        self._origins: dict[int, Span | None] = {}
        for tensor, value in (scope or {}).items():
            self._keep(tensor, value)

    def value(self, tensor: TensorExpr) -> Value:
        """Return the value of an expression, after binding what it needs.

        Raises: IRKitError for an input that is not in the scope.
        """
        stack: list[TensorExpr | OpApplication] = [tensor]
        while stack:
            node = stack[-1]
            if id(node) in self._bound:
                stack.pop()
                continue
            missing = [each for each in _needs(node) if id(each) not in self._bound]
            if missing:
                stack += reversed(missing)
                continue
            stack.pop()
            self._keep(node, self._bind(node))
        return self._bound[id(tensor)]

    def mark(self, tensor: TensorExpr, span: Span | None) -> None:
        """Set the origin of an expression and of what it needs, except what has one already."""
        stack: list[TensorExpr | OpApplication] = [tensor]
        while stack:
            node = stack.pop()
            if id(node) not in self._origins:
                self._origins[id(node)] = span
                self._kept.append(node)
                stack += _needs(node)

    def _bind(self, node: TensorExpr | OpApplication) -> Value:
        if isinstance(node, OpApplication):
            step = Op(node.operator, tuple(self._bound[id(arg)] for arg in node.args), node.attrs)
            span = node.span or self._origins.get(id(node))
            return self.builder.emit(step, node.name, span=span)
        match node.source:
            case Value() as value:
                return value
            case ArrayData() as data:
                return self.builder.constant(data, name=node.name)
            case Item(whole, index):
                return self.builder.item(self._bound[id(whole)], index, span=whole.span)
            case OpApplication() as made:
                return self._bound[id(made)]
            case _:
                raise IRKitError(f"input {node.name!r} has no value here")

    def _keep(self, node: object, value: Value) -> None:
        self._bound[id(node)] = value
        self._kept.append(node)


def _needs(node: TensorExpr | OpApplication) -> "tuple[TensorExpr | OpApplication, ...]":
    if isinstance(node, OpApplication):
        return node.args
    match node.source:
        case Item(whole, _):
            return (whole,)
        case OpApplication() as made:
            return (made,)
        case _:
            return ()
