"""One node of a program as a converter sees it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, Union, cast

from irkit.core import IRKitError, equal
from irkit.frontend.torch.program import (
    NodeRef,
    SpecialFloat,
    TorchGraph,
    TorchNode,
    TypeName,
    argument,
)
from irkit.graph import Operand, TensorExpr, constant, operator
from irkit.ir import DType, Expr, as_dtype, as_int, common

Number = Union[bool, int, float]
Found: TypeAlias = Union[TensorExpr, "tuple[TensorExpr, ...]", Expr, int, TorchGraph]
Convert: TypeAlias = "Callable[[AtenNode], Found]"


class AtenNode:
    """Arguments by place or name, with references looked up."""

    def __init__(self, node: TorchNode, scope: Mapping[str, Found]) -> None:
        self.node = node
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

    def extents(self, at: int) -> list[int | Expr]:
        """Return an argument that is a shape, which can hold expressions."""
        found = self.given(at)
        if not isinstance(found, list):
            raise self.fail(f"argument {at} must be a shape")
        extents: list[int | Expr] = []
        for each in cast("list[int | Expr]", found):
            number = as_int(each)
            extents.append(each if number is None else number)
        return extents

    def coded(
        self, extents: Sequence[int | Expr], *, holes: int = 0
    ) -> tuple[list[int], list[TensorExpr]]:
        """Return extents as the attribute ``shape`` of an operator has them, and the tensors whose
        extents those stand for that are not known; -1 for up to ``holes`` that no tensor has.

        Raises: IRKitError for more of them.
        """
        codes, likes = list[int](), list[TensorExpr]()
        for extent in extents:
            if isinstance(extent, int):
                codes.append(extent)
                continue
            found = self.place(extent)
            if found is None and codes.count(-1) < holes:
                codes.append(-1)
                continue
            if found is None:
                raise self.fail("its shape has an extent that no tensor before it has")
            like, axis = found
            known = [at for at, each in enumerate(likes) if each is like]
            likes += [] if known else [like]
            before = likes[: known[0] if known else -1]
            codes.append(-2 - axis - sum(each.rank for each in before))
        return codes, likes

    def place(self, extent: Expr) -> tuple[TensorExpr, int] | None:
        """Return a tensor before, and one of its axes, that has an extent; None if none has."""
        for found in self._scope.values():
            if not isinstance(found, TensorExpr):
                continue
            for axis, dim in enumerate(found.dims):
                if equal(dim, extent):
                    return found, axis
        return None

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
        if not isinstance(given, (bool, int, float)):
            raise self.fail(f"{given!r} must be a tensor or a number that is known")
        if isinstance(given, float) and not dtype.is_float:
            given = int(given)
        return constant(given, dtype)

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
