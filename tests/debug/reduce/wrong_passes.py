"""Passes that break programs, each in its own way; ``mended`` makes all of them correct."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from irkit.core import Node, rewrite, substitute, walk
from irkit.ir import (
    Add,
    Block,
    Const,
    FloorDiv,
    For,
    If,
    Load,
    Mul,
    PrimFunc,
    Seq,
    Store,
    Sub,
    Var,
    const,
    seq,
)
from irkit.transform import define_pass

_MENDED = [False]


@contextmanager
def mended() -> Generator[None]:
    """Make every pass of this module leave programs unchanged."""
    _MENDED[0] = True
    try:
        yield
    finally:
        _MENDED[0] = False


def _broken(func: PrimFunc, rule: Any, on: type[Node]) -> PrimFunc:
    return func if _MENDED[0] else rewrite(func, rule, on=on)


@define_pass
def lose_iteration(func: PrimFunc) -> PrimFunc:
    """Drop the last iteration of every loop."""
    return _broken(func, lambda loop: loop.replace(end=loop.end - 1), For)


@define_pass
def subtract(func: PrimFunc) -> PrimFunc:
    """Replace float additions by subtractions."""
    return _broken(func, lambda e: Sub(e.a, e.b, e.dtype) if e.dtype.is_float else None, Add)


@define_pass
def swap_indices(func: PrimFunc) -> PrimFunc:
    """Swap the indices of loads from matrices."""
    return _broken(
        func, lambda e: e.replace(indices=e.indices[::-1]) if len(e.indices) == 2 else None, Load
    )


@define_pass
def lose_predicate(func: PrimFunc) -> PrimFunc:
    """Drop the predicates of blocks."""
    return _broken(func, lambda block: block.replace(predicate=None), Block)


@define_pass
def lose_start(func: PrimFunc) -> PrimFunc:
    """Drop the initialisation of reductions."""
    return _broken(func, lambda block: block.replace(init=None), Block)


@define_pass
def lose_branch(func: PrimFunc) -> PrimFunc:
    """Take one side of every conditional."""
    return _broken(func, lambda choice: choice.then, If)


@define_pass
def lose_last(func: PrimFunc) -> PrimFunc:
    """Drop the last of several statements."""
    return _broken(func, lambda many: seq(*many.stmts[:-1]) if many.stmts else None, Seq)


@define_pass
def one_too_far(func: PrimFunc) -> PrimFunc:
    """Write beside every buffer at the end of a loop."""
    return _broken(func, lambda loop: loop.replace(end=loop.end + 1), For)


@define_pass
def round_down(func: PrimFunc) -> PrimFunc:
    """Treat integer divisions as exact."""
    return _broken(func, lambda e: e.a if isinstance(e.b, Const) else None, FloorDiv)


@define_pass
def leave_undefined(func: PrimFunc) -> PrimFunc:
    """Use an unbound variable."""

    def rule(store: Store) -> Node:
        return store.replace(value=store.value + Var("nowhere", store.value.dtype))

    return _broken(func, rule, Store)


@define_pass
def bind_twice(func: PrimFunc) -> PrimFunc:
    """Copy a loop without fresh variables."""
    return _broken(func, lambda loop: Seq((loop, loop.replace(kind="serial"))), For)


@define_pass
def raise_at_products(func: PrimFunc) -> PrimFunc:
    """Raise at a product of floats."""
    for node in walk(func, Mul):
        if node.dtype.is_float and not _MENDED[0]:
            raise KeyError("product")
    return func


@define_pass
def never_end(func: PrimFunc) -> PrimFunc:
    """Make loops that take practically forever."""

    def rule(loop: For) -> Node:
        body = substitute(loop.body, {loop.var: const(0, loop.var.dtype)})
        return loop.replace(end=const(1 << 60, loop.end.dtype), body=body)

    return _broken(func, rule, For)


@define_pass
def change_signature(func: PrimFunc) -> PrimFunc:
    """Drop a parameter."""
    return func if _MENDED[0] else func.replace(params=func.params[1:])


@define_pass
def scale(func: PrimFunc, *, factor: int = 1, twice: bool = False) -> PrimFunc:
    """Scale stored values by a factor, twice if an option asks for it."""

    def rule(store: Store) -> Node:
        value = store.value * factor if store.value.dtype.is_float else store.value
        return store.replace(value=value * factor if twice else value)

    return _broken(func, rule, Store)
