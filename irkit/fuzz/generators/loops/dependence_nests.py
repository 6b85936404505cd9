"""Loop nests in which order matters, by themes: what transformations of loops can get wrong.

Iterations read what earlier or later ones write, at any distance. Bounds depend on other loops or
on arguments, and may leave nothing to do. Statements overwrite, read back and guard each other. A
theme fixes the shape of a nest, and all else is drawn: extents, types, distances, the order of the
loops, values. Buffers are larger than the loops need, so that no access needs a guard.
"""

from collections.abc import Callable

from irkit.core import free_symbols, fresh
from irkit.fuzz.generators.loops.nest_values import BESIDE, REACH, ZERO, NestValues, Place
from irkit.fuzz.generators.loops.value_idioms import value_idiom
from irkit.fuzz.picks import Picks
from irkit.ir import (
    I64,
    Allocate,
    Buffer,
    Const,
    Expr,
    If,
    Let,
    PrimFunc,
    Stmt,
    Store,
    Var,
    as_int,
    const,
    logical_not,
    maximum,
    minimum,
    seq,
)


def dependence_nest(picks: Picks, theme: str = "") -> PrimFunc:
    """Make a function of one nest, of a theme or of any; perhaps another follows."""
    maker = _NestMaker(picks)
    made = [THEMES[theme or picks.pick(tuple(THEMES))](maker)]
    if not theme and picks.one_in(3):
        made.append(THEMES[picks.pick(tuple(THEMES))](maker))
    used = free_symbols(seq(*made))
    return PrimFunc("f", tuple(param for param in maker.params if param in used), seq(*made))


