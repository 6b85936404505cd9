"""One node of a program as a converter sees it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, Union, cast

import numpy as np

from irkit.core import IRKitError, Span, equal, walk
from irkit.frontend.sizes import (
    Dim,
    counting_kernel,
    same_size,
    settled,
    size_kernel,
    subtract,
)
from irkit.frontend.torch.program import (
    NodeRef,
    SpecialFloat,
    TorchGraph,
    TorchNode,
    TypeName,
    argument,
)
from irkit.graph import Operand, TensorExpr, TensorType, constant, operator
from irkit.ir import (
    DType,
    Expr,
    Interval,
    PrimFunc,
    Var,
    as_dtype,
    as_int,
    common,
    convert,
    index,
    numpy_dtype,
)

Number = Union[bool, int, float]
Found: TypeAlias = Union[TensorExpr, "tuple[TensorExpr, ...]", Expr, int, TorchGraph]
Convert: TypeAlias = "Callable[[AtenNode], Found]"


LEAST = (0, 1, 2)
"""What PyTorch's smallest size 2 can stand for, from the widest range on."""


class SizeSource(Protocol):
    """What knows the dimensions of a program, and emits loop functions that compute with them."""

    def ranges(self, least: int = ...) -> Mapping[Var, Interval]:
        """Return the sizes of each dimension, as PyTorch has them; from ``least`` on where it has
        them from 2 on, which can also mean that it treats smaller sizes apart."""
        ...

    def restrict(self, size: Dim, least: int) -> None:
        """Note that the dimensions of a size are at least so large, where PyTorch says so."""
        ...

    def declared(self, extent: int | str) -> Dim | None:
        """Return an extent as PyTorch writes it; None if it is of symbols that no input has."""
        ...

    def kernel(
        self, func: PrimFunc, args: Sequence[TensorExpr], kind: TensorType, span: Span
    ) -> TensorExpr:
        """Emit a call of a loop function."""
        ...


def element(number: Number, dtype: DType) -> Number:
    """Return a number as PyTorch converts it to a type: whole, wrapped around, or whether it is not
    0."""
    if dtype.is_float:
        return number
    if dtype.is_bool:
        return bool(number)
    return (int(number) - dtype.low) % (dtype.high - dtype.low + 1) + dtype.low


