"""Tensors, the operations that produce them, and reads of their elements.

A tensor is output ``index`` of an operation. An operation is a placeholder, whose values come from
outside, or a stage: axes, and for each output an expression in terms of those axes.
"""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Union, cast

import msgspec

from irkit.core import Attrs, DTypeError, Node, ShapeError, Span, Uses, user_span, walk
from irkit.ir import (
    I64,
    TRACES,
    Add,
    Binary,
    Const,
    Div,
    DType,
    Expr,
    ExprLike,
    FloorDiv,
    FloorMod,
    Mul,
    RefusedOperators,
    Sub,
    Symbolic,
    Var,
    as_dtype,
    as_expr,
    as_int,
    binary,
    convert,
    equal_sums,
    plain,
    run_traced,
    traced,
    tracing,
)
from irkit.te.axis import IterVar, Range

Dims = Sequence[ExprLike]


class Operation(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Base class of operations that produce tensors, compared by identity."""

    name: str
    shape: tuple[Expr, ...]
    dtypes: tuple[DType, ...]
    span: Span | None = None
    tag: str = ""
    attrs: Attrs = ()
    axis: tuple[IterVar, ...] = ()
    reduce_axis: tuple[IterVar, ...] = ()
    body: tuple[Expr, ...] = ()
    outputs: "tuple[Tensor, ...]" = ()

    def __post_init__(self) -> None:
        made = tuple(Tensor(self, index) for index in range(len(self.dtypes)))
        msgspec.structs.force_setattr(self, "outputs", made)

    def output(self, index: int) -> "Tensor":
        """Return the tensor that is output ``index``."""
        return self.outputs[index]

    @property
    def input_tensors(self) -> "tuple[Tensor, ...]":
        """List the tensors read, each once, in the order of reading."""
        return tuple(
            dict.fromkeys(read.tensor for expr in self.body for read in walk(expr, TensorRead))
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


class PlaceholderOp(Operation, frozen=True, eq=False, kw_only=True):
    """Operation of a tensor whose values come from outside."""


class ComputeOp(Operation, frozen=True, eq=False, kw_only=True):
    """Operation of a stage: at each point of ``axis``, output ``o`` is ``body[o]``."""


class Tensor(Symbolic, RefusedOperators, Node, frozen=True, eq=False):
    """Output ``index`` of an operation, compared by identity; supports indexing, calls and
    arithmetic."""

    symbol: ClassVar[bool] = True
    op: Operation
    index: int

    @property
    def name(self) -> str:
        """The name of the operation, with the number of the output if there are several."""
        several = len(self.op.dtypes) > 1
        return f"{self.op.name}_{self.index}" if several else self.op.name

    @property
    def shape(self) -> tuple[Expr, ...]:
        shape = self.op.shape
        return tuple(traced(dim) for dim in shape) if TRACES else shape

    @property
    def dtype(self) -> DType:
        return self.op.dtypes[self.index]

    @property
    def ndim(self) -> int:
        return len(self.op.shape)

    def __repr__(self) -> str:
        return f"Tensor({self.name}: {self.dtype}{dims_text(self.shape)})"

    def __eq__(self, other: object) -> bool:
        if self.ndim and isinstance(other, Tensor):
            return self is other  # Also in a trace: neither is an element.
        return Symbolic.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        if self.ndim and isinstance(other, Tensor):
            return self is not other
        return Symbolic.__ne__(self, other)

    __hash__ = Symbolic.__hash__

    def __len__(self) -> int:
        extent = as_int(self.shape[0]) if self.shape else None
        if extent is None:
            raise ShapeError(f"tensor {self.name!r} has no constant length", span=user_span())
        return extent

    def __iter__(self) -> None:
        raise ShapeError(f"tensor {self.name!r} cannot be iterated over", span=user_span())

    def __getitem__(self, indices: ExprLike | tuple[ExprLike, ...]) -> Expr:
        """Read the element at ``indices``, one integer for each axis."""
        return self(*(indices if isinstance(indices, tuple) else (indices,)))

    def __call__(self, *indices: ExprLike) -> Expr:
        """Read the element at ``indices``, one integer for each axis."""
        if len(indices) != self.ndim:
            raise ShapeError(
                f"tensor {self.name!r} of shape {dims_text(self.shape)} takes {self.ndim} indices, "
                f"found {len(indices)}",
                span=user_span(self.name),
            )
        exprs = tuple(self._index(axis, index) for axis, index in enumerate(indices))
        return traced(TensorRead(self, exprs, self.dtype))

    def _index(self, axis: int, given: ExprLike) -> Expr:
        expr = as_expr(given, I64)
        if not expr.dtype.is_integer:
            raise DTypeError(
                f"index {axis} of tensor {self.name!r} must be an integer, found {expr.dtype}",
                span=user_span(self.name),
            )
        return convert(expr, I64)

    def as_expr(self) -> Expr:
        """Return the only element of a tensor without axes."""
        if self.ndim:
            raise ShapeError(
                f"tensor {self.name!r} of shape {dims_text(self.shape)} is not a scalar",
                hint="Index it, one integer for each axis.",
                span=user_span(self.name),
            )
        return self()

    def astype(self, dtype: DType | str) -> "Tensor":
        """Convert each element."""
        wanted = as_dtype(dtype)

        return elementwise(lambda x: convert(x, wanted), self, name=f"{self.name}_cast")

    def __add__(self, other: "Tensor | ExprLike") -> "Tensor":
        return _arithmetic(Add, self, other)

    def __radd__(self, other: "Tensor | ExprLike") -> "Tensor":
        return _arithmetic(Add, other, self)

    def __sub__(self, other: "Tensor | ExprLike") -> "Tensor":
        return _arithmetic(Sub, self, other)

    def __rsub__(self, other: "Tensor | ExprLike") -> "Tensor":
        return _arithmetic(Sub, other, self)

    def __mul__(self, other: "Tensor | ExprLike") -> "Tensor":
        return _arithmetic(Mul, self, other)

    def __rmul__(self, other: "Tensor | ExprLike") -> "Tensor":
        return _arithmetic(Mul, other, self)

    def __truediv__(self, other: "Tensor | ExprLike") -> "Tensor":
        return _arithmetic(Div, self, other)

    def __rtruediv__(self, other: "Tensor | ExprLike") -> "Tensor":
        return _arithmetic(Div, other, self)

    def __floordiv__(self, other: "Tensor | ExprLike") -> "Tensor":
        return _arithmetic(FloorDiv, self, other)

    def __rfloordiv__(self, other: "Tensor | ExprLike") -> "Tensor":
        return _arithmetic(FloorDiv, other, self)

    def __mod__(self, other: "Tensor | ExprLike") -> "Tensor":
        return _arithmetic(FloorMod, self, other)

    def __rmod__(self, other: "Tensor | ExprLike") -> "Tensor":
        return _arithmetic(FloorMod, other, self)

    def __neg__(self) -> "Tensor":
        return elementwise(lambda x: -x, self, name=f"{self.name}_neg")


class TensorRead(Expr, frozen=True):
    """Read of an element of a tensor."""

    tensor: Uses[Tensor]
    indices: tuple[Expr, ...]
    dtype: DType


def placeholder(
    shape: Dims | ExprLike, dtype: DType | str = "float32", name: str = "placeholder"
) -> Tensor:
    """Declare a tensor whose values come from outside."""
    span = user_span(name)
    element = as_dtype(dtype)
    if element.lanes != 1:
        raise DTypeError(f"tensor {name!r} cannot hold vectors, found {element}", span=span)
    return PlaceholderOp(
        name=name, shape=as_shape(shape, name, span), dtypes=(element,), span=span
    ).output(0)


def as_shape(shape: Dims | ExprLike, name: str, span: Span | None = None) -> tuple[Expr, ...]:
    """Check extents and convert them to i64 expressions; a single extent needs no tuple.

    Raises: ShapeError if one is negative, DTypeError if one is not an integer.
    """
    given = cast(Dims, shape) if isinstance(shape, (tuple, list)) else (cast(ExprLike, shape),)
    return tuple(_extent(dim, axis, name, span) for axis, dim in enumerate(given))


def _extent(dim: ExprLike, axis: int, name: str, span: Span | None) -> Expr:
    where = f"the extent of axis {axis} of tensor {name!r}"
    expr = as_expr(dim, I64)
    if not expr.dtype.is_integer or expr.dtype.lanes != 1:
        raise DTypeError(f"{where} must be an integer, found {expr.dtype}", span=span)
    if isinstance(expr, Var) and expr.dtype != I64:
        raise DTypeError(
            f"{where} is the variable {expr.name!r} of type {expr.dtype}; extents are i64",
            hint=f'Declare it as te.var("{expr.name}").',
            span=span,
        )
    if isinstance(expr, IterVar):
        raise ShapeError(f"{where} is the axis {expr.name!r}, but must not vary", span=span)
    number = as_int(expr)
    if number is not None and number < 0:
        raise ShapeError(f"{where} is {number}, but must not be negative", span=span)
    return convert(expr, I64)


def dims_text(shape: Sequence[Expr]) -> str:
    """Print a shape for error messages: numbers, names and simple expressions."""
    return "[" + ", ".join(_dim_text(dim) for dim in shape) + "]"


def _dim_text(dim: Expr) -> str:
    if isinstance(dim, Const):
        return str(dim.value)
    if isinstance(dim, Var):
        return dim.name
    if isinstance(dim, Binary) and all(isinstance(side, (Const, Var)) for side in (dim.a, dim.b)):
        return f"{_dim_text(dim.a)} {dim.sign} {_dim_text(dim.b)}"
    return "..."


def axes_over(shape: Sequence[Expr], names: Sequence[str]) -> tuple[IterVar, ...]:
    """Make one spatial axis for each extent."""
    zero = Const(0, I64)
    return tuple(
        IterVar(name, I64, dom=Range(zero, extent))
        for extent, name in zip(shape, names, strict=True)
    )


def broadcast_shape(shapes: Sequence[Sequence[Expr]], what: str) -> tuple[Expr, ...]:
    """Return the shape that all shapes broadcast to, by NumPy's rules; extents are equal if their
    expressions are, as sums.

    Raises: ShapeError naming ``what``, the axis (counted from the right) and both extents.
    """
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Expr] = []
    for back in range(rank, 0, -1):
        found: Expr = Const(1, I64)
        for shape in shapes:
            if back > len(shape) or as_int(shape[-back]) == 1:
                continue
            if as_int(found) == 1:
                found = shape[-back]
            elif not equal_sums(found, shape[-back]):
                raise ShapeError(
                    f"{what}: axis {-back} is {_dim_text(found)} in one operand and "
                    f"{_dim_text(shape[-back])} in another; broadcasting needs them equal or 1",
                    span=user_span(what),
                )
        result.append(found)
    return tuple(result)


def broadcast_read(tensor: Tensor, shape: Sequence[Expr], indices: Sequence[ExprLike]) -> Expr:
    """Read a tensor at a point of a larger shape that it broadcasts to."""
    own = indices[len(indices) - tensor.ndim :]
    wanted = shape[len(shape) - tensor.ndim :]
    return tensor(
        *(
            0 if as_int(dim) == 1 and as_int(target) != 1 else index
            for dim, target, index in zip(tensor.shape, wanted, own, strict=True)
        )
    )


Scalarwise = Union[
    Callable[[Expr], Expr],
    Callable[[Expr, Expr], Expr],
    Callable[[Expr, Expr, Expr], Expr],
]


def elementwise(
    function: Scalarwise,
    *operands: Tensor | ExprLike,
    name: str,
    attrs: Attrs = (),
) -> Tensor:
    """Apply a function of scalars to tensors and numbers, element by element, with broadcasting.

    A number takes the type of the first tensor that is not bool, where that can hold it. The
    function is traced, as that of ``compute``.
    """
    with tracing(None):
        return _elementwise(cast(Callable[..., Any], function), operands, name, attrs)


def _elementwise(
    function: Callable[..., Any],
    operands: Sequence[Tensor | ExprLike],
    name: str,
    attrs: Attrs,
) -> Tensor:
    tensors = [operand for operand in operands if isinstance(operand, Tensor)]
    dtypes = [tensor.dtype for tensor in tensors]
    first = next((dtype for dtype in dtypes if not dtype.is_bool), dtypes[0] if dtypes else None)
    shape = broadcast_shape([tensor.shape for tensor in tensors], name)
    axes = axes_over(shape, [f"ax{axis}" for axis in range(len(shape))])
    values = [
        broadcast_read(operand, shape, axes)
        if isinstance(operand, Tensor)
        else as_expr(operand, first)
        for operand in operands
    ]
    same = all(tensor.shape == shape for tensor in tensors)
    body = plain(run_traced(function, *values))
    return ComputeOp(
        name=name,
        shape=shape,
        dtypes=(body.dtype,),
        span=user_span(name),
        tag="elementwise" if same else "broadcast",
        attrs=attrs,
        axis=axes,
        body=(body,),
    ).output(0)


_NAMES: dict[type[Binary], str] = {
    Add: "add",
    Sub: "subtract",
    Mul: "multiply",
    Div: "divide",
    FloorDiv: "floor_divide",
    FloorMod: "mod",
}


def _arithmetic(cls: type[Binary], a: Tensor | ExprLike, b: Tensor | ExprLike) -> Tensor:
    return elementwise(lambda x, y: binary(cls, x, y), a, b, name=_NAMES[cls])
