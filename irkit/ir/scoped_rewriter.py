"""Rewrite statements from the outside in, knowing what holds at each.

A :class:`Rewriter` tracks the ranges of variables, the conditions and statements around the current
statement, and the values of variables whose binder is removed.
"""

from collections.abc import Callable, Mapping
from typing import TypeVar

from irkit.core import (
    CHILDREN,
    Node,
    any_node,
    deep_recursion,
    substitute,
    with_fields,
    with_span_of,
)
from irkit.ir.arith import loop_ranges
from irkit.ir.buffer import Load
from irkit.ir.build import as_int, ge, is_empty, logical_not, lt, seq
from irkit.ir.expr import And, Expr
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Allocate, Block, For, If, Let, Seq, Stmt, View

_R = TypeVar("_R", PrimFunc, Stmt)


class Rewriter:
    """Base class of passes that need context; override ``visit``, ``expr``, or both.

    ``self.visit(stmt)`` rewrites a statement; ``self.below(stmt)`` visits everything below one, in
    its scope. Add an entry to ``values`` for each variable whose binder is removed. Both are plain
    recursion: call ``run`` ``with deep_recursion:`` if nests may be deeper than Python's limit.
    """

    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.ranges = loop_ranges(func)
        self.values: dict[Node, Node] = {}
        self.facts: list[Expr] = []
        self.around: list[Stmt] = []

    def run(self) -> PrimFunc:
        """Rewrite the function; return the same object if nothing changed."""
        body = self.visit(self.func.body)
        # Shapes of buffers can mention a variable whose binder was removed.
        return self.func.replace(body=substitute(body, self.values))

    def visit(self, stmt: Stmt) -> Stmt:
        """Rewrite one statement; by default, its expressions and everything below it."""
        return self.below(self.own(stmt))

    def expr(self, expr: Expr) -> Expr:
        """Rewrite an expression of the current statement."""
        return substitute(expr, self.values) if self.values else expr

    def own(self, stmt: Stmt) -> Stmt:
        """Rewrite the expressions of the statement itself."""
        if isinstance(stmt, Block):
            return self._own_of_block(stmt)
        new: dict[int, Node] = {}
        for child in CHILDREN[stmt.__class__](stmt):
            if isinstance(child, Expr):
                made = self.expr(child)
                if made is not child:
                    new[id(child)] = made
        changed = with_fields(stmt, new) if new else stmt
        assert isinstance(changed, Stmt)
        return changed

    def _own_of_block(self, block: Block) -> Block:
        axes = tuple(
            axis.replace(extent=self.expr(axis.extent), binding=self.expr(axis.binding))
            for axis in block.axes
        )
        if all(a is b for a, b in zip(axes, block.axes, strict=True)):
            axes = block.axes
        predicate = None if block.predicate is None else self.expr(block.predicate)
        return block.replace(axes=axes, predicate=predicate)

    def below(self, stmt: Stmt) -> Stmt:
        """Visit the statements directly below, each in the scope that this one creates."""
        self.around.append(stmt)
        match stmt:
            case For():
                made: Stmt = stmt.replace(body=self._under(_limits(stmt), stmt.body))
            case If():
                made = self._branches(stmt)
            case Block():
                known = [] if stmt.predicate is None else conjuncts(stmt.predicate)
                init = None if stmt.init is None else self._under(known, stmt.init)
                made = stmt.replace(init=init, body=self._under(known, stmt.body))
            case _:
                made = map_below(stmt, self.visit)
        self.around.pop()
        return made

    def _branches(self, stmt: If) -> Stmt:
        then = self._under(conjuncts(stmt.cond), stmt.then)
        otherwise = stmt.otherwise
        if otherwise is not None:
            made = self._under([logical_not(stmt.cond)], otherwise)
            otherwise = None if made is not otherwise and is_empty(made) else made
        return stmt.replace(then=then, otherwise=otherwise)

    def _under(self, conds: list[Expr], stmt: Stmt) -> Stmt:
        """Visit a statement where some conditions hold."""
        known = len(self.facts)
        # Conditions that read memory are left out: a store can change it before they are used.
        self.facts += [cond for cond in conds if not any_node(cond, Load)]
        made = self.visit(stmt)
        del self.facts[known:]
        return made


def _limits(loop: For) -> list[Expr]:
    """Return what holds for a loop variable beyond its range."""
    limits = [] if as_int(loop.end) is not None else [lt(loop.var, loop.end)]
    return limits + ([] if as_int(loop.begin) is not None else [ge(loop.var, loop.begin)])


def map_below(stmt: Stmt, change: Callable[[Stmt], Stmt]) -> Stmt:
    """Change the statements directly below one, in execution order; for visitors without context.

    Return the same object if none of them changes.
    """
    match stmt:
        case Seq():
            new = [change(inner) for inner in stmt.stmts]
            if all(a is b for a, b in zip(new, stmt.stmts, strict=True)):
                return stmt
            return with_span_of(seq(*new), stmt)
        case If():
            then = change(stmt.then)
            otherwise = None if stmt.otherwise is None else change(stmt.otherwise)
            return stmt.replace(then=then, otherwise=otherwise)
        case Block():
            init = None if stmt.init is None else change(stmt.init)
            return stmt.replace(init=init, body=change(stmt.body))
        case For() | Let() | Allocate() | View():
            return stmt.replace(body=change(stmt.body))
        case _:
            return stmt


def replace_stmts(root: _R, changes: Mapping[Stmt, Stmt]) -> _R:
    """Replace statements of a function, or of a statement, compared by identity; an empty sequence
    deletes one."""

    def changed(stmt: Stmt) -> Stmt:
        new = changes.get(stmt)
        return map_below(stmt, changed) if new is None else new

    with deep_recursion:
        if isinstance(root, PrimFunc):
            return root.replace(body=changed(root.body))
        return changed(root)


def conjuncts(cond: Expr) -> list[Expr]:
    """Return the conditions joined by ``and``, in order."""
    found: list[Expr] = []
    stack = [cond]
    while stack:
        node = stack.pop()
        if isinstance(node, And):
            stack += [node.b, node.a]
        else:
            found.append(node)
    return found
