"""Copies of statements that can stand in one function with what they were copied from."""

from typing import TypeVar

from irkit.core import fresh, rewrite, walk
from irkit.ir import Block, PrimFunc, Stmt

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
