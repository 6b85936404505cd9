"""Conditionals that evaluate one side only: branches for scalars, masks for vectors.

A handler returns the steps of the evaluator: expressions to evaluate, and actions (a function and
its arguments) between them. None means that nothing needs guarding, so both sides are evaluated.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from irkit.codegen.llvm.builder.scope import FunctionScope
from irkit.codegen.llvm.builder.types import as_vector, value_type
from irkit.ir import And, Conditional, Expr, Or

Steps = list[Any]


class _Fork(msgspec.Struct):
    """State of a branch between its sides: where it began and where each side ended."""

    mark: int
    labels: tuple[str, ...]
    ends: list[tuple[str, str]]
    mask: tuple[str, int] | None = None


def if_then_else(scope: FunctionScope, node: Conditional) -> Steps | None:
    """Evaluate one side, by branches, or lane by lane under masks."""
    if not _guarded(scope, node.then) and not _guarded(scope, node.otherwise):
        return None
    text = scope.text
    if node.cond.dtype.lanes > 1:
        fork = _Fork(0, (), [])
        return [
            node.cond,
            (_mask_side, scope, fork, node.cond, False),
            node.then,
            (_end_masked, scope, fork, node.then),
            (_mask_side, scope, fork, node.cond, True),
            node.otherwise,
            (_end_masked, scope, fork, node.otherwise),
            (_blend, scope, fork, node),
        ]
    fork = _Fork(0, tuple(text.new_label(hint) for hint in ("then", "else", "end")), [])
    return [
        node.cond,
        (_begin_fork, scope, fork, node.cond),
        node.then,
        (_end_side, scope, fork, node.then, True),
        node.otherwise,
        (_end_side, scope, fork, node.otherwise, False),
        (_join, scope, fork, node),
    ]


def logical(scope: FunctionScope, node: And | Or) -> Steps | None:
    """Evaluate the right side only if the left does not decide."""
    if not _guarded(scope, node.b):
        return None
    if node.dtype.lanes > 1:
        fork = _Fork(0, (), [])
        return [
            node.a,
            (_mask_side, scope, fork, node.a, isinstance(node, Or)),
            node.b,
            (_end_masked, scope, fork, node.b),
            (_combine, scope, fork, node),
        ]
    fork = _Fork(0, tuple(scope.text.new_label(hint) for hint in ("right", "end")), [])
    return [
        node.a,
        (_begin_right, scope, fork, node),
        node.b,
        (_end_right, scope, fork, node),
    ]


LAZY: dict[type[Expr], Callable[[FunctionScope, Any], Steps | None]] = {
    Conditional: if_then_else,
    And: logical,
    Or: logical,
}


def _guarded(scope: FunctionScope, side: Expr) -> bool:
    return id(side) in scope.loading


def _begin_fork(scope: FunctionScope, fork: _Fork, cond: Expr) -> None:
    then, otherwise, _ = fork.labels
    scope.text.branch(scope.of(cond), then, otherwise)
    scope.text.start(then)
    fork.mark = len(scope.log)


def _end_side(scope: FunctionScope, fork: _Fork, side: Expr, more: bool) -> None:
    fork.ends.append((scope.of(side), scope.text.label))
    scope.forget_since(fork.mark)
    _, otherwise, end = fork.labels
    scope.text.jump(end)
    scope.text.start(otherwise if more else end)


def _join(scope: FunctionScope, fork: _Fork, node: Conditional) -> None:
    edges = ", ".join(f"[ {value}, %{label} ]" for value, label in fork.ends)
    scope.keep(node, scope.text.op(f"phi {value_type(node.dtype)} {edges}"))


def _begin_right(scope: FunctionScope, fork: _Fork, node: And | Or) -> None:
    right, end = fork.labels
    text, decided = scope.text, isinstance(node, Or)
    fork.ends.append(("true" if decided else "false", text.label))
    text.branch(scope.of(node.a), *((end, right) if decided else (right, end)))
    text.start(right)
    fork.mark = len(scope.log)


def _end_right(scope: FunctionScope, fork: _Fork, node: And | Or) -> None:
    fork.ends.append((scope.of(node.b), scope.text.label))
    scope.forget_since(fork.mark)
    scope.text.jump(fork.labels[1])
    scope.text.start(fork.labels[1])
    edges = ", ".join(f"[ {value}, %{label} ]" for value, label in fork.ends)
    scope.keep(node, scope.text.op(f"phi i1 {edges}"))


def _mask_side(scope: FunctionScope, fork: _Fork, cond: Expr, negated: bool) -> None:
    lanes, text, mask = cond.dtype.lanes, scope.text, scope.of(cond)
    kind = as_vector("i1", lanes)
    if negated:
        mask = text.op(f"xor {kind} {mask}, splat (i1 true)")
    if scope.mask is not None and scope.mask[1] == lanes:
        mask = text.op(f"and {kind} {mask}, {scope.mask[0]}")
    fork.mask, scope.mask = scope.mask, (mask, lanes)
    fork.mark = len(scope.log)


def _end_masked(scope: FunctionScope, fork: _Fork, side: Expr) -> None:
    fork.ends.append((scope.of(side), ""))
    scope.forget_since(fork.mark)
    scope.mask = fork.mask


def _blend(scope: FunctionScope, fork: _Fork, node: Conditional) -> None:
    (then, _), (otherwise, _) = fork.ends
    kind, test = value_type(node.dtype), value_type(node.cond.dtype)
    cond = scope.of(node.cond)
    scope.keep(node, scope.text.op(f"select {test} {cond}, {kind} {then}, {kind} {otherwise}"))


def _combine(scope: FunctionScope, fork: _Fork, node: And | Or) -> None:
    kind, name = value_type(node.dtype), "and" if isinstance(node, And) else "or"
    right = fork.ends[0][0]
    scope.keep(node, scope.text.op(f"{name} {kind} {scope.of(node.a)}, {right}"))
