"""Random short vectorized loops over arrays of one type, whose values are made of elements and of
the lane number: products of these are where vectorizing goes wrong, and chance seldom draws any."""

from irkit.fuzz.generators.expressions import ExprMaker, ReadableBuffer, bounded
from irkit.fuzz.picks import Picks
from irkit.ir import (
    F32,
    I16,
    I32,
    I64,
    Buffer,
    Const,
    For,
    If,
    LoopKind,
    PrimFunc,
    Stmt,
    Store,
    Var,
    cast,
    ge,
    logical_and,
    lt,
    seq,
)

_DTYPES = (I64, I32, F32, I16)
_LANES = (2, 4, 2, 3, 8, 16, 33)
_KINDS: tuple[LoopKind, ...] = ("vectorized", "vectorized", "serial", "vectorized", "unrolled")
_ZERO = Const(0, I64)


def lane_function(picks: Picks) -> PrimFunc:
    """Make up to three vectorized loops, one after the other or inside a serial one."""
    dtype = picks.pick(_DTYPES)
    count = Const(picks.pick(_LANES), I64)
    arrays = [Buffer(name, (count,), dtype) for name in "ABC"]
    scalar, again = Var("x", I64), Var("s", I64)
    body = seq(*(_loop(picks, arrays, scalar, again) for _ in range(1 + picks.below(3))))
    body = For(
        again, _ZERO, Const(1 + picks.below(2), I64), body, picks.pick(("serial", "unrolled"))
    )
    return PrimFunc("f", (*arrays, scalar), body)


def _loop(picks: Picks, arrays: list[Buffer], scalar: Var, again: Var) -> Stmt:
    target, lane = picks.pick(arrays), Var("i", I64)
    reads = [ReadableBuffer(each, (lane,)) for each in arrays]
    beside = lane + picks.pick((1, -1))
    inside = logical_and(ge(beside, 0), lt(beside, target.shape[0]))
    reads += [ReadableBuffer(each, (beside,), inside) for each in arrays if each is not target]
    maker = ExprMaker(picks, [scalar, again, lane], reads)
    value = maker.value(target.dtype, 1 + picks.below(2))
    if value.dtype.is_integer and picks.below(3):
        number = cast(lane if picks.below(4) else again + lane, value.dtype)
        value = value * number if picks.below(4) else number * value
    body: Stmt = Store(target, (lane,), bounded(value))
    for _ in range(picks.pick((0, 0, 0, 1, 1, 2))):
        body = If(maker.condition(1), body)
    return For(lane, _ZERO, target.shape[0], body, picks.pick(_KINDS))
