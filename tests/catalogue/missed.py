"""What the checks miss or wrongly report, with the reason, and the input that shows the fault."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike


class Missed(NamedTuple):
    """A bad entry that is not found with seed 0: why, and arrays that show it (None: none do)."""

    reason: str
    inputs: dict[str, ArrayLike] | None


def _all(dtype: str, *values: float, shape: tuple[int, ...] = (64,)) -> np.ndarray:
    return np.resize(np.array(values, dtype), shape)


_UNIFORM = "integers are drawn at the edges only, not from the whole range of the type"
_TIES = "no numbers whose rounding to a narrower type is a tie, or near one"
_SIGNS = "no row of a reduction lies on one side of its initial value"
_DILUTED = "the one number is among the edges, but was not drawn: every edge should be, once"
_THREADS = "threads that a pass makes of another loop are taken for lockstep, and never race"
MISSED: dict[tuple[str, str], Missed] = {
    ("integers", "a magnitude by two comparisons"): Missed(
        _DILUTED, {"A": _all("int32", -(2**31))}
    ),
    ("integers", "compare integers instead of floats"): Missed(
        "neighbours above 2**24 do not meet in one element",
        {"A": _all("int32", 2**24), "B": _all("int32", 2**24 + 1)},
    ),
    ("division", "divide a byte by ten with a short reciprocal"): Missed(
        "one unknown of 8 bits is not tried exhaustively", {"A": _all("uint8", 179)}
    ),
    ("division", "divide by seven with a multiplier of 32 bits"): Missed(
        _UNIFORM, {"A": _all("uint32", 4294967291, 4294967284)}
    ),
    ("division", "negate both sides of a comparison"): Missed(
        _DILUTED, {"A": _all("int32", -(2**31))}
    ),
    ("division", "negate a conjunction"): Missed(_DILUTED, {"A": _all("int64", 9)}),
    ("declared", "round by adding a half"): Missed(
        "a tie behind a factor: no fractions with few bits", {"A": _all("float32", 0.125)}
    ),
    ("choice", "begin a maximum with zero"): Missed(
        _SIGNS, {"A": _all("float32", -1, shape=(4, 24))}
    ),
    ("choice", "begin a maximum with the smallest finite number"): Missed(
        _SIGNS, {"A": _all("float32", -np.inf, shape=(6, 3))}
    ),
    ("choice", "begin a minimum with a large number"): Missed(
        _SIGNS, {"A": _all("int16", 20000, shape=(4, 24))}
    ),
    ("choice", "add after the maximum"): Missed(
        "three special values have to meet in one element",
        {"A": _all("float32", -np.inf), "B": _all("float32", 1), "D": _all("float32", np.inf)},
    ),
    ("extents", "specialise for multiples of eight"): Missed(
        "multiples of a constant are no sizes: 4 and 12 for n % 4 == 0 and n // 8",
        {"A": _all("float32", 1, shape=(12,))},
    ),
    ("races", "bind a recurrence to threads"): Missed(_THREADS, None),
    ("races", "bind a reduction to threads"): Missed(_THREADS, None),
    ("storage", "forward a store past a scatter"): Missed(
        "an index array that is the identity is not drawn", {"I": np.arange(8)}
    ),
    ("rare", "divide by seven with a reciprocal of sixteen bits"): Missed(
        _UNIFORM, {"A": _all("uint16", 13110)}
    ),
    ("rare", "convert a long integer by way of double"): Missed(
        _TIES, {"A": _all("int64", 2**60 + 2**36 + 1)}
    ),
    ("rare", "fused multiply add in double precision"): Missed(
        _TIES,
        {
            "A": _all("float32", 1 + 2**-12),
            "B": _all("float32", 1 + 2**-12),
            "D": _all("float32", 2.0**-80),
        },
    ),
    ("rare", "join two factors below one"): Missed(
        "the only denormals are the smallest one and its negative",
        {"A": _all("float32", 5 * 2.0**-149)},
    ),
    ("rare", "compare long integers as doubles"): Missed(
        "neighbours above 2**53 do not meet in one element",
        {"A": _all("int64", 2**53), "B": _all("int64", 2**53 + 1)},
    ),
    ("rare", "search without the first hit"): Missed(
        "a constant that the program looks for is not drawn twice",
        {"A": _all("int32", 77777, shape=(40,))},
    ),
    ("rare", "add one to a narrow index"): Missed(
        "numbers that become indices are 0, 1 and 2 only",
        {"I": _all("uint8", 255, shape=(30,))},
    ),
}
FALSE_ALARMS: dict[tuple[str, str], str] = {
    ("declared", "reassociate a sum"): "special values: the bound is of the result, not of |a|+|b|",
    ("declared", "keep halves in single precision"): "special values: the bound is of the result",
}
