"""One lane of a vector expression, as a scalar expression."""

from collections.abc import Mapping
from typing import cast

from irkit.core import IRKitError, Node, postorder, with_fields
from irkit.ir import (
    I64,
    Broadcast,
    Const,
    Expr,
    InstructionCall,
    Load,
    Ramp,
    Var,
    as_int,
    cast as cast_to,
    const,
    if_then_else,
)

MAX_NODES = 1 << 18


class OneLane:
    """Extracts lanes of expressions; ``vars`` holds the scalars for the lanes of variables."""

    def __init__(self, scalars: Mapping[Var, tuple[Var, ...]]) -> None:
        self.scalars = scalars
        self.left = MAX_NODES

    def of(self, root: Expr, lane: int) -> Expr:
        """Return an expression in one lane; a scalar is the same in all lanes.

        Raises: IRKitError if the result would be too large.
        """
        if root.dtype.lanes == 1:
            return root
        made: dict[int, Node] = {}
        for visited in postorder(root):
            node = cast(Expr, visited)
            if node.dtype.lanes > 1:
                made[id(node)] = self._scalar(node, lane, made)
        return cast(Expr, made[id(root)])

    def _scalar(self, node: Expr, lane: int, made: dict[int, Node]) -> Expr:
        self.left -= 1
        if self.left < 0:
            raise IRKitError("its vectors have too many lanes to check each")
        match node:
            case Var():
                return self.scalars[node][lane]
            case Ramp(base, stride):
                return base + _times(stride, lane)
            case Broadcast(value):
                return value
            case InstructionCall():
                raise IRKitError(f"no lane of {node.name} can be computed alone")
            case Load():
                indices = tuple(cast(Expr, made.get(id(at), at)) for at in node.indices)
                one: Expr = Load(node.buffer, indices, None, node.dtype.element)
                if node.mask is None:
                    return one
                mask = cast(Expr, made.get(id(node.mask), node.mask))
                return if_then_else(mask, one, Const(_zero(node), node.dtype.element))
            case _:
                return cast(Expr, with_fields(node, made)).replace(dtype=node.dtype.element)


def _times(stride: Expr, lane: int) -> Expr:
    known = as_int(stride)
    if known is not None and stride.dtype.low <= known * lane <= stride.dtype.high:
        return Const(known * lane, stride.dtype)
    return stride * cast_to(const(lane, I64), stride.dtype)


def _zero(node: Expr) -> int | float | bool:
    return False if node.dtype.is_bool else 0.0 if node.dtype.is_float else 0
