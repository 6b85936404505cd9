"""Buffers, loads from them, and the ramps that index several elements at once."""

from typing import ClassVar

from msgspec.structs import force_setattr

from irkit.core import Node, Span, Uses
from irkit.ir.dtype import DType, as_dtype
from irkit.ir.expr import Expr, ExprLike, as_expr


class Buffer(Node, frozen=True, eq=False):
    """A typed region of memory with identity.

    Shapes: ``shape`` in elements; ``strides`` in elements, or None for row-major without gaps.
    ``scope`` is ``global``, ``local`` (registers or stack), ``shared``, or a target's own name.
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
    def rank(self) -> int:
        return len(self.shape)

    def __getitem__(self, indices: "ExprLike | tuple[ExprLike, ...]") -> "Load":
        """Return the load of the element at scalar or vector ``indices``."""
        given = indices if isinstance(indices, tuple) else (indices,)
        exprs = tuple(as_expr(index) for index in given)
        lanes = max((index.dtype.lanes for index in exprs), default=1)
        return Load(self, exprs, None, self.dtype.with_lanes(lanes))


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
