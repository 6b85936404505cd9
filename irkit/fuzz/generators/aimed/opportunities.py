"""Loop nests in which passes find something to do: perfect nests, repeated stores, loops that run
once, names for variables, branches that are known, memory that is not used, neighbouring loops."""

from collections.abc import Callable, Sequence

from irkit.core import fresh
from irkit.fuzz.generators.aimed.aim import PassAim
from irkit.fuzz.generators.expressions import ExprMaker, ReadableBuffer
from irkit.fuzz.picks import Picks
from irkit.ir import (
    F16,
    F32,
    F64,
    I8,
    I32,
    I64,
    U8,
    Allocate,
    Axis,
    Block,
    Buffer,
    Const,
    Expr,
    For,
    If,
    Let,
    LoopKind,
    PrimFunc,
    Seq,
    Stmt,
    Store,
    Var,
    const,
    dependences,
    eq,
    if_then_else,
    le,
    logical_and,
    logical_not,
    lt,
    parse,
    seq,
)

_DTYPES = (F32, I32, F32, I64, F64, U8, F32, F16, I8)
_EXTENTS = (4, 3, 8, 2, 5, 16, 1, 6)
_LARGEST = 40
_ANY_KIND: tuple[LoopKind, ...] = ("serial", "serial", "unrolled", "parallel", "vectorized")
_ZERO = Const(0, I64)


def opportunities(picks: Picks, aim: PassAim) -> PrimFunc:
    """Make a function of up to four such statements, with loops of the kinds and numbers of
    iterations that the pass mentions."""
    return _NestMaker(picks, aim).function()


