"""Random thread loops that exchange values: steps with a barrier after each, as they are written
for a GPU; and threads that diverge.

In a step, a thread writes an element of one buffer that no other thread writes, and reads what any
thread wrote before the last barrier. From step to step it keeps a value, and memory of its own.
"""

from collections.abc import Mapping, Sequence

from irkit.fuzz.generators.expressions import ExprMaker, ReadableBuffer, bounded
from irkit.fuzz.picks import Picks
from irkit.ir import (
    I64,
    Allocate,
    Buffer,
    Const,
    DType,
    Evaluate,
    Expr,
    For,
    If,
    Let,
    Stmt,
    Store,
    Var,
    as_int,
    gt,
    seq,
)
from irkit.ir.threads import BARRIER

_MOST_THREADS = 17
_MOST_STEPS = 3
_ZERO = Const(0, I64)


def barrier_loop(
    picks: Picks, integers: Sequence[Expr], root: Mapping[Buffer, Buffer]
) -> Stmt | None:
    """Make a thread loop over shared memory and over buffers of one extent, if some have one that
    is known and small. ``root`` maps each buffer to the one whose memory it is a view of."""
    flat = [b for b in root if b.rank == 1 and 1 < (as_int(b.shape[0]) or 0) <= _MOST_THREADS]
    if not flat:
        return None
    result = picks.pick(flat)
    shared = Buffer("S", result.shape, result.dtype, "shared")
    written = [b for b in flat if b.shape == result.shape]
    thread = _Thread(picks, integers, {**root, shared: shared}, result)
    body = thread.body(shared, written)
    return Allocate(
        shared, For(thread.number, _ZERO, result.shape[0], body, "thread", "threadIdx.x")
    )


def divergent_loop(
    picks: Picks, integers: Sequence[Expr], root: Mapping[Buffer, Buffer]
) -> Stmt | None:
    """Make threads that each run a loop a different number of times, if a buffer has as many
    elements as there can be threads: all write the same values."""
    targets = [b for b in root if b.shape and 1 < (as_int(b.shape[0]) or 0) <= _MOST_THREADS]
    if not targets:
        return None
    target, number = picks.pick(targets), Var("t")
    others = [ReadableBuffer(each) for each in root if root[each] is not root[target]]
    loops = [Var("ijk"[at % 3]) for at in range(target.rank)]
    maker = ExprMaker(picks, [*integers, *loops], others)
    maker.extents.update(zip(loops, target.shape, strict=True))
    body: Stmt = Store(target, tuple(loops), bounded(maker.value(target.dtype, 2)))
    for at in range(target.rank - 1, -1, -1):
        bound = at == 0
        kind, axis = ("thread", "threadIdx.x") if bound else ("serial", "")
        body = For(loops[at], _ZERO, target.shape[at], body, kind, axis)
    times = (number + picks.below(3)) % (2 + picks.below(2))
    if picks.below(3):
        body = For(Var("s"), _ZERO, times, body)
    else:
        body = If(gt(times, 0), body)
    return For(number, _ZERO, target.shape[0], body, "thread", "threadIdx.x")


class _Thread:
    """The work of each thread; the first result is where it keeps an element."""

    def __init__(
        self, picks: Picks, integers: Sequence[Expr], root: Mapping[Buffer, Buffer], result: Buffer
    ) -> None:
        self.picks = picks
        self.number = Var("t")
        self.uniform = list(integers)
        self.root = root
        self.count = result.shape[0]
        self.result = result
        self.kept = Var("x", result.dtype)
        self.own, self.mine = self._own(result.dtype)

    def body(self, shared: Buffer, written: Sequence[Buffer]) -> Stmt:
        """Fill shared memory, then exchange its elements, sometimes repeatedly."""
        first = seq(self._store(shared, whole=True), Evaluate(BARRIER))
        kept, again = self.result[self._place()], Var("s")
        repeats = self.picks.below(2)
        if repeats:
            self.uniform.append(again)
        targets = [
            self.picks.pick((*written, shared)) for _ in range(self.picks.below(_MOST_STEPS))
        ]
        rest = seq(*(self._step(target) for target in (*targets, self.result)))
        if repeats:
            rest = For(again, _ZERO, Const(2, I64), rest)
        fill = Store(self.own, self.mine, self.result[self.number])
        inner = Allocate(self.own, seq(fill, Evaluate(BARRIER), rest))
        return seq(first, Let(self.kept, kept, seq(Evaluate(BARRIER), inner)))

    def _own(self, dtype: DType) -> tuple[Buffer, tuple[Expr, ...]]:
        """Make memory private to a thread, and return the element of it that is used: the last one,
        which may be far from the first."""
        if not self.picks.below(3):
            return Buffer("R", (Const(1, I64),), dtype, "local"), (_ZERO,)
        inner, outer = 1 + self.picks.below(3), 1 + self.picks.below(2)
        step = 1 + self.picks.below(2)
        shape = tuple(Const(size, I64) for size in (outer, inner))
        strides = tuple(Const(size, I64) for size in (inner * step + self.picks.below(2), step))
        last = tuple(Const(size - 1, I64) for size in (outer, inner))
        return Buffer("R", shape, dtype, "local", strides=strides), last

    def _step(self, target: Buffer) -> Stmt:
        """Write an element, and wait; in a condition, all or none."""
        made = seq(self._store(target), Evaluate(BARRIER))
        if self.picks.below(4):
            return made
        return If(ExprMaker(self.picks, self.uniform, []).condition(1), made)

    def _store(self, target: Buffer, *, whole: bool = False) -> Stmt:
        place = (self._place(),)
        maker = ExprMaker(self.picks, [*self.uniform, self.number], [])
        maker.extents[self.number] = self.count
        maker.buffers += [
            ReadableBuffer(each)
            for each in self.root
            if self.root[each] is not self.root.get(target)
        ]
        if whole:
            return Store(target, place, bounded(maker.value(target.dtype, 1)))
        maker.buffers += [ReadableBuffer(target, place), ReadableBuffer(self.own, self.mine)]
        value = maker.value(target.dtype, 1 + self.picks.below(2))
        if target.dtype == self.kept.dtype and not target.dtype.is_bool and self.picks.below(2):
            value = value + self.kept
        store = Store(target, place, bounded(value))
        if self.picks.below(4):
            return store
        return If(maker.condition(1), store)

    def _place(self) -> Expr:
        """Return the element that a thread writes: a different one for each thread."""
        form = self.picks.below(4)
        if form == 2:
            return self.count - 1 - self.number
        if form == 3 and self.uniform:
            return (self.number + self.uniform[-1] % self.count) % self.count
        return self.number
