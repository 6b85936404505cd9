"""Operators of which a converter decides the shape, with dimensions only known at a call."""

from collections.abc import Sequence
from typing import Any

from irkit.core import walk
from irkit.frontend.onnx.onnx_node import OnnxNode
from irkit.frontend.sizes import Dim, counting_kernel
from irkit.graph import Value, quotient, same_extent
from irkit.ir import U8, Expr, Var, as_int, index


def shaped(
    node: OnnxNode, operator: str, *args: Value, shape: Sequence[Dim], **attrs: Any
) -> Value:
    """Emit an operator whose attribute ``shape`` is a shape with dimensions."""
    likes: list[Value] = []
    codes: list[int] = []
    for dim in shape:
        number = as_int(dim)
        codes.append(_code(node, dim, likes) if number is None else number)
    return node.op(operator, *args, *likes, shape=tuple(codes), **attrs)


def reshape(node: OnnxNode, x: Value, shape: Sequence[Dim]) -> Value:
    """Reshape to dimensions of which some are only known at a call."""
    unknown = [at for at, dim in enumerate(shape) if as_int(dim) is None]
    others = [at for at in unknown if node.place(index(shape[at])) is None]
    holes = others if len(unknown) > 1 else unknown
    if len(holes) == 1:
        # The number of elements tells it, and no other tensor is needed.
        (hole,) = holes
        rest = quotient(node.type(x).shape, [*shape[:hole], *shape[hole + 1 :]])
        if rest is not None and same_extent(rest, shape[hole]):
            return shaped(node, "reshape", x, shape=(*shape[:hole], -1, *shape[hole + 1 :]))
    return shaped(node, "reshape", x, shape=shape)


def _code(node: OnnxNode, dim: Dim, likes: list[Value]) -> int:
    """Return the number that stands for a dimension, of a value that joins ``likes``."""
    assert isinstance(dim, Expr)
    before = 0
    for like in likes:
        extents = node.type(like).shape
        for axis, extent in enumerate(extents):
            if same_extent(extent, dim):
                return -2 - before - axis
        before += len(extents)
    place = node.place(dim)
    if place is None:  # One is made that has it.
        place = _made(node, dim), 0
    likes.append(place[0])
    return -2 - before - place[1]


def _made(node: OnnxNode, extent: Expr) -> Value:
    """Emit a tensor that has an extent, for those who ask for one.

    Raises: ImportFailed for a dimension that no tensor has.
    """
    likes: dict[Value, None] = {}
    for var in walk(extent, Var):
        place = node.place(var)
        if place is None:
            raise node.fail(f"it needs the dimension {var.name!r}, which no tensor before has")
        likes[place[0]] = None
    func, kind = counting_kernel(0, extent, 1, U8, [node.type(like) for like in likes], node.span)
    return node.loops(func, *likes, types=(kind,))[0]
