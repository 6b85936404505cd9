"""Attempts to compare what is left in another way, of which nothing stays if they fail."""

from collections.abc import Callable

from irkit.ir import Expr, For, If, Stmt, logical_not
from irkit.proof.functions.loop_pieces import LoopPieces
from irkit.proof.functions.moved_allocations import MovedAllocations
from irkit.proof.functions.one_sided import OneSided
from irkit.proof.functions.scope import NotShown, Scope, Side

MOST_WAYS = 400
"""Attempts for one step."""


class Attempts:
    """Compares lists of statements, the next one last, with loops cut into pieces or in cases;
    ``lists`` compares statements that run one after the other, and raises NotShown."""

    def __init__(
        self,
        scope: Scope,
        one_sided: OneSided,
        elsewhere: MovedAllocations,
        lists: Callable[[list[Stmt], list[Stmt]], None],
    ) -> None:
        self.scope, self.one_sided, self.elsewhere = scope, one_sided, elsewhere
        self.lists = lists
        self.pieces = LoopPieces(scope, self.idles)
        self.left = MOST_WAYS

    def in_pieces(self, old: list[Stmt], new: list[Stmt]) -> bool:
        """Compare what is left with a loop cut into pieces, if that shows that it is equal."""
        for first, second in self.pieces.ways(old, new):
            if self._is_equal([(first, second, None)]):
                old.clear()
                new.clear()
                return True
        return False

    def by_cases(self, old: list[Stmt], new: list[Stmt]) -> bool:
        """Compare what is left twice, if one side has a branch there: where its condition holds,
        and where it does not."""
        for stmts, side in ((old, self.scope.before), (new, self.scope.after)):
            match stmts[-1] if stmts else None:
                case If(cond, then, otherwise):
                    made = side.read(cond)
                    self.one_sided.evaluated(made, side)
                    cases: list[tuple[list[Stmt], list[Stmt], Expr | None]] = []
                    for known, chosen in ((made, then), (logical_not(made), otherwise)):
                        left = [*stmts[:-1], *([] if chosen is None else [chosen])]
                        cases.append((left, new, known) if stmts is old else (old, left, known))
                    if not self._is_equal(cases):
                        return False
                    old.clear()
                    new.clear()
                    return True
                case _:
                    pass
        return False

    def idles(self, loop: For, side: Side) -> bool:
        """Return True if a loop does nothing, because conditions in it never hold."""
        var, known = loop.var.copy(), side.values.get(loop.var)
        begin, end = side.read(loop.begin), side.read(loop.end)
        side.values[loop.var] = var
        body: list[list[Stmt]] = [[], []]
        body[side is self.scope.after].append(loop.body)
        with self.scope.counting(var, begin, end):
            found = self._is_equal([(body[0], body[1], None)])
        side.values.pop(loop.var)
        if known is not None:
            side.values[loop.var] = known
        return found

    def _is_equal(self, cases: list[tuple[list[Stmt], list[Stmt], Expr | None]]) -> bool:
        """Return True if lists of statements are shown to be equal, each pair where a condition
        holds; nothing is left of an attempt that fails."""
        scope = self.scope
        self.left -= 1
        if self.left < 0:
            return False
        waiting, loaded = list(scope.waiting), list(scope.loaded)
        values = dict(scope.before.values), dict(scope.after.values)
        stores, moved = scope.lifetimes.copy(), self.elsewhere.copy()
        try:
            for old, new, cond in cases:
                scope.waiting[:] = waiting
                scope.lifetimes.restore(stores)
                self.elsewhere.restore(moved)
                with scope.under([] if cond is None else [cond]):
                    self.lists(old[::-1], new[::-1])
        except NotShown:
            scope.waiting[:], scope.loaded[:] = waiting, loaded
            scope.before.values, scope.after.values = values
            scope.lifetimes.restore(stores)
            self.elsewhere.restore(moved)
            return False
        return True
