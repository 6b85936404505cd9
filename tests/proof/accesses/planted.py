"""Functions with one access, limit or guard changed, so that an access may leave its buffer."""

from collections.abc import Iterator

from irkit.core import rewrite, walk
from irkit.ir import (
    LE,
    LT,
    Block,
    Expr,
    For,
    If,
    PrimFunc,
    Store,
    const,
    replace_stmts,
    verify,
)


def planted(func: PrimFunc) -> Iterator[tuple[str, PrimFunc]]:
    """Yield valid functions with one fault each, and what was changed."""
    for what, made in _changes(func):
        if not verify(made):
            yield what, made


def _changes(func: PrimFunc) -> Iterator[tuple[str, PrimFunc]]:
    for loop in walk(func.body, For):
        name = loop.var.name
        yield f"one more {name}", replace_stmts(func, {loop: loop.replace(end=loop.end + 1)})
        yield f"{name} from -1", replace_stmts(func, {loop: loop.replace(begin=loop.begin - 1)})
    for branch in walk(func.body, If):
        yield "no guard", replace_stmts(func, {branch: branch.then})
    for block in walk(func.body, Block):
        if block.predicate is not None:
            yield "no predicate", replace_stmts(func, {block: block.replace(predicate=None)})
    for store in walk(func.body, Store):
        for axis, index in enumerate(store.indices):
            moved = (
                *store.indices[:axis],
                index + const(1, index.dtype),
                *store.indices[axis + 1 :],
            )
            yield f"next {axis}", replace_stmts(func, {store: store.replace(indices=moved)})
    for compared in {id(each): each for each in walk(func.body, LT)}.values():
        yield "<= for <", _or_equal(func, compared)


def _or_equal(func: PrimFunc, compared: LT) -> PrimFunc:
    def changed(each: LT) -> Expr | None:
        return LE(each.a, each.b, each.dtype) if each is compared else None

    return rewrite(func, changed, on=LT)
