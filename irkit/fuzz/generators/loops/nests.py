"""Random loop nests over one buffer: plain, split or with another first iteration, guarded, with or
without a block.

No two iterations write the same element, and each reads only that element of the written buffer, so
loops of every kind are allowed. Loops of a reduction run in order, and so do those of a recurrence,
which reads neighbours of the element too. Elements can be visited from last to first, or rotated.
"""

from collections.abc import Sequence
from math import prod

from irkit.fuzz.generators.expressions import ExprMaker, ReadableBuffer, bounded
from irkit.fuzz.generators.stages.stages import count_of
from irkit.fuzz.picks import Picks
from irkit.ir import (
    I64,
    Add,
    Axis,
    AxisKind,
    BitXor,
    Block,
    Buffer,
    Const,
    Expr,
    For,
    If,
    Let,
    LoopKind,
    Stmt,
    Store,
    Var,
    as_int,
    binary,
    const,
    ge,
    logical_and,
    lt,
    minimum,
    seq,
)

_FREE: tuple[LoopKind, ...] = ("serial", "parallel", "vectorized", "unrolled")
_ORDERED: tuple[LoopKind, ...] = ("serial", "unrolled")
# A loop that reads what other lanes write cannot be a vector loop, which the vectorizer notices.
_RECURRENT: tuple[LoopKind, ...] = ("vectorized", "serial", "vectorized", "unrolled")
_ZERO = Const(0, I64)
_MOST_COPIES = 17
# Which of the loops of a reduction threads run, as bits; mostly the outer ones.
_BOUND = (0b101, 0b001, 0b010, 0b101, 0b011, 0b100, 0b111, 0b110)
_MOST_STEPS = 400
_MOST_THREADS = 33
_MOST_VIRTUAL = 4  # There are as many copies.