class _NestMaker:
    """Maker of statements over matrices A, B, C, rows R, S, T and columns V of one type."""

    def __init__(self, picks: Picks, aim: PassAim) -> None:
        self.picks = picks
        self.dtype = picks.pick(_DTYPES)
        known = [
            int(number) + near
            for number in aim.numbers
            for near in (0, 0, 1)
            if isinstance(number, int) and 1 < number <= _LARGEST
        ]
        pool = [*known[:24], *_EXTENTS] if known and picks.below(3) else [*_EXTENTS]
        self.rows, self.columns = picks.pick(pool), picks.pick(pool)
        self.kinds: tuple[LoopKind, ...] = (
            tuple(kind for kind in aim.kinds if kind != "thread") or _ANY_KIND
        )
        self.threads = "thread" in aim.kinds
        self.statements = aim.statements
        m, n = Const(self.rows, I64), Const(self.columns, I64)
        self.matrices = [Buffer(name, (m, n), self.dtype) for name in "ABC"]
        self.lines = [Buffer(name, (n,), self.dtype) for name in "RST"]
        self.column = Buffer("V", (m,), self.dtype)
        self.scalar = Var("x", I64)

    def function(self) -> PrimFunc:
        """Make the function."""
        made = [self._statement() for _ in range(1 + self.picks.below(3))]
        params = (*self.matrices, *self.lines, self.column, self.scalar)
        if not self.picks.one_in(6):
            return PrimFunc("f", params, seq(*made))
        # Read back from text: statements of a copy can be the same objects.
        return parse(PrimFunc("f", params, seq(*made, fresh(made[-1]))).script())

    def _statement(self) -> Stmt:
        forms = [form for cls in self.statements for form in _ABOUT.get(cls, ())]
        forms += [_NestMaker.launch] * (2 * self.threads)
        return self.picks.pick(forms if forms and self.picks.below(2) else _FORMS)(self)

    def loop(self, var: Var, extent: int, body: Stmt, *, free: bool = True) -> For:
        """Make a loop; one that is ``free`` has no order."""
        kind: LoopKind = "serial"
        if free and self.picks.below(3):
            kind = self.picks.pick(self.kinds)
        if kind == "unrolled" and extent > 8:
            kind = "serial"
        if kind == "vectorized" and extent < 2:
            kind = "serial"
        return For(var, _ZERO, Const(extent, I64), body, kind)

    def value(
        self, places: Sequence[tuple[Var, int]], reads: Sequence[ReadableBuffer], depth: int = -1
    ) -> Expr:
        """Make a value over loop variables with extents, and buffers."""
        maker = ExprMaker(self.picks, [self.scalar, *(var for var, _ in places)], reads)
        for var, extent in places:
            maker.extents[var] = Const(extent, I64)
        if self.picks.one_in(5):  # The same value twice.
            part = maker.load(self.dtype)
            part = maker.value(self.dtype, 1) if part is None else part
            return part * part if self.picks.below(2) else part + part
        return maker.value(self.dtype, self.picks.below(3) if depth < 0 else depth)

    def reads(self, *but: Buffer) -> list[ReadableBuffer]:
        """Return all buffers but some."""
        all_of_them = [*self.matrices, *self.lines, self.column]
        return [ReadableBuffer(each) for each in all_of_them if each not in but]

    def nest(self) -> Stmt:
        """Make a perfect nest of two loops: over the elements of a matrix, in either order, each by
        itself, or after a neighbour of it; or over one element again and again."""
        i, j = Var("i"), Var("j")
        target = self.picks.pick(self.matrices)
        places = [(i, self.rows), (j, self.columns)]
        value = self.value(places, self.reads(target, *self.lines))
        form = self.picks.below(9)
        free = form < 5
        body: Stmt = Store(target, (i, j), value + target[i, j] if form == 4 else value)
        if form in (5, 6):
            body = Store(target, (i, j), self._neighbour(target, i, j) + value)
        elif form > 6:
            line = self.picks.pick(self.lines)
            at = j if form == 7 else _ZERO
            body = Store(line, (at,), line[at] + value if self.picks.below(2) else value)
        if self.picks.below(2):
            places.reverse()
        (outer, count), (inner, times) = places
        made = self.loop(inner, times, body, free=free)
        return self.loop(outer, count, made, free=free and made.kind == "serial")

    def _neighbour(self, target: Buffer, i: Var, j: Var) -> Expr:
        """Return the element a row, a column, or both away, or 0 where there is none."""
        down, right = self.picks.pick(((-1, 0), (0, -1), (-1, 1), (1, -1), (-1, -1), (1, 0)))
        inside = [
            logical_and(le(0, var + by), lt(var + by, extent))
            for var, by, extent in ((i, down, self.rows), (j, right, self.columns))
            if by
        ]
        zero = const(0, self.dtype)
        return if_then_else(logical_and(*inside), target[i + down, j + right], zero)

    def line(self, target: Buffer | None = None) -> Stmt:
        """Make one loop over a row, in which elements are independent, or depend on the one
        before."""
        i = Var("i")
        target = target or self.picks.pick(self.lines)
        value = self.value([(i, self.columns)], self.reads(target))
        form = self.picks.below(5)
        if form == 3:
            value = value + target[i]
        if form == 4:
            last = if_then_else(lt(0, i), target[i - 1], const(0, self.dtype))
            return self.loop(i, self.columns, Store(target, (i,), last + value), free=False)
        return self.loop(i, self.columns, self.wrapped(Store(target, (i,), value), i))

    def wrapped(self, store: Store, var: Var) -> Stmt:
        """Put a store under a condition, beside another, or behind a name."""
        about = [form for cls in self.statements for form in _WRAPPED.get(cls, ())]
        form = self.picks.pick(about) if about and self.picks.below(2) else self.picks.below(9)
        if form == 1:
            return If(self._condition(var), store)
        if form == 2:
            return If(self._condition(var), store, store.replace(value=self._again(store, var)))
        if form == 3:  # Overwritten, perhaps after it was read.
            read = store.buffer[store.indices] if self.picks.one_in(3) else self._again(store, var)
            return seq(store, store.replace(value=read))
        if form == 4:
            name = Var("t", self.dtype)
            return Let(name, store.value, store.replace(value=name))
        if form == 5:
            name = Var("u", I64)
            known = self.picks.pick((var, Const(2, I64), self.scalar, var + 1))
            value = self.value([(var, self.columns)], self.reads(store.buffer), 0)
            maker = ExprMaker(self.picks, [name], [])
            return Let(name, known, store.replace(value=value + maker.value(self.dtype, 1)))
        if form == 6:
            return seq(store, Store(store.buffer, store.indices, store.value))
        if form == 7 and store.buffer.rank == 1:
            axis = Var("v")
            body = store.replace(indices=(axis,))
            return Block("b", (Axis(axis, store.buffer.shape[0], var),), body)
        return store

    def _again(self, store: Store, var: Var) -> Expr:
        reads = self.reads(store.buffer) if self.picks.below(3) else []
        return self.value([(var, self.columns)], reads)

    def _condition(self, var: Var) -> Expr:
        form = self.picks.below(5)
        if form == 0:
            return lt(var, 1 + self.picks.below(self.columns))
        if form == 1:
            return logical_not(lt(var, self.scalar))
        if form == 2:
            return eq(self.scalar, self.picks.below(4))
        return const(form == 3, "bool")

    def total(self) -> Stmt:
        """Sum the columns of a matrix, or of what depends on the row alone."""
        i, j = Var("i"), Var("j")
        source = self.picks.pick(self.matrices)
        places = [(i, self.rows)] if self.picks.one_in(3) else [(i, self.rows), (j, self.columns)]
        reads = [each for each in self.reads(self.column) if each.buffer is not source]
        term = self.value(places, reads, 1)
        term = term if self.picks.one_in(3) else source[i, j] + term
        body = Store(self.column, (i,), self.column[i] + term)
        summed = self.loop(j, self.columns, body, free=False)
        start = Store(self.column, (i,), const(0, self.dtype))
        return self.loop(i, self.rows, seq(start, summed) if self.picks.below(2) else summed)

    def neighbours(self) -> Stmt:
        """Make two loops over the same elements, of which the second reads what the first wrote, or
        not; the first may be empty, or run once."""
        first, second = self.picks.pick(self.lines), self.picks.pick(self.lines)
        i = Var("i")
        reads = [*self.reads(first, second), ReadableBuffer(first, (i,))]
        reads = reads if first is not second else reads[:-1]
        value = self.value([(i, self.columns)], reads)
        made = self.line(first)
        assert isinstance(made, For)
        if self.picks.one_in(4):
            made = made.replace(end=Const(self.picks.below(2), I64), kind="serial")
        return seq(made, self.loop(i, self.columns, Store(second, (i,), value)))

    def memory(self) -> Stmt:
        """Allocate memory, fill it, and use it, or not."""
        own = Buffer("M", (Const(self.columns, I64),), self.dtype)
        i, j = Var("i"), Var("j")
        fill = Store(own, (i,), self.value([(i, self.columns)], self.reads()))
        filled = self.loop(i, self.columns, fill)
        target = self.picks.pick(self.lines)
        reads = self.reads(target)
        if self.picks.below(2):
            reads = [ReadableBuffer(own)]
        used = Store(target, (j,), self.value([(j, self.columns)], reads))
        return Allocate(own, seq(filled, self.loop(j, self.columns, used)))

    def once(self) -> Stmt:
        """Make a loop that runs once, or not at all, around another."""
        end = Const(0 if self.picks.one_in(4) else 1, I64)
        inside = self.line()
        kind: LoopKind = "serial"
        assert isinstance(inside, For)
        return For(Var("o"), _ZERO, end, inside, kind)

    def launch(self) -> Stmt:
        """Run a line on threads, if the pass mentions them."""
        made = self.line()
        assert isinstance(made, For)
        if not self.threads or not _is_independent(made):
            return made
        grid = For(Var("g"), _ZERO, Const(1, I64), _on_threads(made), "thread", "blockIdx.x")
        return grid if self.picks.below(2) else _on_threads(made)


def _on_threads(loop: For) -> For:
    return loop.replace(kind="thread", thread="threadIdx.x")


def _is_independent(loop: For) -> bool:
    func = PrimFunc("f", (), loop)
    return dependences(func).carried(loop) is None


_FORMS: tuple[Callable[[_NestMaker], Stmt], ...] = (
    _NestMaker.nest,
    _NestMaker.line,
    _NestMaker.nest,
    _NestMaker.total,
    _NestMaker.neighbours,
    _NestMaker.memory,
    _NestMaker.line,
    _NestMaker.once,
    _NestMaker.launch,
)
_ABOUT: dict[type[Stmt], tuple[Callable[[_NestMaker], Stmt], ...]] = {
    Allocate: (_NestMaker.memory,),
    For: (_NestMaker.nest, _NestMaker.line, _NestMaker.neighbours, _NestMaker.once),
    **dict.fromkeys((Block, If, Let, Seq, Store), (_NestMaker.line,)),
}
_WRAPPED: dict[type[Stmt], tuple[int, ...]] = {
    Block: (7,),
    If: (1, 2),
    Let: (4, 5),
    Seq: (3, 6),
}
