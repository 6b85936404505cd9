"""Conditionals that evaluate one side only: branches for scalars, masks for vectors.

A handler writes the code of a conditional and returns its value; ``code`` is what evaluates its
parts. None means that nothing needs guarding, so both sides are evaluated.
"""

from collections.abc import Callable
from typing import Any

from irkit.codegen.llvm.builder.scope import FunctionScope
from irkit.codegen.llvm.builder.types import as_vector, value_type
from irkit.ir import And, Conditional, Expr, Or

Code = Callable[[FunctionScope, Expr], str]


def if_then_else(scope: FunctionScope, node: Conditional, code: Code) -> str | None:
    """Evaluate one side, by branches, or lane by lane under masks."""
    if not _guarded(scope, node.then) and not _guarded(scope, node.otherwise):
        return None
    text, kind = scope.text, value_type(node.dtype)
    if node.cond.dtype.lanes > 1:
        cond = code(scope, node.cond)
        then = _masked(scope, node.then, node.cond, code, negated=False)
        otherwise = _masked(scope, node.otherwise, node.cond, code, negated=True)
        test = value_type(node.cond.dtype)
        return text.op(f"select {test} {cond}, {kind} {then}, {kind} {otherwise}")
    yes, no, end = (text.new_label(hint) for hint in ("then", "else", "end"))
    text.branch(code(scope, node.cond), yes, no)
    then = _side(scope, node.then, code, yes, end)
    otherwise = _side(scope, node.otherwise, code, no, end)
    text.start(end)
    return text.op(f"phi {kind} {then}, {otherwise}")


def logical(scope: FunctionScope, node: And | Or, code: Code) -> str | None:
    """Evaluate the right side only if the left does not decide."""
    if not _guarded(scope, node.b):
        return None
    text, decides = scope.text, isinstance(node, Or)
    if node.dtype.lanes > 1:
        left = code(scope, node.a)
        right = _masked(scope, node.b, node.a, code, negated=decides)
        return text.op(f"{'or' if decides else 'and'} {value_type(node.dtype)} {left}, {right}")
    right, end = text.new_label("right"), text.new_label("end")
    left, before = code(scope, node.a), text.label
    text.branch(left, *((end, right) if decides else (right, end)))
    then = _side(scope, node.b, code, right, end)
    text.start(end)
    return text.op(f"phi i1 [ {'true' if decides else 'false'}, %{before} ], {then}")


LAZY: dict[type[Expr], Callable[[FunctionScope, Any, Code], str | None]] = {
    Conditional: if_then_else,
    And: logical,
    Or: logical,
}


def _guarded(scope: FunctionScope, side: Expr) -> bool:
    return id(side) in scope.loading


def _side(scope: FunctionScope, side: Expr, code: Code, label: str, end: str) -> str:
    """Evaluate a side in a block of its own; return its edge of the phi node."""
    scope.text.start(label)
    mark = len(scope.log)
    edge = f"[ {code(scope, side)}, %{scope.text.label} ]"
    scope.forget_since(mark)
    scope.text.jump(end)
    return edge


def _masked(scope: FunctionScope, side: Expr, cond: Expr, code: Code, *, negated: bool) -> str:
    """Evaluate a side in the lanes where a condition holds, or does not."""
    lanes, text, mask, outer = cond.dtype.lanes, scope.text, scope.of(cond), scope.mask
    kind = as_vector("i1", lanes)
    if negated:
        mask = text.op(f"xor {kind} {mask}, splat (i1 true)")
    if outer is not None and outer[1] == lanes:
        mask = text.op(f"and {kind} {mask}, {outer[0]}")
    scope.mask = mask, lanes
    mark = len(scope.log)
    value = code(scope, side)
    scope.forget_since(mark)
    scope.mask = outer
    return value