class Nest:
    """A loop nest under construction.

    ``whole`` means that the target is uninitialised: it is written everywhere before it is read.
    ``wide`` allows recurrences and other orders of elements. ``axes`` are those of threads that
    loops can be bound to, with their extents once known: all loops of an axis have the same extent.
    ``joins`` makes threads contribute to one sum.
    """

    def __init__(
        self,
        picks: Picks,
        target: Buffer,
        *,
        whole: bool,
        block: bool,
        wide: bool = False,
        axes: dict[str, int] | None = None,
        joins: bool = False,
    ) -> None:
        self.picks = picks
        self.target = target
        self.whole = whole
        self.block = block or joins
        self.joins = joins
        self.summing = False
        """True while the loops are those of such a sum."""
        self.wide = wide
        self.axes = axes or {}
        self.copies = 1
        self.kinds: tuple[LoopKind, ...] = _ORDERED if axes else _FREE
        self.recurs = wide and not (whole or block or axes) and picks.one_in(3)
        if self.recurs:
            self.kinds = _RECURRENT
        self.loops: list[tuple[Var, Expr, Expr, LoopKind, str]] = []
        self.guards: list[Expr] = []
        self.places: list[tuple[Expr, Expr, AxisKind]] = []
        """The value of each axis, its extent, and its kind."""

    def make(self, integers: list[Expr], others: list[Buffer], reducible: list[Expr]) -> Stmt:
        """Make the nest; it can use some integers and read other buffers."""
        for number, dim in enumerate(self.target.shape):
            self._dimension("ijk"[number % 3], dim, integers)
        reduces = bool(reducible) and not self.whole
        reduces = reduces and (self.joins or self.picks.below(3) == 0)
        if reduces:
            extent = self.picks.pick(reducible)
            small = count_of([*self.target.shape, extent]) <= _MOST_STEPS
            self._reduction(extent if small else Const(2, I64), integers)
        maker = ExprMaker(self.picks, integers, [ReadableBuffer(buffer) for buffer in others])
        body = self._in_block(maker, reduces) if self.block else self._bare(maker, reduces)
        for var, begin, end, kind, thread in reversed(self.loops):
            body = For(var, begin, end, body, kind, thread)
        return body

    def _dimension(self, name: str, dim: Expr, integers: Sequence[Expr]) -> None:
        """Iterate over one dimension, in one loop or in two."""
        if self.picks.below(3):
            begin = _ZERO if self.whole or self.picks.below(4) else Const(1, I64)
            var = Var(name)
            self._loop(var, begin, dim)
            self.places.append((self._moved(var, dim, integers), dim, "spatial"))
            return
        factor = self.picks.pick((2, 3, 4))
        outer, inner = Var(f"{name}_outer"), Var(f"{name}_inner")
        index = outer * factor + inner
        self._loop(outer, _ZERO, (dim + (factor - 1)) // factor)
        self._loop(inner, _ZERO, Const(factor, I64))
        self.guards.append(lt(index, dim))
        self.places.append((index, dim, "spatial"))

    def _loop(self, var: Var, begin: Expr, end: Expr) -> None:
        """Add a loop of any kind that is allowed here."""
        count = as_int(end)
        thread = self._axis(count) if as_int(begin) == 0 and count else ""
        kind: LoopKind = "thread" if thread else self.picks.pick(self.kinds)
        self.loops.append((var, begin, end, self._copied(kind, end), thread))

    def _copied(self, kind: LoopKind, end: Expr) -> LoopKind:
        """Return the kind of a loop: unrolled loops inside each other would become long."""
        if kind == "unrolled":
            copies = self.copies * (as_int(end) or 1)
            if copies > _MOST_COPIES:
                return "serial"
            self.copies = copies
        return kind

    def _axis(self, count: int) -> str:
        """Return a free axis of threads, or None."""
        bound = {thread for *_, thread in self.loops}
        fits = [
            axis
            for axis, extent in self.axes.items()
            if axis not in bound and (extent == count or (not extent and count <= _most(axis)))
        ]
        if not fits or (not self.summing and not self.picks.below(2 if self.joins else 5)):
            return ""
        self.axes[fits[0]] = count
        self.copies *= count if fits[0].startswith("vthread") else 1
        return fits[0]

    def _moved(self, var: Var, dim: Expr, integers: Sequence[Expr]) -> Expr:
        """Return the element that an iteration writes: a different one for each iteration."""
        form = self.picks.below(8) if self.wide else 0
        if self.axes and self.picks.below(2):  # Threads that contribute to one sum do so here.
            form = 6
        if form == 5:
            return dim - 1 - var
        if form > 5 and integers:  # The last one belongs to an enclosing loop, if there is one.
            by = integers[-1] if form == 6 else self.picks.pick(integers)
            return (var + by % dim) % dim
        return var

    def _reduction(self, extent: Expr, integers: Sequence[Expr]) -> None:
        var = Var("r")
        count = as_int(extent)
        if self.joins and count:
            self.summing = True
            self._split_reduction(extent, count)
            return
        joins = (
            self.block and count and self.picks.below(2)
        )  # Each thread then makes a part of the sum.
        thread = self._axis(count) if joins and count else ""
        kind = "thread" if thread else self._copied(self.picks.pick(_ORDERED), extent)
        end = extent
        if self.wide and not thread and integers and self.picks.one_in(6):
            end = minimum(self.picks.pick(integers) % 3, extent)  # It may never run.
        self.loops.append((var, _ZERO, end, kind, thread))
        self.places.append((var, extent, "reduce"))

    def _split_reduction(self, extent: Expr, count: int) -> None:
        """Reduce in two or three loops, any of which can run on threads."""
        factors = [self.picks.pick((2, 3)) for _ in range(1 if self.picks.one_in(3) else 2)]
        sizes = [-(-count // prod(factors)), *factors]
        bound = self.picks.pick(_BOUND)
        index: Expr = _ZERO
        for at, size in enumerate(sizes):
            var = Var(f"r{at}")
            index = var if at == 0 else index * size + var
            thread = self._axis(size) if bound & (1 << at) else ""
            kind: LoopKind = "thread" if thread else "serial"
            self.loops.append((var, _ZERO, Const(size, I64), kind, thread))
        self.guards.append(lt(index, extent))
        self.places.append((index, extent, "reduce"))

    def _bare(self, maker: ExprMaker, reduces: bool) -> Stmt:
        """Write at the loops' own indices, guarded where loops were split."""
        for value, extent, _ in self.places:
            maker.integers.append(value)
            if isinstance(value, Var):
                maker.extents[value] = extent
        place = tuple(value for value, _, kind in self.places if kind == "spatial")
        body = self._stores(maker, place, reduces)
        return If(logical_and(*self.guards), body) if self.guards else body

    def _in_block(self, maker: ExprMaker, reduces: bool) -> Stmt:
        """Write at the indices of a block's axes."""
        axes = list[Axis]()
        for number, (value, extent, kind) in enumerate(self.places):
            var = Var(f"v{number}")
            axes.append(Axis(var, extent, value, kind))
            maker.integers.append(var)
            maker.extents[var] = extent
        place = tuple(axis.var for axis in axes if axis.kind == "spatial")
        zero = const(0, self.target.dtype)
        starts = reduces and (self.joins or self.picks.below(2))
        init = Store(self.target, place, zero) if starts else None
        if self.wide and not self.whole and self.picks.one_in(4):
            known = [*maker.integers[: -len(axes) or None], *(loop[0] for loop in self.loops)]
            self.guards.append(ExprMaker(self.picks, known, []).condition(1))
        predicate = logical_and(*self.guards) if self.guards else None
        body = self._stores(maker, place, reduces)
        return Block(self.target.name, tuple(axes), body, init, predicate)

    def _stores(self, maker: ExprMaker, place: tuple[Expr, ...], reduces: bool) -> Stmt:
        target, dtype = self.target, self.target.dtype
        here = ReadableBuffer(target, place)
        if self.recurs and place:
            maker.buffers += [self._neighbour(place), self._neighbour(place)]
        if reduces:
            value = bounded(maker.value(dtype, 2))
            join = BitXor if dtype.is_bool else Add
            return Store(target, place, binary(join, target[place], value))
        if not self.whole:
            maker.buffers.append(here)
        if self.wide and not self.whole and self.picks.one_in(8):
            head = If(maker.condition(1), self._store(maker, place))
            return seq(head, self._store(maker, place))
        first = self._store(maker, place)
        if self.picks.below(4):
            return first
        if self.whole:
            maker.buffers.append(here)
        cond = maker.condition(1)
        return seq(first, If(cond, self._store(maker, place), self._store(maker, place)))

    def _neighbour(self, place: tuple[Expr, ...]) -> ReadableBuffer:
        """Read an element near the one that is written, if there is one."""
        at = self.picks.below(len(place))
        there = place[at] + self.picks.pick((-1, 1, -2, 2, -4))
        beside = (*place[:at], there, *place[at + 1 :])
        inside = logical_and(ge(there, 0), lt(there, self.target.shape[at]))
        return ReadableBuffer(self.target, beside, inside)

    def _store(self, maker: ExprMaker, place: tuple[Expr, ...]) -> Stmt:
        maker.products = 2
        if self.picks.below(4):
            return Store(
                self.target, place, bounded(maker.value(self.target.dtype, self.picks.below(4)))
            )
        var = Var("t")
        value = maker.integer(I64, 1)
        maker.integers.append(var)
        store = Store(self.target, place, bounded(maker.value(self.target.dtype, 1)))
        maker.integers.remove(var)
        return Let(var, value, store)


def _most(axis: str) -> int:
    return _MOST_VIRTUAL if axis.startswith("vthread") else _MOST_THREADS
