"""Some of the lanes of a vector expression, as a shorter vector."""

from collections.abc import Mapping
from typing import cast

from irkit.core import Node, children, postorder, walk, with_fields
from irkit.ir import (
    Broadcast,
    Call,
    Const,
    Expr,
    InstructionCall,
    Load,
    Ramp,
    Var,
    as_int,
    cast as cast_to,
    const,
)

Parts = Mapping[Var, tuple[Var, ...]]
"""The shorter vectors in place of variables."""


def can_be_split(root: Expr) -> bool:
    """Return True if each lane of an expression depends on the same lane of its parts only."""
    return not any(
        isinstance(node, InstructionCall)
        or (
            isinstance(node, Call) and any(arg.dtype.lanes != node.dtype.lanes for arg in node.args)
        )
        for node in walk(root)
    )


def widest_element(root: Expr) -> int:
    """Return the bytes of the widest element of the vectors in an expression, as they are computed,
    without those in the indices of loads."""
    most, stack, seen = 0, [root], set[int]()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.dtype.lanes > 1 and not node.dtype.is_bool:
            most = max(
                most, 4 if node.dtype.is_float and node.dtype.bits == 16 else node.dtype.bytes
            )
        if isinstance(node, Load):
            stack += [] if node.mask is None else [node.mask]
        else:
            stack += cast(tuple[Expr, ...], children(node))
    return most


def part(root: Expr, number: int, lanes: int, parts: Parts) -> Expr:
    """Return lanes ``number * lanes`` to ``(number + 1) * lanes - 1`` of a vector; a scalar stays.

    Raises: KeyError for a vector variable that has no parts.
    """
    if root.dtype.lanes == 1:
        return root
    made: dict[int, Node] = {}
    for visited in postorder(root):
        node = cast(Expr, visited)
        if node.dtype.lanes > 1:
            made[id(node)] = _part_of_node(node, number, lanes, parts, made)
    return cast(Expr, made[id(root)])


def _part_of_node(node: Expr, number: int, lanes: int, parts: Parts, made: dict[int, Node]) -> Expr:
    short = node.dtype.with_lanes(lanes)
    match node:
        case Var():
            return parts[node][number]
        case Ramp(base, stride):
            return Ramp(_plus(base, stride, number * lanes), stride, short)
        case Broadcast(value):
            return Broadcast(value, short)
        case _:
            return cast(Expr, with_fields(node, made)).replace(dtype=short)


def _plus(base: Expr, stride: Expr, steps: int) -> Expr:
    """Return ``base + stride * steps``."""
    if steps == 0:
        return base
    step = as_int(stride)
    wrap = 1 << base.dtype.bits
    if step is None:
        return base + stride * cast_to(const(steps, "i64"), stride.dtype)
    total = (step * steps - base.dtype.low) % wrap + base.dtype.low
    known = as_int(base)
    if known is None:
        return base + Const(total, base.dtype)
    return Const((known + total - base.dtype.low) % wrap + base.dtype.low, base.dtype)
