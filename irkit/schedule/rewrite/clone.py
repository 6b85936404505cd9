"""Copies of statements with variables, buffers and block names of their own."""

from typing import TypeVar

from irkit.core import fresh, rewrite, walk
from irkit.ir import Block, PrimFunc, Stmt

_S = TypeVar("_S", bound=Stmt)


class Cloner:
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
    return Cloner(func).name(wanted)
