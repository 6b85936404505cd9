"""Bugs in the primitives that move computation and take it apart."""

from irkit.fuzz.bugs.planted import Planted

_SCHEDULE = "irkit.schedule."

MOVES = (
    Planted(
        "a producer that computes one element too few",
        _SCHEDULE + "move",
        "reach.high - reach.low + 1\n",
        "reach.high - reach.low\n",
        ("compute-at",),
        "MOVE",
    ),
    Planted(
        "a producer moved behind its consumer",
        _SCHEDULE + "move",
        "return seq(made, inner)",
        "return seq(inner, made)",
        ("compute-at",),
        "MOVE",
    ),
    Planted(
        "a block back at the root behind what reads it",
        _SCHEDULE + "root",
        "body = seq(moved, top) if is_used(top, set(written)) else seq(top, moved)",
        "body = seq(top, moved)",
        ("compute-root",),
        "MOVE",
    ),
    Planted(
        "a consumer read forwards where it reads backwards",
        _SCHEDULE + "reverse",
        "low, high = -high, -low",
        "low, high = low, high",
        ("reverse-compute-at",),
        "MOVE_TO_SUMS",
    ),
    Planted(
        "a folded consumer that stores where its producer did",
        _SCHEDULE + "inline",
        "at = tuple(substitute(index, values) for index in store.indices)",
        "at = made.indices",
        ("reverse-compute-inline",),
        "FOLD",
    ),
    Planted(
        "partial results that start at the element's own start",
        _SCHEDULE + "combine",
        "return 0 if operation is Add else 1",
        "return 1 if operation is Add else 0",
        ("rfactor",),
        "FACTOR",
    ),
    Planted(
        "a partial result that is started only where its first step runs",
        _SCHEDULE + "rfactor",
        "if not _holds_at_first(func, part, parts)]",
        "if not part.dtype.is_bool]",
        ("rfactor",),
        "FACTOR_OUTER",
    ),
    Planted(
        "room that is filled with ones",
        _SCHEDULE + "einsum",
        "zero = const(0, source.dtype)",
        "zero = const(1, source.dtype)",
        ("pad-einsum",),
        "PAD",
    ),
    Planted(
        "an intrinsic put at the beginning of its buffers",
        _SCHEDULE + "tensor",
        "return ramp(begin + index.base, index.stride, index.dtype.lanes)",
        "return ramp(index.base, index.stride, index.dtype.lanes)",
        ("tensorize",),
        "PAD",
    ),
    Planted(
        "padding filled after what lies inside",
        _SCHEDULE + "fill",
        "{loop: seq(filling, copy)}",
        "{loop: seq(copy, filling)}",
        ("decompose-padding",),
        "UNPAD",
    ),
)
