"""Random loop nests over one buffer: plain, split or begun late, guarded, with or without a block.

No two iterations write the same element, and each reads of the written buffer only that element,
so loops of every kind may stand there. Loops of a reduction run in order.
"""

from irkit.fuzz.expressions import ExprMaker, Readable, bounded
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
    binary,
    const,
    logical_and,
    lt,
    seq,
)

_FREE: tuple[LoopKind, ...] = ("serial", "parallel", "vectorized", "unrolled")
_ORDERED: tuple[LoopKind, ...] = ("serial", "unrolled")
_ZERO = Const(0, I64)


class Nest:
    """Make one nest. ``whole`` says that the target holds nothing yet: it is written everywhere,
    before it is read."""

    def __init__(self, picks: Picks, target: Buffer, *, whole: bool, block: bool) -> None:
        self.picks = picks
        self.target = target
        self.whole = whole
        self.block = block
        self.loops: list[tuple[Var, Expr, Expr, LoopKind]] = []
        self.guards: list[Expr] = []
        self.places: list[tuple[Expr, Expr, AxisKind]] = []
        """The value of each axis, its extent, and its kind."""

    def make(self, integers: list[Expr], others: list[Buffer], reducible: list[Expr]) -> Stmt:
        """Make the nest; it may use some integers and read other buffers."""
        for number, dim in enumerate(self.target.shape):
            self._dimension("ijk"[number % 3], dim)
        reduces = bool(reducible) and not self.whole and self.picks.below(3) == 0
        if reduces:
            self._reduction(self.picks.pick(reducible))
        maker = ExprMaker(self.picks, integers, [Readable(buffer) for buffer in others])
        body = self._in_block(maker, reduces) if self.block else self._bare(maker, reduces)
        for var, begin, end, kind in reversed(self.loops):
            body = For(var, begin, end, body, kind)
        return body

    def _dimension(self, name: str, dim: Expr) -> None:
        """Run through one dimension, in one loop or in two."""
        kind = self.picks.pick(_FREE)
        if self.picks.below(3):
            begin = _ZERO if self.whole or self.picks.below(4) else Const(1, I64)
            var = Var(name)
            self.loops.append((var, begin, dim, kind))
            self.places.append((var, dim, "spatial"))
            return
        factor = self.picks.pick((2, 3, 4))
        outer, inner = Var(f"{name}_outer"), Var(f"{name}_inner")
        index = outer * factor + inner
        self.loops.append((outer, _ZERO, (dim + (factor - 1)) // factor, kind))
        self.loops.append((inner, _ZERO, Const(factor, I64), self.picks.pick(_FREE)))
        self.guards.append(lt(index, dim))
        self.places.append((index, dim, "spatial"))

    def _reduction(self, extent: Expr) -> None:
        var = Var("r")
        self.loops.append((var, _ZERO, extent, self.picks.pick(_ORDERED)))
        self.places.append((var, extent, "reduce"))

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
        init = Store(self.target, place, zero) if reduces and self.picks.below(2) else None
        predicate = logical_and(*self.guards) if self.guards else None
        body = self._stores(maker, place, reduces)
        return Block(self.target.name, tuple(axes), body, init, predicate)

    def _stores(self, maker: ExprMaker, place: tuple[Expr, ...], reduces: bool) -> Stmt:
        target, dtype = self.target, self.target.dtype
        here = Readable(target, place)
        if reduces:
            value = bounded(maker.value(dtype, 2))
            join = BitXor if dtype.is_bool else Add
            return Store(target, place, binary(join, target[place], value))
        if not self.whole:
            maker.buffers.append(here)
        first = self._store(maker, place)
        if self.picks.below(4):
            return first
        if self.whole:
            maker.buffers.append(here)
        cond = maker.condition(1)
        return seq(first, If(cond, self._store(maker, place), self._store(maker, place)))

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
