"""Copies of statements that can stand in one function with what they were copied from, and new
blocks beside them."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from irkit.core import Node, Span, fresh, rewrite, substitute, walk
from irkit.ir import Axis, Block, For, PrimFunc, Stmt, Store, Var, const

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
        """Find a name that is not taken, and take it."""
        at = 1
        while f"{wanted}_{at}" in self.taken:
            at += 1
        self.taken.add(f"{wanted}_{at}")
        return f"{wanted}_{at}"


def unique_name(func: PrimFunc, wanted: str) -> str:
    """Find a name for a block, which is the one that is wanted if no block has it."""
    taken = Copies(func)
    return taken.name(wanted) if wanted in taken.taken else wanted


def computed_nest(
    name: str, axes: Sequence[Axis], mine: Mapping[Var, Var], store: Store, span: Span
) -> Stmt:
    """Make a block, with loops, that runs a store for all points of axes like some that there are;
    ``mine`` are its own variables for theirs."""
    loops = [Var(f"c{at}", axis.var.dtype) for at, axis in enumerate(axes)]
    names: dict[Node, Node] = {**mine}
    made: Stmt = Block(
        name,
        tuple(
            Axis(mine[axis.var], axis.extent, loop) for axis, loop in zip(axes, loops, strict=True)
        ),
        substitute(store, names),
        span=span,
    )
    for axis, loop in zip(reversed(axes), reversed(loops), strict=True):
        made = For(loop, const(0, loop.dtype), axis.extent, made, span=span)
    return made