class _NestMaker(NestValues):
    """Maker of nests, by themes."""

    def carried(self) -> Stmt:
        """A perfect nest whose iterations read others' elements of the same matrix."""
        loops, place, begins = self.matrix_nest()
        a, b = self.matrices
        here, near = self.apart(place, begins, self.distance(2))
        reads = [a[near], b[place]]
        if self.picks.one_in(3):
            reads.append(a[self.beside(place, begins, self.distance(2))])
        return self.nest(Store(a, here, self.value(*reads)), *loops)

    def crossing(self) -> Stmt:
        """A perfect nest that reads along a diagonal in the opposite direction."""
        loops, place, begins = self.matrix_nest()
        a, b = self.matrices
        down = self.picks.pick((-1, 1, -2, 2))
        here, near = self.apart(place, begins, (down, -down))
        other = b[place] if self.picks.below(2) else self.of(place[0])
        return self.nest(Store(a, here, self.value(a[near], other)), *loops)

    def copied(self) -> Stmt:
        """A copy between overlapping parts of one row or matrix."""
        if self.picks.one_in(3):
            loops, place, begins = self.matrix_nest()
            a = self.matrices[0]
            here, near = self.apart(place, begins, self.picks.pick(BESIDE[:-1]))
            return self.nest(Store(a, here, a[near]), *loops)
        loop, place, begins = self.row_loop()
        r = self.rows[0]
        here, near = self.apart(place, begins, (self.picks.pick((1, -1, 2, -2)),))
        return self.nest(Store(r, here, r[near]), loop)

    def stencil(self) -> Stmt:
        """A sum of neighbours written over the middle one, perhaps again and again."""
        loop, place, begins = self.row_loop()
        r = self.rows[0]
        here, before = self.apart(place, begins, (-1,))
        _, after = self.apart(place, begins, (1,))
        store = Store(r, here, self.value(r[before], r[after], r[here]))
        made = self.nest(store, loop)
        if self.picks.below(2):
            return made
        return self.loop(Var("again"), 0, 2 + self.picks.below(2), made)

    def triangular(self) -> Stmt:
        """A nest whose inner bounds are an outer variable."""
        (i, low), j = self.var("i"), Var("j")
        a, b = self.matrices
        size = min(self.extent, self.columns)
        upper = self.picks.below(2) == 0
        here, near = self.apart((i, j), (low, low if upper else 0), self.distance(2))
        if self.picks.below(2):
            here, near = (i, j), (j, i)
        store: Stmt = Store(a, here, self.value(a[near], b[i, j]))
        if self.picks.one_in(3):
            row = self.rows[0]
            store = Store(row, (j,), self.value(row[j], b[i, j]))
        begin, end = (i, Const(low + size, I64)) if upper else (Const(0, I64), i + 1)
        if self.picks.one_in(3):
            begin, end = (begin + 1, end) if upper else (begin, end - 1)
        inner = self.loop(j, begin, end, store)
        return self.loop(i, low, low + size, inner)

    def deep(self) -> Stmt:
        """A nest of three loops."""
        (i, low), (j, left), (k, front) = (self.var(name) for name in "ijk")
        loops = [(i, low, self.extent), (j, left, self.columns), (k, front, self.extent)]
        a, b = self.matrices
        form = self.picks.below(4)
        if form == 0:
            begins = (low, left, front)
            apart = tuple(self.picks.pick((-1, 0, 1)) for _ in range(3))
            here, near = self.apart((i, j, k), begins, apart)
            read = self.cube[near]
            return self.nest(Store(self.cube, here, self.value(read, a[i, j])), *loops)
        if form == 1:
            return self.nest(Store(a, (i, j), self.value(a[i, j], self.cube[i, j, k])), *loops)
        if form == 2:
            size = min(self.extent, self.columns)
            loops = [(i, low, size), (j, left, size), (k, front, size)]
            # All pairs of shortest ways.
            shorter = minimum(a[i, j], a[i, k] + a[k, j])
            return self.nest(Store(a, (i, j), shorter), *loops)
        row = self.rows[0]
        return self.nest(Store(row, (j,), self.value(row[j], self.cube[i, j, k], b[i, j])), *loops)

    def pairs(self) -> Stmt:
        """Statements in one loop that read each other's results."""
        loop, place, begins = self.row_loop()
        first, second = self.picks.some(self.rows, 2) + [self.rows[2]] * 2, self.rows
        target, other = first[0], self.picks.pick([*second, *first[1:2]])
        here, near = self.apart(place, begins, self.distance(1))
        read = other[self.beside(place, begins, self.distance(1))]
        stores = [
            Store(target, here, self.value(read, self.matrices[1][0, place[0]])),
            Store(other, place, self.value(target[near], other[place])),
        ]
        if self.picks.one_in(3):
            stores.append(Store(self.rows[2], place, self.value(target[place], other[place])))
        if self.picks.one_in(3):
            stores.reverse()
        body: Stmt = seq(*stores)
        made = self.nest(body, loop)
        return made if self.picks.below(3) else self.loop(Var("again"), 0, 2, made)

    def neighbours(self) -> Stmt:
        """Loops one after the other with the same bounds, whose statements meet at any distance."""
        loop, place, begins = self.row_loop()
        k = Var("k")
        target, other = self.rows[0], self.rows[self.picks.below(3)]
        by = self.distance(1)
        here, _ = self.apart(place, begins, by)
        _, there = self.apart((k,), begins, by)
        first = Store(target, here, self.value(self.matrices[0][0, place[0]], target[here]))
        second = Store(other, (k,), self.value(target[there], self.matrices[1][0, k]))
        if self.picks.one_in(3):  # The second overwrites what the first reads.
            first = Store(target, place, self.value(other[here], target[place]))
            second = Store(other, there, self.value(self.matrices[1][0, k]))
        end = self.end(begins[0], self.columns)
        last = end if self.picks.below(4) else Const((as_int(end) or loop[2]) - 1, I64)
        return seq(
            self.loop(loop[0], begins[0], end, first),
            self.loop(k, begins[0], maximum(last, 0) if self.picks.one_in(8) else last, second),
        )

    def totals(self) -> Stmt:
        """A sum, a product or an extremum over rows or all, started before or not, also in an
        element that it reads."""
        loops, (i, j), begins = self.matrix_nest()
        a, row = self.matrices[0], self.rows[0]
        form = self.picks.below(4)
        place: Place = (j,) if form == 0 else (Const(self.picks.below(2), I64),)
        store = Store(row, place, self.value(row[place], a[i, j]))
        if form == 3:  # Prefix sums.
            here, last = self.apart((i, j), begins, self.picks.pick(((0, -1), (-1, 0))))
            store = Store(a, here, self.value(a[last], a[here]))
        if form == 2:
            target = self.matrices[1]
            start = Store(target, (i, ZERO), const(0, self.dtype))
            add = Store(target, (i, ZERO), self.value(target[i, ZERO], a[i, j]))
            var, begin, extent = loops[1]
            inner = self.loop(var, begin, self.end(begin, extent), add)
            outer, low, count = loops[0]
            return self.loop(outer, low, low + count, seq(start, inner))
        return self.nest(store, *loops)

    def guarded(self) -> Stmt:
        """Conditions in a loop, on data that it may change, on its variable, or on neither."""
        loop, place, begins = self.row_loop()
        r, s = self.rows[0], self.rows[1]
        here, near = self.apart(place, begins, self.distance(1))
        fixed: Place = (Const(self.picks.below(3), I64),)
        data = self.picks.pick((r[near], s[place], r[fixed], s[fixed]))
        cond = self.condition(place[0], data)
        first: Stmt = Store(r, here, self.value(s[place], r[here]))
        second: Stmt = Store(s, place, self.value(r[near], s[place]))
        form = self.picks.below(5)
        if form == 0:
            body = seq(If(cond, first))
        elif form == 1:
            body = seq(If(cond, first, second))
        elif form == 2:
            body = seq(If(cond, first), If(cond, second))
        elif form == 3:
            body = seq(If(cond, first), If(logical_not(cond), second))
        else:
            body = seq(If(cond, If(self.condition(place[0], s[fixed]), first)), second)
        return self.nest(body, loop) if self.picks.below(5) else body_at(body, loop)

    def invariant(self) -> Stmt:
        """A loop that reads the same element in each iteration, and may write it."""
        loop, place, _ = self.row_loop()
        r, s = self.rows[0], self.rows[self.picks.below(2)]
        fixed: Place = (Const(self.picks.below(self.columns), I64),)
        same = r[fixed]
        form = self.picks.below(4)
        if form == 0:
            same = value_idiom(self.picks, same, self.factor, self.leaf())
        if form == 1:
            store: Stmt = Store(r, fixed, self.value(same, self.matrices[0][0, place[0]]))
            return self.nest(seq(store, Store(s, place, self.value(same, s[place]))), loop)
        if form == 2:
            name = Var("t", self.dtype)
            body: Stmt = Let(name, same, Store(s, place, self.value(name, s[place])))
            return self.nest(body, loop)
        body = Store(s, place, self.value(same, self.matrices[1][0, place[0]]))
        return self.nest(body, loop)

    def overwritten(self) -> Stmt:
        """Stores into a row one after the other, some of which others read or overwrite."""
        loop, place, begins = self.row_loop()
        r, s = self.rows[0], self.rows[1]
        places = [place, place, self.beside(place, begins, self.distance(1))]
        if self.picks.below(2):  # Perhaps the same element, perhaps not.
            places.append((maximum(minimum(self.scalar, self.columns), 0),))
        count = 2 + self.picks.below(3)
        stmts: list[Stmt] = []
        for _ in range(count):
            where = self.picks.pick(places)
            target = self.picks.pick((r, r, s))
            reads = [self.picks.pick((r, s, r))[self.picks.pick(places)] for _ in range(2)]
            stmts.append(Store(target, where, self.value(*reads[: 1 + self.picks.below(2)])))
        body: Stmt = seq(*stmts)
        if self.picks.one_in(3):
            name = Var("t", self.dtype)
            last = Store(s, place, self.value(name, r[place]))
            body = Let(name, self.value(r[place], s[place]), seq(body, last))
        return self.nest(body, loop) if self.picks.below(3) else body_at(body, loop)

    def empty(self) -> Stmt:
        """Loops that may not run, run once, or begin where others end."""
        i, low = self.var("i")
        r = self.rows[0]
        form = self.picks.below(6)
        line, other = self.lines
        size = Const(low + self.columns, I64)
        if form in (0, 5):
            store = Store(line, (i,), self.value(line[i], other[i]))
            begin = Const(self.picks.below(2), I64)
            body: Stmt = seq(store)
            if self.picks.below(2):
                body = seq(store, Store(r, (ZERO,), self.value(r[0], line[i])))
            return self.loop(i, begin, self.any_length, body)
        store = Store(r, (i,), self.value(r[i], self.rows[1][i]))
        begin, end = {
            1: (Const(low, I64), minimum(self.scalar, size)),
            2: (maximum(self.scalar, low), size),
            3: (Const(low, I64), Const(low + self.picks.below(2), I64)),
            4: (Const(low + 1, I64), Const(low + self.picks.below(3), I64)),
        }[form]
        tail = Store(r, (Const(1, I64),), self.value(r[1], r[0]))
        loop = self.loop(i, begin, end, store)
        if self.picks.one_in(3):
            return self.loop(Var("again"), 0, 2, loop)
        return seq(loop, tail) if self.picks.below(2) else loop

    def indirect(self) -> Stmt:
        """Elements named by data: a histogram, a permutation, or rows gathered in place."""
        loop, (i,), _ = self.row_loop()
        r, s = self.rows[0], self.rows[1]
        named: Place = (self.places[i] % Const(self.columns, I64),)
        form = self.picks.below(3)
        if form == 0:
            store = Store(r, named, self.value(r[named], s[i]))
        elif form == 1:
            store = Store(r, named, self.value(s[i]))
        else:
            store = Store(r, (i,), self.value(r[named], s[i]))
        return self.nest(store, loop)

    def local(self) -> Stmt:
        """Memory of its own, in or around a loop, filled and read in another order."""
        loop, (i,), begins = self.row_loop()
        r, s = self.rows[0], self.rows[1]
        (k, low), size = self.var("k", 0), Const(self.columns + 2 * REACH, I64)
        if self.picks.below(2):
            own = Buffer("W", (Const(1, I64),), self.dtype)
            first = Store(own, (ZERO,), self.value(r[i], s[i]))
            more = Store(own, (ZERO,), self.value(own[0], r[self.beside((i,), begins, (1,))]))
            last = Store(r, (i,), self.value(own[0], s[i]))
            body: Stmt = seq(first, more, last) if self.picks.below(2) else seq(first, last)
            if self.picks.below(2):
                return self.nest(Allocate(own, body), loop)
            start = Store(own, (ZERO,), const(0, self.dtype))
            return Allocate(own, seq(start, self.nest(seq(more, last), loop)))
        own = Buffer("W", (size,), self.dtype)
        fill = self.loop(k, low, size, Store(own, (k,), self.value(r[k], s[k])))
        read = own[self.beside((i,), begins, self.distance(1))]
        used = self.nest(Store(r, (i,), self.value(read, own[i])), loop)
        return Allocate(own, seq(fill, used))

    def expressions(self) -> Stmt:
        """Values in forms that simplifications look for."""
        loop, place, _ = self.row_loop()
        r, s, t = self.rows
        made: Expr = s[place]
        parts = (r[place], s[place], t[place], self.of(place[0]), self.leaf(), self.factor)
        for _ in range(1 + self.picks.below(3)):
            made = value_idiom(self.picks, made, self.picks.pick(parts), self.picks.pick(parts))
        stores: list[Stmt] = [Store(r, place, made)]
        if self.picks.one_in(3):
            stores.append(fresh(Store(t, place, made)))
        return self.nest(seq(*stores), loop)


def body_at(body: Stmt, loop: tuple[Var, int, int]) -> Stmt:
    """Return the body of a loop for its first iteration alone, without the loop."""
    var, begin, _ = loop
    return Let(var, Const(begin, I64), body)


THEMES: dict[str, Callable[[_NestMaker], Stmt]] = {
    each.__name__: each
    for each in (
        _NestMaker.crossing,
        _NestMaker.neighbours,
        _NestMaker.copied,
        _NestMaker.guarded,
        _NestMaker.triangular,
        _NestMaker.pairs,
        _NestMaker.expressions,
        _NestMaker.overwritten,
        _NestMaker.empty,
        _NestMaker.invariant,
        _NestMaker.totals,
        _NestMaker.deep,
        _NestMaker.carried,
        _NestMaker.stencil,
        _NestMaker.local,
        _NestMaker.indirect,
    )
}
"""The theme of each kind of nest."""
