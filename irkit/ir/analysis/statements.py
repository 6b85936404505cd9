"""The statements of a function in text order, and what is around each."""

from irkit.core import STATEMENTS, analysis
from irkit.ir.expr import Var
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Block, For, Stmt, Store


class StatementTable:
    """The statements of one function, each once, parents first.

    A statement object that stands in several places counts where it comes first in the text;
    ``enclosing`` gives such a statement no place.
    """

    def __init__(self, body: Stmt) -> None:
        above: dict[int, Stmt | None] = {}
        found: list[Stmt] = []
        stack: list[tuple[Stmt, Stmt | None]] = [(body, None)]
        while stack:
            stmt, around = stack.pop()
            if id(stmt) in above:
                continue
            above[id(stmt)] = around
            found.append(stmt)
            if stmt.__class__ is not Store:  # Most statements are; only statements hold others.
                below = STATEMENTS[stmt.__class__](stmt)
                stack += [(each, stmt) for each in below[::-1] if isinstance(each, Stmt)]
        self._above = above
        self.all: tuple[Stmt, ...] = tuple(found)
        self.blocks: tuple[Block, ...] = tuple(each for each in found if isinstance(each, Block))
        self.loops: tuple[For, ...] = tuple(each for each in found if isinstance(each, For))
        self._by_var: dict[Var, For] = {}
        for loop in self.loops:
            self._by_var.setdefault(loop.var, loop)

    def __contains__(self, stmt: Stmt) -> bool:
        return id(stmt) in self._above  # ``all`` keeps the statements alive.

    def loop(self, var: Var) -> For | None:
        """Return the loop of a variable, if there is one."""
        return self._by_var.get(var)

    def path(self, stmt: Stmt) -> list[Stmt]:
        """Return the statements around one, outermost first, and itself; it must be in the
        function."""
        found = [stmt]
        above = self._above[id(stmt)]
        while above is not None:
            found.append(above)
            above = self._above[id(above)]
        return found[::-1]


@analysis
def statements(func: PrimFunc) -> StatementTable:
    """Return the statements of a function, in text order."""
    return StatementTable(func.body)
