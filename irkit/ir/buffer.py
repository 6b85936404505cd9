"""Buffers, loads from them, and the ramps that index several elements at once."""

from math import prod
from typing import ClassVar

from msgspec.structs import force_setattr

from irkit.core import IRKitError, Node, ShapeError, Span, Uses
from irkit.ir.dtype import DType, as_dtype
from irkit.ir.expr import Const, Expr, ExprLike, as_expr
from irkit.ir.scopes import memory_scope, scope_problem

_MOST_BYTES = (1 << 63) - 1


class Buffer(Node, frozen=True, eq=False):
    """A typed region of memory with identity.

    Shapes: ``shape`` in elements; ``strides`` in elements, or None for row-major without gaps.
    ``scope`` is the name of one of ``known_scopes()``.
    Raises: ShapeError if constant dimensions make more than 2**63 - 1 bytes, where extents of 0 do
    not count, as in NumPy; IRKitError if there is no such scope.
    """

    symbol: ClassVar[bool] = True
    name: str
    shape: tuple[Expr, ...]
    dtype: DType
    scope: str = "global"
    strides: tuple[Expr, ...] | None = None
    align: int = 0
    span: Span | None = None

    def __post_init__(self) -> None:
        if isinstance(self.dtype, str):  # pyright: ignore[reportUnnecessaryIsInstance] -- a name will do
            force_setattr(self, "dtype", as_dtype(self.dtype))
        problem = scope_problem(self.scope)
        if problem is not None:
            message, hint = problem
            raise IRKitError(f"buffer {self.name!r}: {message}", hint=hint, span=self.span)
        too_large = size_problem(self)
        if too_large is not None:
            raise ShapeError(too_large, span=self.span)

    def copy(self, name: str | None = None) -> "Buffer":
        """Return another buffer with the same fields."""
        return Buffer(
            self.name if name is None else name,
            self.shape,
            self.dtype,
            self.scope,
            self.strides,
            self.align,
            self.span,
        )

    @property
    def is_shared(self) -> bool:
        """Return True if the threads of a nest share the buffer when it is allocated there."""
        row = memory_scope(self.scope)
        return row is not None and row.shared

    @property
    def is_private(self) -> bool:
        """Return True if each thread has its own buffer, also when it is allocated around their
        loops."""
        row = memory_scope(self.scope)
        return row is not None and row.private

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __getitem__(self, indices: "ExprLike | tuple[ExprLike, ...]") -> "Load":
        """Return the load of the element at scalar or vector ``indices``."""
        given = indices if isinstance(indices, tuple) else (indices,)
        exprs = tuple(as_expr(index) for index in given)
        lanes = max((index.dtype.lanes for index in exprs), default=1)
        return Load(self, exprs, None, self.dtype.with_lanes(lanes))


def size_problem(buffer: Buffer) -> str | None:
    """Return what is wrong with constant dimensions that are too large for any memory, or None."""
    known = [dim.value for dim in buffer.shape if isinstance(dim, Const)]
    count = prod([size for size in known if size > 0])
    strides = buffer.strides or ()
    if len(known) == buffer.rank == len(strides) and 0 not in known:
        steps = [step.value for step in strides if isinstance(step, Const)]
        if len(steps) == len(known):
            reach = sum([(size - 1) * step for size, step in zip(known, steps, strict=True)])
            count = max(count, 1 + reach)
    width = buffer.dtype.bytes
    if count * width <= _MOST_BYTES:
        return None
    return (
        f"buffer {buffer.name!r} has {count} elements of {width} bytes; expected at most "
        f"{_MOST_BYTES} bytes"
    )


class Load(Expr, frozen=True):
    """An element of a buffer, or several if an index is a vector.

    Lanes where ``mask`` is false are not read and give 0.
    """

    buffer: Uses[Buffer]
    indices: tuple[Expr, ...]
    mask: Expr | None
    dtype: DType


class Ramp(Expr, frozen=True):
    """The vector base, base + stride, ... of ``dtype.lanes`` integers."""

    base: Expr
    stride: Expr
    dtype: DType
