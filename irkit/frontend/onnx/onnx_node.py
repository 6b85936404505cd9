"""One ONNX node as a converter sees it: attributes, inputs as graph values, and the builder."""

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any

import msgspec
import numpy as np
import onnx
from numpy.typing import NDArray

from irkit.core import ShapeError
from irkit.frontend.onnx.known import KnownArrays, as_sizes
from irkit.frontend.onnx.limits import MAX_CONSTANT_BYTES, MAX_ELEMENTS, MAX_RANK
from irkit.frontend.onnx.narrow_types import NarrowType, widened
from irkit.frontend.onnx.node_attributes import (
    DataDependent as DataDependent,
    ImportFailed as ImportFailed,
    NodeAttributes,
    UnknownShape as UnknownShape,
    to_array as to_array,
)
from irkit.frontend.sizes import Dim, larger, settled, smaller
from irkit.graph import (
    Builder,
    TensorType,
    TupleType,
    Value,
    as_attrs,
    written,
)
from irkit.ir import DType, Expr, Interval, PrimFunc, Var, as_int, numpy_dtype


class OnnxNode(NodeAttributes):
    """One ONNX node; ``version`` is the opset version, up to the model's, in which its operator
    last changed."""

    def __init__(
        self,
        proto: onnx.NodeProto,
        *,
        version: int,
        inputs: Sequence[Value | None],
        builder: Builder,
        known: KnownArrays,
        shape_inputs: Sequence[int] = (),
        defaults: Mapping[str, onnx.AttributeProto] | None = None,
        is_one_program: bool = True,
    ) -> None:
        super().__init__(proto, defaults)
        self.is_one_program = is_one_program
        self.version = version
        self.inputs = list(inputs)
        self.builder = builder
        self._known = known
        self._shape_inputs = shape_inputs

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs; the name of an unused one is empty."""
        return list(self.proto.output)

    def wants(self, at: int) -> bool:
        """Return True if the output with this number is used."""
        return at < len(self.proto.output) and self.proto.output[at] != ""

    def op(self, name: str, *args: "Value | float", **attrs: Any) -> Value:
        """Emit one graph operator for this node.

        A number among the arguments becomes a constant of the type of the last tensor.
        """
        tensors = [arg for arg in args if isinstance(arg, Value)]
        given = [arg if isinstance(arg, Value) else self.scalar(arg, tensors[-1]) for arg in args]
        made = self.builder.op(name, *given, name=self.label, span=self.span, **attrs)
        if isinstance(made.type, TensorType):
            self.check_size([dim for dim in map(as_int, made.type.shape) if dim is not None])
        self._known.follow(made, name, given, as_attrs(attrs))
        return made

    def loops(self, func: PrimFunc, *args: Value, types: Sequence[TensorType]) -> list[Value]:
        """Emit a call of a loop function that computes results of these types."""
        for each in types:
            self.check_size([dim for dim in map(as_int, each.shape) if dim is not None])
        kind = types[0] if len(types) == 1 else TupleType(tuple(types))
        made = self.builder.kernel(func, *args, type=kind, name=self.label, span=self.span)
        items = (
            [made]
            if len(types) == 1
            else [self.builder.item(made, at, span=self.span) for at in range(len(types))]
        )
        self._known.follow_loops(func, args, items)
        return items

    def prefix(self, value: Value, count: Value) -> Value:
        """Emit the first rows of a value, as many as a scalar says that is only known then."""
        made = self.builder.prefix(value, count, name=self.label, span=self.span)
        extent = self.type(made).shape[0]
        assert isinstance(extent, Var)
        self._known.follow_prefix(made, count, extent, self.type(value).shape[0])
        return self.alike(made, value)

    def branch(self, cond: Value, *sides: tuple[Builder, Sequence[Value]]) -> list[Value]:
        """Emit a choice by a bool scalar between the results of two bodies, of the same types."""
        count = len(sides[0][1])
        then, otherwise = (
            builder.body(found[0] if count == 1 else builder.tuple(*found, span=self.span))
            for builder, found in sides
        )
        made = self.builder.branch(cond, then, otherwise, name=self.label, span=self.span)
        items = (
            [made]
            if count == 1
            else [self.builder.item(made, at, span=self.span) for at in range(count)]
        )
        return [self.alike(item, like) for item, like in zip(items, sides[0][1], strict=True)]

    def sequence(self, items: Sequence[Value]) -> Value:
        """Make a sequence of values."""
        value = self.builder.tuple(*items, name=self.label, span=self.span)
        self._known.sequences[value] = tuple(items)
        return value

    def items(self, at: int) -> list[Value]:
        """Return the values of a required input that is a sequence."""
        found = self._known.sequences.get(self.input(at))
        if found is None:
            raise self.fail(f"input {at} is not a sequence")
        return list(found)

    def scalar(self, number: float, like: Value) -> Value:
        """Emit a number as a constant of the element type of a value."""
        return self.constant(np.array(number).astype(numpy_dtype(self.dtype(like))))

    def cast(self, value: Value, dtype: DType) -> Value:
        """Convert a value to an element type, unless it has that."""
        return value if self.dtype(value) == dtype else self.op("cast", value, dtype=dtype)

    def check_size(self, shape: Sequence[int]) -> None:
        """Raise ImportFailed if a tensor is so large that the model must be damaged or
        malicious."""
        if len(shape) > MAX_RANK:
            raise self.fail(f"a tensor of rank {len(shape)}: more than {MAX_RANK} is not supported")
        # An extent of 0 counts as 1, since NumPy limits the product of the others.
        if math.prod(max(dim, 1) for dim in shape) > MAX_ELEMENTS:
            raise self.fail(
                f"a tensor of shape {tuple(shape)} has more than {MAX_ELEMENTS} elements"
            )

    def full(self, shape: Sequence[int], value: NDArray[np.generic]) -> Value:
        """Emit a constant filled with one value; their total size in a model is limited."""
        self.check_size(shape)
        self._known.made_bytes += math.prod(shape) * value.dtype.itemsize
        if self._known.made_bytes > MAX_CONSTANT_BYTES:
            raise self.fail(
                f"with this tensor of shape {tuple(shape)}, constants made by nodes take more than "
                f"{MAX_CONSTANT_BYTES} bytes"
            )
        array = np.full(shape, value.reshape(()), dtype=value.dtype)
        array.flags.writeable = False  # Owned by the constant, which then need not copy it.
        return self.constant(array)

    def constant(self, array: NDArray[np.generic]) -> Value:
        """Emit a constant; later converters can read its value."""
        array, narrow = widened(array)
        value = self.builder.constant(array, name=f"{self.label}_const", span=self.span)
        self._known[value] = array
        return value if narrow is None else self.as_narrow(value, narrow)

    def constant_in(self, builder: Builder, array: NDArray[np.generic]) -> Value:
        """Emit an array in a body inside that where the node is."""
        value = builder.constant(array, name=f"{self.label}_const", span=self.span)
        self._known[value] = array
        return value

    def input(self, at: int) -> Value:
        """Return a required input."""
        value = self.optional(at)
        if value is None:
            raise self.fail(f"input {at} is missing")
        return value

    def optional(self, at: int) -> Value | None:
        """Return an input, or None if it was left out."""
        return self.inputs[at] if at < len(self.inputs) else None

    def array(self, at: int, what: str) -> NDArray[np.generic] | None:
        """Return the value of an input that decides a shape, or None if it was left out.

        Raises: ImportFailed if the value is only known when the model runs.
        """
        assert at in self._shape_inputs, f"SHAPE_INPUTS must list input {at} of {self.title}"
        value = self.optional(at)
        try:
            return None if value is None else self.array_of(value, what)
        except UnknownShape as error:
            error.value = self.proto.input[at]
            raise

    def array_of(self, value: Value, what: str) -> NDArray[np.generic]:
        """Return the value of something that decides a shape.

        Raises: UnknownShape if it is only known when the model runs.
        """
        known = self._known.get(value)
        if known is None:
            raise self._unknown_shape(value, what)
        overflow = self._known.overflow(value)
        if overflow is not None:
            raise self.fail(
                f"its {what} (input {value.name!r}) comes from integers that overflow, in "
                f"{overflow.name!r}"
            )
        return known

    def countable(self, at: int, what: str) -> UnknownShape:
        """Return the error for an input that decides a shape, where that shape could be a dimension
        that the run finds."""
        error = self._unknown_shape(self.input(at), what)
        error.value, error.is_countable = self.proto.input[at], True
        return error

    def is_known(self, at: int) -> bool:
        """Return True if the value of an input is known on import."""
        return self.optional(at) in self._known

    def is_true(self, value: Value) -> bool:
        """Return True if a value is known to be one true bool."""
        known = self._known.get(value)
        return known is not None and known.size == 1 and bool(known.reshape(-1)[0])

    def at_least_0(self, size: Dim) -> Dim:
        """Return a size, or 0 where it would be negative."""
        return self._known.sizes.at_least_0(size)

    def clamped(self, size: Dim, most: Dim) -> Dim:
        """Return a size, moved to 0 or ``most`` if it is beyond."""
        return settled(larger(smaller(size, most), 0), self.ranges)

    @property
    def ranges(self) -> Mapping[Var, Interval]:
        """The sizes of each dimension."""
        return self._known.sizes.ranges

    def place(self, dim: Expr) -> tuple[Value, int] | None:
        """Return a value that can be used here, and one of its axes, that has an extent."""
        found = self._known.sizes.place(dim)
        return found if found is not None and self.builder.binds(found[0]) else None

    def limit(self, dim: Dim) -> Dim:
        """Return the most that a size is, without the dimensions that are not known here because
        a body inside finds them."""
        return self._known.sizes.limit(dim, lambda var: self.place(var) is None)

    def is_zero(self, value: Value) -> bool:
        """Return True if all elements of a value are known to be 0."""
        known = self._known.get(value)
        return known is not None and not np.any(known)

    def narrow_type(self, value: Value) -> NarrowType | None:
        """Return the type that a value has in the model, if irkit computes it in a wider one."""
        return self._known.narrow.get(value)

    def as_narrow(self, value: Value, kind: NarrowType) -> Value:
        """Note that a value has a narrow type in the model, and return it."""
        self._known.narrow[value] = kind
        return value

    def alike(self, value: Value, other: Value) -> Value:
        """Note that a value has the type in the model that another has, and return it."""
        kind = self.narrow_type(other)
        return value if kind is None else self.as_narrow(value, kind)

    def _unknown_shape(self, value: Value, what: str) -> UnknownShape:
        origin = self._known.origin(value).name
        error = UnknownShape(
            f"{self.title}: its {what} (input {value.name!r}) decides a shape, but is only known "
            "when the model runs",
            hint=f"Fix it on import: values={{{origin!r}: array}}, or --value {origin}=NUMBERS.",
            span=self.span,
        )
        error.input = origin
        return error

    def ints(self, at: int, what: str) -> tuple[int, ...] | None:
        """Return an input that decides a shape as integers."""
        array = self.array(at, what)
        if array is None:
            return None
        if array.dtype.kind not in "iu" or array.ndim > 1:
            raise self.fail(
                f"its {what} must be integers in one dimension, found {array.dtype} of rank "
                f"{array.ndim}"
            )
        return tuple(int(item) for item in array.reshape(-1))

    def type(self, value: Value) -> TensorType:
        """Return the tensor type of a value."""
        if not isinstance(value.type, TensorType):
            raise self.fail(f"{value.name!r} is not a tensor")
        return value.type

    def dtype(self, value: Value) -> DType:
        return self.type(value).dtype

    def type_name(self, at: int) -> str:
        """Return the element type of an input as ONNX calls it; "" without one."""
        value = self.inputs[at]
        if value is None or not isinstance(value.type, TensorType):
            return ""
        narrow = self.narrow_type(value)
        if narrow is not None:
            return narrow.called
        number = onnx.helper.np_dtype_to_tensor_dtype(numpy_dtype(value.type.dtype))
        return onnx.TensorProto.DataType.Name(number).lower()

    def shape(self, value: Value) -> tuple[int, ...]:
        """Return a shape that must be constant here.

        Raises: ShapeError if a dimension is symbolic.
        """
        return self.constants(value, self.type(value).shape)

    def constants(self, value: Value, shape: Sequence[Dim]) -> tuple[int, ...]:
        """Return some dimensions of a value, which must be constant here.

        Raises: ShapeError if one is symbolic.
        """
        dims = [as_int(dim) for dim in shape]
        known = [dim for dim in dims if dim is not None]
        if len(known) != len(dims):
            open_ = next(dim for dim in shape if as_int(dim) is None)
            raise ShapeError(
                f"{self.title}: the shape of {value.name!r} must be constant here, but has the "
                f"dimension {written((open_,))[1:-1]}",
                hint="Fix the model's inputs on import: shapes={'name': (1, 3, 224, 224)}.",
                span=self.span,
            )
        return tuple(known)

    def dims(self, value: Value) -> tuple[Dim, ...]:
        """Return a shape: numbers, and expressions for what is only known at a call."""
        return tuple(as_sizes(self.type(value).shape))

    def sizes(self, at: int, what: str) -> tuple[Dim, ...] | None:
        """Return an input that decides a shape, whose numbers can be computed from dimensions."""
        if not self.is_of_dimensions(at):
            return self.ints(at, what)
        known = self._known.sizes[self.input(at)]
        if known.ndim > 1:
            raise self.fail(f"its {what} must be integers in one dimension")
        return tuple(known.reshape(-1))

    def is_of_dimensions(self, at: int) -> bool:
        """Return True if an input holds sizes that are computed from dimensions."""
        value = self.optional(at)
        return value in self._known.sizes and value not in self._known

    def as_known_sizes(self, value: Value, dims: Sequence[Dim]) -> Value:
        """Note that a value holds these sizes, and return it."""
        self._known.sizes[value] = as_sizes(dims)
        return value

    def extent(self, value: Value, axis: int) -> int:
        """Return one extent, which must be a number here."""
        found = self.dims(value)[axis]
        return found if isinstance(found, int) else self.shape(value)[axis]

    def inside(self, builder: Builder | None = None) -> "OnnxNode":
        """Return the node with another builder, by default one of its own for the body of a
        loop."""
        made = copy(self)
        made.builder = builder or self.builder.inner()
        return made

    def rank(self, value: Value) -> int:
        return len(self.type(value).shape)

    def axis(self, axis: int, rank: int, *, end: bool = False) -> int:
        """Return an axis counted from the front; ``end`` also allows the place after the last."""
        limit = rank + 1 if end else rank
        if not -rank <= axis < max(limit, 1):
            raise self.fail(f"axis {axis} is outside a tensor of rank {rank}")
        return axis + rank if axis < 0 else axis

    def numpy_type(self, value: Value) -> "np.dtype[np.generic]":
        """Return the element type of a value as NumPy has it."""
        return numpy_dtype(self.dtype(value))


class Counted(msgspec.Struct, frozen=True, eq=False):
    """Outputs in room for the most elements; ``axes`` says along which axis each is cut to
    ``count``, a number that is only known when the model runs, and is None where it is not cut."""

    outputs: tuple[Value | None, ...]
    axes: tuple[int | None, ...]
    count: Value


Converter = Callable[[OnnxNode], Value | Sequence[Value | None] | Counted]
"""From a node to its outputs, None for those that nobody uses."""
