"""Visit statements from the outside in, knowing what holds around each, without recursion.

``rewrite`` goes children first and knows no surroundings. A pass that needs them writes its visit
as a generator: ``new = yield stmt`` visits what is below, and ``return`` gives the result. Nests
of any depth are fine, for the generators lie on a list and not on Python's stack.
"""

from collections.abc import Callable, Generator
from typing import TypeVar, cast

from irkit.core import Node, current_recorder
from irkit.ir import Allocate, And, Block, Expr, For, If, Let, Seq, Stmt, View, seq

_T = TypeVar("_T")
_R = TypeVar("_R")
Visit = Generator[_T, _R, _R]


def descend(root: _T, visit: Callable[[_T], Visit[_T, _R]]) -> _R:
    """Run ``visit`` on ``root``; whatever it yields is visited too, and the result sent back."""
    running = [visit(root)]
    answer: _R | None = None
    while True:
        try:
            # The first send to a generator must be None, and any later one is an answer.
            below = running[-1].send(cast(_R, answer))
        except StopIteration as done:
            running.pop()
            answer = cast(_R, done.value)
            if not running:
                return answer
        else:
            running.append(visit(below))
            answer = None


def visit_below(stmt: Stmt) -> Visit[Stmt, Stmt]:
    """Visit the statements directly below, in order; the same object back if none changes."""
    match stmt:
        case Seq():
            new: list[Stmt] = []
            for inner in stmt.stmts:
                new.append((yield inner))  # noqa: PERF401 -- no comprehension holds a yield
            if all(a is b for a, b in zip(new, stmt.stmts, strict=True)):
                return stmt
            return carried(seq(*new), stmt)
        case If():
            then = yield stmt.then
            otherwise = None if stmt.otherwise is None else (yield stmt.otherwise)
            return stmt.replace(then=then, otherwise=otherwise)
        case Block():
            init = None if stmt.init is None else (yield stmt.init)
            return stmt.replace(init=init, body=(yield stmt.body))
        case For() | Let() | Allocate() | View():
            return stmt.replace(body=(yield stmt.body))
        case _:
            return stmt


def carried(new: Stmt, old: Stmt) -> Stmt:
    """Give the span of ``old`` to ``new`` if it has none."""
    return new if new.span is not None or old.span is None else new.replace(span=old.span)


def allowed(rule: str, before: Node, after: Node) -> bool:
    """Report one application of a rule to the recorder; False where it is switched off."""
    recorder = current_recorder()
    return after is not before and (recorder is None or recorder.allows(rule, before, after))


def conjuncts(cond: Expr) -> list[Expr]:
    """List the conditions that ``and`` joins, in order."""
    found: list[Expr] = []
    stack = [cond]
    while stack:
        node = stack.pop()
        if isinstance(node, And):
            stack += [node.b, node.a]
        else:
            found.append(node)
    return found
