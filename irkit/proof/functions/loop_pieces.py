"""Loops of one side that the other runs in pieces: parts of their range, or single iterations."""

from collections.abc import Callable, Iterator

from irkit.core import any_node, substitute
from irkit.ir import I64, U64, Expr, For, If, Stmt, convert, le, logical_and, lt
from irkit.proof.functions.scope import Scope, Side

Lists = tuple[list[Stmt], list[Stmt]]
"""What is left to run on either side, the next statement last."""


class LoopPieces:
    """Ways to cut a loop of one side so that the first piece can be what the other side runs."""

    def __init__(self, scope: Scope, idles: Callable[[For, Side], bool]) -> None:
        self.scope = scope
        self.idles = idles

    def ways(self, old: list[Stmt], new: list[Stmt]) -> Iterator[Lists]:
        """Yield what is left after a loop at its head was cut, the more promising first.

        Nothing is yielded for two loops with the same limits.
        """
        a, b = old[-1] if old else None, new[-1] if new else None
        if isinstance(a, For) and isinstance(b, For):
            if U64 in (a.var.dtype, b.var.dtype):
                return
            alike = a.var.name == b.var.name
            if not self._same_range(a, b):
                if alike:
                    yield from self._cut(old, new, a, b)
                yield from self._one_by_one(old, new)
                if not alike:
                    yield from self._cut(old, new, a, b)
        else:
            yield from self._one_by_one(old, new)

    def without_idle(self, sides: list[tuple[list[Stmt], Side]]) -> bool:
        """Drop a loop that does nothing, beside something that is not a loop."""
        heads = [stmts[-1] if stmts else None for stmts, _ in sides]
        for (stmts, side), other in zip(sides, heads[::-1], strict=True):
            loop = stmts[-1] if stmts else None
            if not isinstance(loop, For) or isinstance(other, For) or loop.var.dtype == U64:
                continue
            if any_node(loop.body, If) and self.idles(loop, side):
                stmts.pop()
                return True
        return False

    def _same_range(self, a: For, b: For) -> bool:
        before, after = self.scope.before, self.scope.after
        return all(self._same(x, before, y, after) for x, y in ((a.begin, b.begin), (a.end, b.end)))

    def _cut(self, old: list[Stmt], new: list[Stmt], a: For, b: For) -> Iterator[Lists]:
        """Yield what is left if the longer one of two loops ends where the other does."""
        before, after = self.scope.before, self.scope.after
        if not self._same(a.begin, before, b.begin, after):
            return
        middle = after.read(b.end)
        if _may_be_cut(a, is_after=False) and self._is_within(middle, a, before):
            yield self._cut_at(old, a, middle), new
        middle = before.read(a.end)
        if _may_be_cut(b, is_after=True) and self._is_within(middle, b, after):
            yield old, self._cut_at(new, b, middle)

    def _one_by_one(self, old: list[Stmt], new: list[Stmt]) -> Iterator[Lists]:
        """Yield what is left after the first iteration of a loop."""
        before, after = self.scope.before, self.scope.after
        for stmts, side in ((old, before), (new, after)):
            loop = stmts[-1] if stmts else None
            if not isinstance(loop, For) or loop.var.dtype == U64:
                continue
            if not (old and new) or not _may_be_cut(loop, is_after=side is after):
                continue
            begin, end = [convert(side.read(each), I64) for each in (loop.begin, loop.end)]
            if self.scope.holds(lt(begin, end)):
                at = convert(begin, loop.var.dtype)
                first = substitute(loop.body, {loop.var: at})
                left = [*stmts[:-1], loop.replace(begin=at + 1), first]
                yield (left, new) if side is before else (old, left)

    def _same(self, a: Expr, side: Side, b: Expr, other: Side) -> bool:
        x, y = convert(side.read(a), I64), convert(other.read(b), I64)
        return self.scope.holds(logical_and(le(x, y), le(y, x)))

    def _is_within(self, middle: Expr, loop: For, side: Side) -> bool:
        """Return True if a place is behind the first iteration of a loop, and not behind the
        last."""
        at = convert(middle, I64)
        begin, end = [convert(side.read(each), I64) for each in (loop.begin, loop.end)]
        return self.scope.holds(logical_and(lt(begin, at), lt(at, end)))

    def _cut_at(self, stmts: list[Stmt], loop: For, middle: Expr) -> list[Stmt]:
        at = convert(middle, loop.var.dtype)
        return [*stmts[:-1], loop.replace(begin=at), loop.replace(end=at)]


def _may_be_cut(loop: For, *, is_after: bool) -> bool:
    """Return True if pieces of a loop, one after the other, are one of its orders; the side after
    has to be right in each of them."""
    if loop.kind == "thread" or dict(loop.attrs).get("reassoc"):
        return False
    return loop.kind in ("serial", "unrolled") or not is_after
