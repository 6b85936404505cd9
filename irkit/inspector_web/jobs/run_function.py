"""Run a finished function on made-up inputs, as native code in a child, and tell what it wrote.

Programs that read traces ask for it; the page shows what a check or a measurement finds instead.
"""

from typing import Any

import msgspec
import numpy as np

from irkit.core import InputError, Target
from irkit.debug import func_message, func_of_message
from irkit.inspector_web.jobs.costs import LIMITS, sizes_of, timing_arguments
from irkit.inspector_web.runs.run import Run
from irkit.ir import PrimFunc
from irkit.processes import Child
from irkit.runtime import build_kernels
from irkit.transform import Step

MOST_VALUES = 8
"""Elements of a buffer that are told."""


class WrittenBuffer(msgspec.Struct, frozen=True):
    """A buffer that a call changed: how many elements, and the first values after it.

    ``low`` and ``high`` are its least and greatest number; ``not_finite`` counts infinity and NaN.
    """

    buffer: str
    dtype: str
    shape: tuple[int, ...]
    changed: int
    low: str
    high: str
    not_finite: int
    first: list[str]


class FunctionRun(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a function wrote, as it is after ``step``; ``sizes`` are those of open dimensions."""

    function: str
    step: int
    written: list[WrittenBuffer]
    sizes: str = ""


def run_function(run: Run, function: str, step: int | None = None) -> FunctionRun:
    """Run a loop function as it is after a step, or after its last one, in a child with limits.

    Raises: InputError if there is no such function; ChildDied if it crashes or is stopped.
    """
    chosen = _chosen_step(run, function, step)
    assert isinstance(chosen.after, PrimFunc)
    with Child(LIMITS) as child:
        made = child.call(call_function, func_message(chosen.after))
    return FunctionRun(function, chosen.index, made, sizes_of(chosen.after))


def call_function(message: bytes) -> list[WrittenBuffer]:
    """Call a function once on drawn arguments; the child calls this."""
    func = func_of_message(message)
    args = timing_arguments(func)
    before = [np.array(each) for each in args]
    build_kernels([func], Target())[0](*args)
    found: list[WrittenBuffer] = []
    for param, old, new in zip(func.params, before, args, strict=True):
        differs = _bits(old) != _bits(np.asarray(new))
        if differs.any():
            found.append(_written(param.name, np.asarray(new), int(np.count_nonzero(differs))))
    return found


def _bits(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(np.uint8).reshape(flat.size, -1).copy().view(f"V{flat.itemsize}").reshape(-1)


def _written(name: str, array: np.ndarray[Any, Any], changed: int) -> WrittenBuffer:
    numbers = array.astype(np.float64).reshape(-1)
    finite = numbers[np.isfinite(numbers)]
    low, high = (f"{finite.min():g}", f"{finite.max():g}") if finite.size else ("", "")
    first = [str(each) for each in array.reshape(-1)[:MOST_VALUES]]
    not_finite = int(numbers.size - finite.size)
    return WrittenBuffer(name, array.dtype.name, array.shape, changed, low, high, not_finite, first)


def _chosen_step(run: Run, function: str, step: int | None) -> Step:
    own = [each for each in run.trace if each.function == function]
    if step is not None:
        own = [each for each in own if each.index == step]
    found = next((each for each in reversed(own) if isinstance(each.after, PrimFunc)), None)
    if found is None:
        where = "" if step is None else f" at step {step}"
        raise InputError(
            f"the trace has no loop function {function[:80]!r}{where}; only one of those can run"
        )
    return found