class AtenNode:
    """Arguments by place or name, with references looked up."""

    def __init__(self, node: TorchNode, scope: "dict[str, Found]", source: SizeSource) -> None:
        self.node = node
        self.span = Span("torch", node.name, node.file, node.line)
        self.source = source
        self._scope = scope

    def fail(self, reason: str, hint: str = "") -> IRKitError:
        """Return an error that names the node; the importer adds the line of the user's model."""
        return IRKitError(
            f"cannot import {self.node.name!r}, a {self.node.target}: {reason}", hint=hint
        )

    def given(self, at: int, name: str = "", default: Any = None) -> Any:
        """Return an argument: a tensor, number, text, type, None or list of such."""
        if at < len(self.node.args):
            return self._resolved(argument(self.node.args[at]))
        if name in self.node.kwargs:
            return self._resolved(argument(self.node.kwargs[name]))
        return default

    def _resolved(self, given: Any) -> Any:
        if isinstance(given, list):
            return [self._resolved(each) for each in given]  # pyright: ignore[reportUnknownVariableType]
        if isinstance(given, NodeRef):
            if given.name not in self._scope:
                raise self.fail(f"{given.name!r} is used before it is computed")
            return self._scope[given.name]
        if isinstance(given, SpecialFloat):
            return float(given.text)
        return as_dtype(given.name) if isinstance(given, TypeName) else given

    def tensor(self, at: int, name: str = "") -> TensorExpr:
        """Return an argument that must be a tensor."""
        found = self.given(at, name)
        if not isinstance(found, TensorExpr):
            raise self.fail(f"argument {name or at} is {found!r}, expected a tensor")
        return found

    def optional(self, at: int, name: str = "") -> TensorExpr | None:
        """Return an argument that is a tensor or left out."""
        return None if self.given(at, name) is None else self.tensor(at, name)

    def graph(self, at: int) -> TorchGraph:
        """Return an argument that must be a graph."""
        found = self.given(at)
        if not isinstance(found, TorchGraph):
            raise self.fail(f"argument {at} must be a graph")
        return found

    def tensors(self, at: int) -> list[TensorExpr]:
        """Return an argument that must be a list of tensors."""
        found = self.given(at, default=[])
        if not isinstance(found, list) or not all(isinstance(x, TensorExpr) for x in found):  # pyright: ignore[reportUnknownVariableType]
            raise self.fail(f"argument {at} must be a list of tensors")
        return found  # pyright: ignore[reportUnknownVariableType]

    def number(self, at: int, name: str = "", default: Number | None = None) -> Number:
        """Return an argument that must be a number."""
        found = self.given(at, name, default)
        if not isinstance(found, (bool, int, float)):
            raise self.fail(f"argument {name or at} must be a number that is known")
        return found

    def whole(self, at: int, name: str = "", default: int | None = None) -> int:
        """Return an argument that must be a whole number."""
        return int(self.number(at, name, default))

    def wholes(
        self, at: int, name: str = "", default: Sequence[int] | None = None
    ) -> tuple[int, ...]:
        """Return an argument that must be whole numbers; one alone is a tuple of one."""
        found = self.given(at, name, default)
        items = [found] if isinstance(found, int) else found
        if not isinstance(items, (list, tuple)) or not all(isinstance(x, int) for x in items):  # pyright: ignore[reportUnknownVariableType]
            raise self.fail(
                f"argument {name or at} must be whole numbers that are known",
                "Export it with constant shapes.",
            )
        return tuple(items)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]

    def size(self, at: int, name: str, default: int) -> Dim:
        """Return an argument that is a size: a number, or an expression."""
        found = self.given(at, name)
        if found is None:
            return default
        if not isinstance(found, (int, Expr)):
            raise self.fail(f"argument {name} must be a size")
        return _plain(found)

    def extents(self, at: int, name: str = "") -> list[Dim]:
        """Return an argument that is a shape, which can hold expressions; a size alone is one of
        one axis."""
        found = self.given(at, name)
        items = [found] if isinstance(found, (int, Expr)) else found
        if not isinstance(items, list) or not all(isinstance(x, (int, Expr)) for x in items):  # pyright: ignore[reportUnknownVariableType]
            raise self.fail(f"argument {name or at} must be a shape")
        return [_plain(each) for each in cast("list[Dim]", items)]

    def dims(self, x: TensorExpr) -> list[Dim]:
        """Return the extents of a tensor: numbers, and expressions."""
        return [_plain(each) for each in x.dims]

    def coded(
        self, extents: Sequence[int | Expr], *, holes: int = 0
    ) -> tuple[list[int], list[TensorExpr]]:
        """Return extents as the attribute ``shape`` of an operator has them, and the tensors whose
        extents those stand for that are not known; -1 for up to ``holes`` that no tensor has."""
        codes, likes = list[int](), list[TensorExpr]()
        for extent in extents:
            if isinstance(extent, int):
                codes.append(extent)
                continue
            found = self.place(extent)
            if found is None and codes.count(-1) < holes:
                codes.append(-1)
                continue
            like, axis = (self._carrier(extent), 0) if found is None else found
            known = [at for at, each in enumerate(likes) if each is like]
            likes += [] if known else [like]
            before = likes[: known[0] if known else -1]
            codes.append(-2 - axis - sum(each.rank for each in before))
        return codes, likes

    def reshaped(self, x: TensorExpr, *dims: Dim) -> TensorExpr:
        """Return the elements in another shape; one extent can be -1."""
        codes, likes = self.coded(dims, holes=0 if -1 in dims else 1)
        return apply("reshape", x, *likes, shape=codes)

    def broadcast(self, x: TensorExpr, *dims: Dim) -> TensorExpr:
        """Repeat a tensor along axes of extent 1, or new ones on the left."""
        codes, likes = self.coded(dims)
        return apply("broadcast_to", x, *likes, shape=codes)

    def place(self, extent: Expr) -> tuple[TensorExpr, int] | None:
        """Return a tensor before, and one of its axes, that has an extent; None if none has."""
        for found in self._scope.values():
            if not isinstance(found, TensorExpr):
                continue
            for axis, dim in enumerate(found.dims):
                if equal(dim, extent):
                    return found, axis
        return None

    def likes(self, *sizes: Dim) -> list[TensorExpr]:
        """Return tensors before that have the dimensions which sizes are computed from.

        Raises: IRKitError if none has one.
        """
        found: list[TensorExpr] = []
        for var in dict.fromkeys(v for size in sizes for v in walk(index(size), Var)):
            place = self.place(var)
            if place is None:
                raise self.fail(f"the extent {var.name!r} is that of no tensor before it")
            found += [] if any(place[0] is each for each in found) else [place[0]]
        return found

    def counted(self, start: Dim, count: Dim, step: int, dtype: DType) -> TensorExpr:
        """Return ``start``, ``start + step`` and so on."""
        if isinstance(start, int) and isinstance(count, int):
            return constant((start + np.arange(count) * step).astype(numpy_dtype(dtype)))
        likes = self.likes(start, count)
        kinds = [each.type for each in likes]
        func, kind = counting_kernel(start, count, step, dtype, kinds, self.span)
        return self.source.kernel(func, likes, kind, self.span)

    def number_of(self, size: Dim, dtype: DType) -> TensorExpr:
        """Return a size as a tensor without axes."""
        if isinstance(size, int):
            return constant(size, dtype)
        likes = self.likes(size)
        kinds = [each.type for each in likes]
        func, kind = size_kernel(
            "size", kinds, (), dtype, lambda _: _always(size, dtype), self.span
        )
        return self.source.kernel(func, likes, kind, self.span)

    def declared_or(self, size: Dim, axis: int = 0) -> Dim:
        """Return an extent of the first result: the size, as PyTorch writes it if that is equal."""
        shape = self.node.results[0].shape if self.node.results else ()
        found = self.source.declared(shape[axis]) if axis < len(shape) else None
        if found is None:
            return settled(size, self.source.ranges(0))
        for least in LEAST:
            if same_size(found, size, self.source.ranges(least)):
                self.source.restrict(subtract(found, size), least)
                return found
        return settled(size, self.source.ranges(0))

    def _carrier(self, extent: Expr) -> TensorExpr:
        """Emit a tensor that has an extent, for those who ask for one."""
        made = self.counted(0, extent, 1, as_dtype("u8"))
        self._scope[f"{self.node.name}:{len(self._scope)}"] = made
        return made

    def axis(self, at: int, name: str, rank: int, default: int | None = None) -> int:
        """Return an axis, counted from the front."""
        found = self.whole(at, name, default)
        if not -max(rank, 1) <= found < max(rank, 1):
            raise self.fail(f"axis {found} of rank {rank}")
        return found % max(rank, 1)

    @property
    def dtype(self) -> DType:
        """The element type of the first result, as PyTorch found it."""
        if not self.node.results:
            raise self.fail("it has no tensor as its result")
        return as_dtype(self.node.results[0].dtype)

    def cast(self, x: TensorExpr, dtype: DType) -> TensorExpr:
        """Convert a tensor if it has another type."""
        return x if x.dtype == dtype else x.cast(dtype)

    def of_type(self, given: Any, dtype: DType) -> TensorExpr:
        """Return a tensor or number as a tensor of a type."""
        if isinstance(given, TensorExpr):
            return self.cast(given, dtype)
        if isinstance(given, Expr):
            return self.number_of(given, dtype)
        if not isinstance(given, (bool, int, float)):
            raise self.fail(f"{given!r} must be a tensor or a number that is known")
        return constant(element(given, dtype), dtype)

    def common(self, *given: Any) -> list[TensorExpr]:
        """Return tensors and numbers as tensors of the type that PyTorch promotes them to."""
        tensors = [each for each in given if isinstance(each, TensorExpr)]
        wide = [each.dtype for each in tensors if each.rank] or [each.dtype for each in tensors]
        # A tensor without axes, or a number, counts only if its kind is higher.
        kinds = [*(each.dtype for each in tensors if not each.rank)]
        kinds += [_kind_of(each) for each in given if not isinstance(each, TensorExpr)]
        found = wide[0]
        for each in wide[1:]:
            found = _promoted(found, each)
        for each in kinds:
            found = each if _order(each) > _order(found) else found
        return [self.of_type(each, found) for each in given]


def _always(size: Expr, dtype: DType) -> Callable[..., Expr]:
    return lambda: convert(size, dtype)


def _plain(size: Dim) -> Dim:
    number = as_int(size)
    return size if number is None else number


def _kind_of(number: object) -> DType:
    """Return the type that PyTorch takes a number to have."""
    name = "f32" if isinstance(number, float) else "bool" if isinstance(number, bool) else "i64"
    return as_dtype(name)


def _order(dtype: DType) -> int:
    return 0 if dtype.is_bool else 1 if dtype.is_integer else 2


def _promoted(a: DType, b: DType) -> DType:
    if _order(a) != _order(b):
        return a if _order(a) > _order(b) else b
    if a != b and a.is_float and a.bits == b.bits:
        return as_dtype("f32")  # f16 and bf16
    return common(a, b)


def apply(name: str, *args: Operand, **attrs: Any) -> TensorExpr:
    """Apply an operator of the graph."""
    return operator(name, *args, **attrs)
