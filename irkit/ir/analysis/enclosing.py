"""What surrounds each statement, and which statements certainly ran before it; all statements of a
function in text order."""

from irkit.core import STATEMENTS, IRKitError, Node, analysis, children
from irkit.ir.build import trip_count
from irkit.ir.expr import Var
from irkit.ir.function import PrimFunc
from irkit.ir.stmt import Block, For, If, Seq, Stmt, Store


class EnclosingStmts:
    """Places of the statements of one function.

    A statement object that occurs several times has no place of its own.
    """

    def __init__(self, body: Stmt) -> None:
        self._above: dict[int, tuple[Stmt, int] | None] = {id(body): None}
        self._shared: set[int] = set()
        self._body = body  # Keeps the statements known by id alive.
        stack = [body]
        while stack:
            stmt = stack.pop()
            below = [child for child in in_order(stmt) if isinstance(child, Stmt)]
            for number, child in enumerate(below):
                if id(child) in self._above:
                    self._shared.add(id(child))
                    continue
                self._above[id(child)] = stmt, number
                stack.append(child)

    def __contains__(self, stmt: Stmt) -> bool:
        return id(stmt) in self._above

    def parent(self, stmt: Stmt) -> Stmt | None:
        """Return the statement directly around one, or None for the body of the function.

        Raises: IRKitError if the statement is not in the function, or occurs in it several times.
        """
        above = self._place(stmt)
        return None if above is None else above[0]

    def path(self, stmt: Stmt) -> tuple[Stmt, ...]:
        """Return the statements around one, outermost first."""
        return tuple(around for around, _ in self._steps(stmt))

    def loops(self, stmt: Stmt) -> tuple[For, ...]:
        """Return the loops around a statement, outermost first."""
        return tuple(around for around in self.path(stmt) if isinstance(around, For))

    def dominates(self, a: Stmt, b: Stmt) -> bool:
        """Return True if ``a`` certainly began before each run of ``b``.

        That is so if it is around ``b``, or before it where control cannot bypass it.
        """
        if a is b:
            return True
        if self._is_shared(a) or self._is_shared(b):
            return False
        up, down = [*self._steps(a), (a, 0)], [*self._steps(b), (b, 0)]
        for at, ((x, n), (y, m)) in enumerate(zip(up, down, strict=False)):
            if x is a:
                return True
            if y is b:
                return False
            if n != m:
                runs_before = isinstance(x, Seq) and n < m
                return runs_before and all(_surely_enters(*step) for step in up[at + 1 : -1])
        raise AssertionError("two statements have the same place")

    def _steps(self, stmt: Stmt) -> list[tuple[Stmt, int]]:
        """Return the statements around one, each with the index of the child that leads to it."""
        found: list[tuple[Stmt, int]] = []
        above = self._place(stmt)
        while above is not None:
            found.append(above)
            above = self._place(above[0])
        return found[::-1]

    def _place(self, stmt: Stmt) -> tuple[Stmt, int] | None:
        if id(stmt) not in self._above:
            raise IRKitError("the statement is not in this function", span=stmt.span)
        if id(stmt) in self._shared:
            raise IRKitError("the statement occurs several times in this function", span=stmt.span)
        return self._above[id(stmt)]

    def _is_shared(self, stmt: Stmt) -> bool:
        """Return True if a statement, or one around it, occurs several times."""
        at: Stmt | None = stmt
        while at is not None:
            if id(at) in self._shared:
                return True
            at = self.parent(at)
        return False


@analysis
def enclosing(func: PrimFunc) -> EnclosingStmts:
    """Return what surrounds each statement of a function."""
    return EnclosingStmts(func.body)


def in_order(node: Node) -> tuple[Node, ...]:
    """Return the nodes directly below, in execution order."""
    if not isinstance(node, Block):
        return children(node)
    parts = [*node.axes, node.predicate, node.init, node.body]
    return tuple([part for part in parts if part is not None])


def _surely_enters(stmt: Stmt, number: int) -> bool:
    """Return True if a statement that runs certainly runs its child of this index."""
    match stmt:
        case For():
            return bool(trip_count(stmt))
        case If():
            return False
        case Block():
            is_init = stmt.init is not None and number == 0
            return stmt.predicate is None and not is_init
        case _:
            return True


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
