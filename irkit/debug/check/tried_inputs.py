"""What a function was tried on, in words: how strong a verdict is."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from irkit.debug.check.difference import is_float
from irkit.debug.execution.inputs import InputSet
from irkit.debug.execution.parameter_roles import inputs_of
from irkit.ir import Buffer, Expr, PrimFunc, Var


def describe_inputs(func: PrimFunc, inputs: Sequence[InputSet]) -> str:
    """Return the number and kinds of sets of inputs, and the ranges of sizes and values in them."""
    kinds = dict.fromkeys(each.kind for each in inputs)
    counted = f"{len(inputs)} set{'s' if len(inputs) != 1 else ''} of inputs: {', '.join(kinds)}"
    ranges = [
        f"{name} {_shown(low)} to {_shown(high)}" for name, low, high in _ranges(func, inputs)
    ]
    return "; ".join(filter(None, (counted, ", ".join(ranges))))


def _ranges(func: PrimFunc, inputs: Sequence[InputSet]) -> list[tuple[str, Any, Any]]:
    """Return the least and largest value of each symbolic size, and of each type that is read."""
    read = inputs_of(func)
    found: dict[str, tuple[Any, Any]] = {}

    def note(name: str, low: Any, high: Any) -> None:
        least, most = found.get(name, (low, high))
        found[name] = min(least, low), max(most, high)

    for each in inputs:
        for param, arg in zip(func.params, each.args, strict=True):
            for dim, size in zip(_dims(param), np.shape(arg), strict=True):
                if isinstance(dim, Var):
                    note(dim.name, size, size)
    for each in inputs:
        for param, arg in zip(func.params, each.args, strict=True):
            values = np.asarray(arg)
            if param not in read or param.dtype.is_bool or param.name in found:
                continue
            values = values.astype(np.float64) if is_float(values) else values
            values = values[~np.isnan(values)]
            if values.size:
                note(str(param.dtype), values.min(), values.max())
    return [(name, *ends) for name, ends in found.items()]


def _dims(param: Buffer | Var) -> tuple[Expr, ...]:
    return param.shape if isinstance(param, Buffer) else ()


def _shown(value: Any) -> str:
    return f"{value:.3g}" if abs(float(value)) >= 1e5 or value % 1 else str(int(value))
