"""The types of graph values: tensors with symbolic shapes, tuples, functions."""

from irkit.core import Node
from irkit.ir import DType, Expr


class Type(Node, frozen=True):
    """Base class of types; they are compared by structure."""


class TensorType(Type, frozen=True):
    """An array.

    Shapes: ``shape`` in elements, constants or expressions over symbolic dimensions.
    """

    shape: tuple[Expr, ...]
    dtype: DType


class TupleType(Type, frozen=True):
    """Several values in a fixed order."""

    items: tuple[Type, ...]


class FuncType(Type, frozen=True):
    """A function as a value."""

    params: tuple[Type, ...]
    result: Type


def tensors_in(kind: Type) -> list[TensorType]:
    """List the tensors in a type, in order, without the parameters and results of functions."""
    found: list[TensorType] = []
    stack = [kind]
    while stack:
        match stack.pop():
            case TensorType() as tensor:
                found.append(tensor)
            case TupleType(items):
                stack += items[::-1]
            case _:
                pass
    return found
