"""Copies of statements that can stand in one function with what they were copied from, and new
blocks beside them."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from irkit.core import Span, fresh, rewrite, substitute, walk
from irkit.ir import Axis, Block, Expr, For, PrimFunc, Stmt, Store, Var, const

_S = TypeVar("_S", bound=Stmt)


class Copies:
    """Make copies with variables and buffers of their own, and block names that nothing has yet."""

    def __init__(self, func: PrimFunc) -> None:
        self.taken = {block.name for block in walk(func, on=Block)}

    def of(self, stmt: _S) -> _S:
        """Copy a statement; blocks are numbered after what they were copied from."""
        return rewrite(fresh(stmt), self._named, on=Block)

    def _named(self, block: Block) -> Block:
        return block.replace(name=self.name(block.name))

    def name(self, wanted: str) -> str:
        """Find a name that is not taken, the one wanted or that with a number, and take it."""
        name, at = wanted, 1
        while name in self.taken:
            name, at = f"{wanted}_{at}", at + 1
        self.taken.add(name)
        return name


def new_name(func: PrimFunc, wanted: str) -> str:
    """Choose a name for a new block: the one wanted, with a number if it is taken."""
    return Copies(func).name(wanted)


def nest_over(
    name: str, shape: Sequence[Expr], store: Callable[[tuple[Var, ...]], Store], span: Span
) -> Stmt:
    """Make a block, with loops, that runs a store at all points of a shape."""
    axes = [
        Axis(Var(f"v{at}", dim.dtype), dim, Var(f"c{at}", dim.dtype))
        for at, dim in enumerate(shape)
    ]
    made: Stmt = Block(name, tuple(axes), store(tuple(axis.var for axis in axes)), span=span)
    for axis in reversed(axes):
        assert isinstance(axis.binding, Var)
        zero = const(0, axis.binding.dtype)
        made = For(axis.binding, zero, axis.extent, made, span=span)
    return made


def computed_nest(name: str, axes: Sequence[Axis], store: Store, span: Span) -> Stmt:
    """Make a block, with loops, that runs a store for all points of axes like some that there
    are."""
    theirs = [axis.var for axis in axes]
    return nest_over(
        name,
        [axis.extent for axis in axes],
        lambda own: substitute(store, dict(zip(theirs, own, strict=True))),
        span,
    )
