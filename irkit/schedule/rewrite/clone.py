"""Copy statements with fresh variables, buffers and block names."""

from typing import TypeVar

from irkit.core import UniqueNames, fresh, rewrite, walk
from irkit.ir import Block, PrimFunc, Stmt

_S = TypeVar("_S", bound=Stmt)


class Cloner:
    """Copier of statements with fresh variables and buffers, and unused block names."""

    def __init__(self, func: PrimFunc) -> None:
        self.name = UniqueNames(block.name for block in walk(func, on=Block))

    def clone(self, stmt: _S) -> _S:
        """Return a copy of a statement; blocks get the original name with a number."""
        return rewrite(fresh(stmt), self._named, on=Block)

    def _named(self, block: Block) -> Block:
        return block.replace(name=self.name(block.name))


def new_name(func: PrimFunc, wanted: str) -> str:
    """Return an unused block name: the wanted one, with a number if it is taken."""
    return Cloner(func).name(wanted)
