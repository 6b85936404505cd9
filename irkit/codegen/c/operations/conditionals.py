"""Conditionals that evaluate one side only: ``?:`` or branches for scalars, masks for vectors.

A handler returns the value of a conditional; None means that nothing needs guarding, so both sides
are evaluated.
"""

from collections.abc import Callable
from typing import Any

from irkit.codegen.c.lanes import choose
from irkit.codegen.c.writer import ATOM, LOWEST, PLUS, UNARY, Code, FunctionWriter, captured
from irkit.core import children as children_of, postorder
from irkit.ir import BOOL, And, Call, Conditional, Expr, InstructionCall, Load, Or

Evaluate = Callable[[FunctionWriter, Expr], Code]


def note_loads(writer: FunctionWriter, root: Expr) -> None:
    """Record which expressions read memory or call functions: a conditional must guard those."""
    order = postorder(root)
    if not any(node.__class__ in LAZY for node in order):
        return
    for node in order:
        if isinstance(node, (Load, Call, InstructionCall)) or any(
            id(below) in writer.loading for below in children_of(node)
        ):
            writer.loading.add(id(node))


def if_then_else(writer: FunctionWriter, node: Conditional, code: Evaluate) -> Code | None:
    """Evaluate one side, or lane by lane under masks."""
    if not _guarded(writer, node.then) and not _guarded(writer, node.otherwise):
        return None
    cond = code(writer, node.cond)
    if node.cond.dtype.lanes > 1:
        mask = writer.named(node.cond.dtype, cond)
        then = _masked(writer, node.then, mask, node.cond, code, negated=False)
        otherwise = _masked(writer, node.otherwise, mask, node.cond, code, negated=True)
        return choose(writer, node.dtype, mask, then, otherwise)
    with captured(writer) as before:
        then = _side(writer, node.then, code)
    with captured(writer) as after:
        otherwise = _side(writer, node.otherwise, code)
    ends = min(then.low, otherwise.low), max(then.high, otherwise.high)
    if not before and not after:
        text = f"({cond.within(PLUS)} ? {then.within(PLUS)} : {otherwise.within(PLUS)})"
        return Code(text, ATOM, *ends)
    name = writer.name("t")
    writer.line(f"{writer.type_of(node.dtype)} {name};")
    _branch(writer, cond.text, (name, before, then), (name, after, otherwise))
    return Code(name, ATOM, *ends)


def logical(writer: FunctionWriter, node: And | Or, code: Evaluate) -> Code | None:
    """Evaluate the right side only if the left does not decide."""
    if not _guarded(writer, node.b):
        return None
    decides = isinstance(node, Or)
    left = code(writer, node.a)
    if node.dtype.lanes > 1:
        mask = writer.named(node.a.dtype, left)
        right = _masked(writer, node.b, mask, node.a, code, negated=decides)
        return Code(f"{mask} {'|' if decides else '&'} {right.atom}", LOWEST)
    with captured(writer) as lines:
        right = _side(writer, node.b, code)
    if not lines:
        text = f"{left.within(UNARY)} {'||' if decides else '&&'} {right.within(UNARY)}"
        return Code(text, LOWEST, 0, 1)
    name = writer.name("t")
    writer.line(f"bool {name};")
    known = Code("true" if decides else "false")
    sides = (name, list[str](), known), (name, lines, right)
    _branch(writer, left.text, *(sides if decides else sides[::-1]))
    return Code(name, ATOM, 0, 1)


LAZY: dict[type[Expr], Callable[[FunctionWriter, Any, Evaluate], Code | None]] = {
    Conditional: if_then_else,
    And: logical,
    Or: logical,
}

_Side = tuple[str, list[str], Code]


def _branch(writer: FunctionWriter, cond: str, then: _Side, otherwise: _Side) -> None:
    for head, (name, lines, value) in ((f"if ({cond})", then), ("else", otherwise)):
        with writer.block(head):
            writer.lines.extend("    " + line for line in lines)
            writer.line(f"{name} = {value.text};")


def _guarded(writer: FunctionWriter, side: Expr) -> bool:
    return id(side) in writer.loading


def _side(writer: FunctionWriter, side: Expr, code: Evaluate) -> Code:
    """Evaluate a side; what it puts into variables is known there only."""
    mark = len(writer.log)
    value = code(writer, side)
    writer.forget_since(mark)
    return value


def _masked(
    writer: FunctionWriter, side: Expr, mask: str, cond: Expr, code: Evaluate, *, negated: bool
) -> Code:
    """Evaluate a side in the lanes where a condition holds, or does not."""
    lanes, outer = cond.dtype.lanes, writer.mask
    text = f"~{mask}" if negated else mask
    if outer is not None and outer[1] == lanes:
        text = f"{text} & {outer[0]}"
    made = writer.variable(BOOL.with_lanes(lanes), Code(text), "m")
    writer.mask = made.text, lanes
    mark = len(writer.log)
    value = code(writer, side)
    writer.forget_since(mark)
    writer.mask = outer
    return value
