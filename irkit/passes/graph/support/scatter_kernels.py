"""Kernels that store rows at computed places, which no tensor expression says."""

from collections.abc import Sequence

import msgspec

from irkit.core import Span, rewrite
from irkit.graph import UPDATES, TensorType
from irkit.ir import (
    I64,
    Assert,
    Buffer,
    Const,
    Expr,
    For,
    If,
    Let,
    Load,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    cast,
    ge,
    logical_and,
    lt,
    select,
    seq,
)
from irkit.te import Tensor, create_prim_func, placeholder, size_params
from irkit.topi import cast as cast_tensor, identity


class ScatterShape(msgspec.Struct, frozen=True):
    """The types of an array, of the indices of rows, and of the rows; ``axis`` is the first that is
    numbered."""

    x: TensorType
    indices: TensorType
    updates: TensorType
    axis: int

    @property
    def extents(self) -> tuple[Expr, ...]:
        """The extents of the axes that are numbered."""
        return self.x.shape[self.axis : self.axis + self._count]

    @property
    def _count(self) -> int:
        return len(self.x.shape) - len(self.updates.shape) + 1


def scattered(shape: ScatterShape, span: Span | None, *, in_place: bool) -> PrimFunc:
    """Return a kernel that takes an array, indices and rows, and fills an array with the first, in
    which rows are replaced. ``in_place``, it only stores the rows over what is there."""
    given = _placeholders(shape.x, shape.indices, shape.updates)
    func = _kernel(given, identity(given[0]), "scatter", span)
    _, indices, updates, result = buffers_of(func)
    stores = _stores(shape, indices, updates, result)
    if in_place:
        made = func.replace(name="store_rows", body=stores, attrs=((UPDATES, 0), *func.attrs))
    else:
        made = func.replace(body=seq(func.body, stores))
    return _located(made, span)


def rows_within(shape: ScatterShape, message: str, span: Span | None) -> PrimFunc:
    """Return a kernel that takes an array and indices of its rows, and copies these; it stops with
    a message if one is outside."""
    given = _placeholders(shape.x, shape.indices)
    func = _kernel(given, cast_tensor(given[1], I64), "rows_within", span)
    indices = buffers_of(func)[1]
    row = Var("j")
    checks: list[Stmt] = []
    for at, extent in enumerate(shape.extents):
        place = cast(Load(indices, (row, Const(at, I64)), None, indices.dtype), I64)
        inside = logical_and(ge(place, -extent), lt(place, extent))
        checks.append(Assert(inside, message))
    loop = For(row, Const(0, I64), shape.indices.shape[0], seq(*checks))
    return _located(func.replace(body=seq(loop, func.body)), span)


def _located(func: PrimFunc, span: Span | None) -> PrimFunc:
    """Return a function whose statements come from a place, if they come from none."""

    def placed(stmt: Stmt) -> Stmt | None:
        return None if stmt.span is not None or isinstance(stmt, Seq) else stmt.replace(span=span)

    return func if span is None else rewrite(func, placed, on=Stmt)


def buffers_of(func: PrimFunc) -> list[Buffer]:
    """Return the buffers among the parameters of a function."""
    return [param for param in func.params if isinstance(param, Buffer)]


def _placeholders(*kinds: TensorType) -> list[Tensor]:
    return [
        placeholder(kind.shape, dtype=kind.dtype, name=f"p{at}") for at, kind in enumerate(kinds)
    ]


def _kernel(given: Sequence[Tensor], made: Tensor, name: str, span: Span | None) -> PrimFunc:
    return create_prim_func([*size_params([*given, made]), *given, made], name=name, span=span)


def _stores(shape: ScatterShape, indices: Buffer, updates: Buffer, result: Buffer) -> Stmt:
    """Return loops that store the rows in order, so the last of several for one place stays."""
    axis, extents = shape.axis, shape.extents
    row = Var("j")
    places = [Var(f"place_{at}") for at in range(len(extents))]
    own = [Var(f"i{at}") for at in range(len(updates.shape) - 1)]
    source = (*own[:axis], row, *own[axis:])
    value = Load(updates, source, None, updates.dtype)
    body: Stmt = Store(result, (*own[:axis], *places, *own[axis:]), value)
    for var, extent in reversed(
        list(zip(own, (*updates.shape[:axis], *updates.shape[axis + 1 :]), strict=True))
    ):
        body = For(var, Const(0, I64), extent, body)
    limits = zip(places, extents, strict=True)
    inside = [each for place, extent in limits for each in (ge(place, 0), lt(place, extent))]
    body = If(logical_and(*inside), body)
    for at, (place, extent) in reversed(list(enumerate(zip(places, extents, strict=True)))):
        index: Expr = cast(Load(indices, (row, Const(at, I64)), None, indices.dtype), I64)
        body = Let(place, select(lt(index, 0), index + extent, index), body)
    return For(row, Const(0, I64), shape.indices.shape[0], body)
