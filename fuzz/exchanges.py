"""Random thread loops that hand each other numbers: steps with a barrier after each, as they are
written for a GPU.

In a step a thread writes an element of one buffer that no other writes, and reads what any thread
wrote before the last barrier. From step to step it keeps a value, and memory of its own.
"""

from collections.abc import Mapping, Sequence

from irkit.fuzz.expressions import ExprMaker, Readable, bounded
from irkit.fuzz.picks import Picks
from irkit.ir import (
    I64,
    Allocate,
    Buffer,
    Const,
    Evaluate,
    Expr,
    For,
    If,
    Let,
    Stmt,
    Store,
    Var,
    as_int,
    seq,
)
from irkit.ir.threads import BARRIER

_MOST_THREADS = 17
_MOST_STEPS = 3
_ZERO = Const(0, I64)


def exchange(picks: Picks, integers: Sequence[Expr], root: Mapping[Buffer, Buffer]) -> Stmt | None:
    """Make a thread loop over shared memory and over buffers of one extent, if some have one that
    is known and small. ``root`` says whose memory each buffer that may be used shows."""
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


class _Thread:
    """What each thread does; the first result is what it keeps an element of."""

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
        self.own = Buffer("R", (Const(1, I64),), result.dtype, "local")

    def body(self, shared: Buffer, written: Sequence[Buffer]) -> Stmt:
        """Fill shared memory, then hand on what is in it, some times over or not."""
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
        fill = Store(self.own, (_ZERO,), self.result[self.number])
        inner = Allocate(self.own, seq(fill, Evaluate(BARRIER), rest))
        return seq(first, Let(self.kept, kept, seq(Evaluate(BARRIER), inner)))

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
            Readable(each) for each in self.root if self.root[each] is not self.root.get(target)
        ]
        if whole:
            return Store(target, place, bounded(maker.value(target.dtype, 1)))
        maker.buffers += [Readable(target, place), Readable(self.own, (_ZERO,))]
        value = maker.value(target.dtype, 1 + self.picks.below(2))
        if target.dtype == self.kept.dtype and not target.dtype.is_bool and self.picks.below(2):
            value = value + self.kept
        store = Store(target, place, bounded(value))
        if self.picks.below(4):
            return store
        return If(maker.condition(1), store)

    def _place(self) -> Expr:
        """Say which element a thread writes: each another one."""
        form = self.picks.below(4)
        if form == 2:
            return self.count - 1 - self.number
        if form == 3 and self.uniform:
            return (self.number + self.uniform[-1] % self.count) % self.count
        return self.number
