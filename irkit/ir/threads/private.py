"""Give each thread memory of its own where a private buffer is allocated around the threads.

The allocation moves into the loops over threads if one nest of them contains all its uses. Else a
buffer with a row for each thread takes its place: a thread sees its row through a view, and what is
stored outside the loops is stored in the row of every thread.
"""

from collections.abc import Callable, Sequence

from irkit.core import (
    IRKitError,
    Node,
    children,
    equal,
    substitute,
    symbols_bound,
    symbols_used,
    walk,
)
from irkit.ir.analysis import with_views
from irkit.ir.arith import simplify
from irkit.ir.buffer import Buffer
from irkit.ir.build import as_int, element_count, is_const, nested, seq, strided_count
from irkit.ir.dtype import I64
from irkit.ir.expr import Const, Expr, Var, convert
from irkit.ir.scoped_rewriter import map_below
from irkit.ir.stmt import Allocate, Block, For, If, Let, Seq, Stmt, Store, View
from irkit.ir.threads.nest import extent_of

Claim = Callable[[For], bool]


def with_own_memory(body: Stmt, claim: Claim, *, scope: str | None = None) -> Stmt:
    """Give each thread its own memory of every private buffer, where the loops over threads are
    those that satisfy a claim; return the same statement if there is nothing to do.

    A buffer with rows for all threads gets the ``scope``, or keeps its own. The caller holds the
    guard of ``deep_recursion``.
    Raises: IRKitError if the number of threads is not known at the allocation.
    """
    if not any(each.buffer.is_private for each in walk(body, Allocate)):
        return body

    def visit(stmt: Stmt, around: frozenset[str]) -> Stmt:
        if isinstance(stmt, For) and stmt.kind == "thread":
            around |= {stmt.thread}

        def divides(loop: For) -> bool:
            return claim(loop) and loop.thread not in around

        if not isinstance(stmt, Allocate) or not stmt.buffer.is_private:
            return map_below(stmt, lambda each: visit(each, around))
        if not _threads_of(stmt.body, with_views(stmt), divides):
            return map_below(stmt, lambda each: visit(each, around))
        inside = _moved(stmt.body, stmt, around)
        if inside is not None:
            return visit(inside, around)
        made = _Rows(stmt, divides, scope).made()
        return made.replace(body=visit(made.body, around))

    return visit(body, frozenset())


def element_reach(buffer: Buffer) -> Expr:
    """Return the number of elements from the first to the last of a buffer."""
    if buffer.strides is None:
        return element_count(buffer.shape)
    return simplify(strided_count(buffer.shape, buffer.strides))


def thread_number(loops: Sequence[For]) -> tuple[Expr, Expr]:
    """Return the number of iterations of nested loops, and the number of the current one, both as
    i64."""
    count: Expr = Const(1, I64)
    number: Expr = Const(0, I64)
    for loop in loops:
        extent, at = extent_of(loop), convert(loop.var, I64)
        if as_int(loop.begin) != 0:
            at = at - convert(loop.begin, I64)
        number = at if is_const(count, 1) else times(number, extent) + at
        count = element_count((count, extent))
    return count, number


def times(number: Expr, size: Expr) -> Expr:
    """Return a number of rows of a size."""
    return number if is_const(size, 1) else number * size


def _threads_of(body: Stmt, symbols: set[Buffer], claim: Claim) -> list[For]:
    """Return the loops over threads that use one of some buffers."""
    loops = [loop for loop in walk(body, For) if claim(loop)]
    return [loop for loop in loops if not symbols.isdisjoint(symbols_used(loop))]


def _moved(stmt: Stmt, home: Allocate, around: frozenset[str]) -> Stmt | None:
    """Return a statement with an allocation in the innermost loop over threads around all uses;
    None if there is no such loop. ``around`` are the axes whose threads already are around it."""
    if isinstance(stmt, For):
        if stmt.kind != "thread" or stmt.thread in around or _uses(stmt, home.buffer):
            return None
        inside = _moved(stmt.body, home, around | {stmt.thread})
        return stmt.replace(body=home.replace(body=stmt.body) if inside is None else inside)
    if not isinstance(stmt, (Seq, If, Let, View, Allocate)) or _uses(stmt, home.buffer):
        return None
    users = [each for each in _below(stmt) if home.buffer in symbols_used(each)]
    inside = _moved(users[0], home, around) if len(users) == 1 else None
    if inside is None:
        return None
    return map_below(stmt, lambda each: inside if each is users[0] else each)


def _below(stmt: Stmt) -> list[Stmt]:
    return [each for each in children(stmt) if isinstance(each, Stmt)]


def _uses(stmt: Stmt, buffer: Buffer) -> bool:
    """Return True if a statement uses a buffer itself, not only below."""
    return buffer in symbols_used(_bare(stmt))


def _bare(stmt: Stmt) -> Stmt:
    return map_below(stmt, lambda _: _NOTHING)


