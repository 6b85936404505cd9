"""What the checks miss or wrongly report, with the reason, and the input that shows the fault."""

from typing import NamedTuple

import ml_dtypes
import numpy as np
from numpy.typing import ArrayLike


class Missed(NamedTuple):
    """A bad entry that is not found with seed 0: why, and arrays that show it (None: none do)."""

    reason: str
    inputs: dict[str, ArrayLike] | None


def _all(dtype: str, *values: float, shape: tuple[int, ...] = (64,)) -> np.ndarray:
    return np.resize(np.array(values, dtype), shape)


MISSED: dict[tuple[str, str], Missed] = {
    ("declared", "root as a power"): Missed(
        "not known: the bound of a result that is NaN says nothing, not even of exact operands",
        None,
    ),
    ("rare", "add one to a narrow index"): Missed(
        "numbers that become indices are 0, 1 and 2 only",
        {"I": _all("uint8", 255, shape=(30,))},
    ),
    ("many", "sorted or not"): Missed(
        "rows of one value with a smaller one at the seam of two blocks are not drawn",
        {"A": np.concatenate([np.arange(100, 108), np.arange(24)]).astype("int32")},
    ),
    ("sums", "a long sum of bf16"): Missed(
        "not known: the bound of a long sum is larger than its elements",
        {"A": np.eye(1, 2048, 1000)[0].astype(ml_dtypes.bfloat16)},
    ),
    ("zeros", "the power of a half"): Missed(
        "a declared pass is not held to infinities that come from infinite operands", None
    ),
}
FALSE_ALARMS: dict[tuple[str, str], str] = {}