class _Rows:
    """Puts a buffer with a row for each thread in place of a private one.

    ``views`` are those of the memory around the current statement, outermost first.
    """

    def __init__(self, home: Allocate, claim: Claim, scope: str | None) -> None:
        self.home, self.claim = home, claim
        self.size = element_reach(home.buffer)
        self.symbols = with_views(home)
        self.extents = self._extents()
        old = home.buffer
        count = element_count((*self.extents.values(), self.size))
        kept = old.scope if scope is None else scope
        self.all = Buffer(f"{old.name}_all", (count,), old.dtype, kept, span=old.span)
        self.views: list[View] = []

    def made(self) -> Allocate:
        """Return the new allocation."""
        body = self.visit(self.home.body, {})
        return Allocate(self.all, body, self.home.attrs, span=self.home.span)

    def _extents(self) -> dict[str, Expr]:
        """Return the number of threads on each axis."""
        found: dict[str, Expr] = {}
        inside = {*symbols_bound(self.home.body)}
        for loop in _threads_of(self.home.body, self.symbols, self.claim):
            extent = extent_of(loop)
            known = found.setdefault(loop.thread, extent)
            one, other = as_int(known), as_int(extent)
            if one is not None and other is not None:
                found[loop.thread] = Const(max(one, other), I64)
                continue
            differ = not equal(known, extent) and as_int(simplify(known - extent)) != 0
            if differ or not inside.isdisjoint(symbols_used(extent)):
                raise IRKitError(
                    f"each thread has its own {self.home.buffer.name!r}, but where it is allocated "
                    f"it is not known how many there are along {loop.thread}",
                    hint="Allocate it inside the loops over threads.",
                    span=loop.span,
                )
        return found

    def visit(self, stmt: Stmt, numbers: dict[str, Expr]) -> Stmt:
        """Return a statement that uses rows; ``numbers`` tell the thread on the axes around it."""
        if self.symbols.isdisjoint(symbols_used(stmt)):
            return stmt
        if not _threads_of(stmt, self.symbols, self.claim):
            return self._inside(stmt, numbers)
        if isinstance(stmt, View) and stmt.source in self.symbols:
            self.views.append(stmt)
            body = self.visit(stmt.body, numbers)
            self.views.pop()
            return body
        bare = _bare(stmt)
        inner = numbers
        if isinstance(stmt, For) and self.claim(stmt) and stmt.thread not in numbers:
            number = convert(stmt.var, I64)
            if as_int(stmt.begin) != 0:
                number = number - convert(stmt.begin, I64)
            inner = {**numbers, stmt.thread: number}
        if isinstance(stmt, Block):
            stmt = stmt.replace(reads=None, writes=None)
        if self.symbols.isdisjoint(symbols_used(bare)):
            return map_below(stmt, lambda each: self.visit(each, inner))
        around, names = self._row(numbers)
        bodies = iter([self.visit(each, inner) for each in _below(stmt)])
        bare = substitute(_bare(stmt), names)
        return nested(around, map_below(bare, lambda _: next(bodies)))

    def _inside(self, stmt: Stmt, numbers: dict[str, Expr]) -> Stmt:
        """Return a statement without threads, on the row of the current thread."""
        missing = [axis for axis in self.extents if axis not in numbers]
        if missing:
            stmt = self._for_all(stmt, numbers, missing, ())
        around, names = self._row(numbers)
        used = symbols_used(stmt)
        if self.symbols.isdisjoint(used):
            return stmt
        return nested(around, substitute(stmt, names))

    def _for_all(
        self, stmt: Stmt, numbers: dict[str, Expr], missing: list[str], views: tuple[View, ...]
    ) -> Stmt:
        """Return a statement whose stores are stores in the rows of all threads along axes."""
        if isinstance(stmt, View) and stmt.source in self.symbols:
            views = (*views, stmt)
        if not isinstance(stmt, Store):
            return map_below(stmt, lambda each: self._for_all(each, numbers, missing, views))
        if stmt.buffer not in self.symbols:
            return stmt
        loops = [
            For(Var("thread", I64), Const(0, I64), self.extents[axis], _NOTHING, span=stmt.span)
            for axis in missing
        ]
        every = {axis: loop.var for axis, loop in zip(missing, loops, strict=True)}
        around, names = self._row({**numbers, **every}, views)
        return nested([*loops, *around], substitute(stmt, names))

    def _row(
        self, numbers: dict[str, Expr], views: Sequence[View] = ()
    ) -> tuple[list[View], dict[Node, Node]]:
        """Return views of the row of a thread, the first one of an axis that has no number, and
        what they are in place of."""
        row: Expr = Const(0, I64)
        for axis, extent in self.extents.items():
            number = numbers.get(axis, Const(0, I64))
            row = number if is_const(row, 0) else times(row, extent) + number
        old = self.home.buffer
        own = old.replace(align=0).copy()
        names: dict[Node, Node] = {old: own}
        made = [View(own, self.all, simplify(times(row, self.size)), _NOTHING, span=self.home.span)]
        for view in (*self.views, *views):
            buffer = names[view.buffer] = view.buffer.copy()
            source = names[view.source]
            assert isinstance(source, Buffer)
            made.append(
                substitute(view.replace(buffer=buffer, source=source, body=_NOTHING), names)
            )
        return made, names


_NOTHING = seq()
