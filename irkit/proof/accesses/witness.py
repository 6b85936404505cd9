"""The arguments that the values of a model stand for, and what the interpreter says about them."""

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from irkit.core import IRKitError, walk
from irkit.ir import (
    Buffer,
    MemoryLimit,
    OutOfBounds,
    PrimFunc,
    StepLimit,
    Var,
    View,
    as_int,
    dimension_vars,
    evaluate,
    interpret,
    numpy_dtype,
)
from irkit.proof.accesses.guarded_accesses import GuardedAccess
from irkit.proof.concrete import ModelValues

MOST_ELEMENTS = 1 << 20
MOST_STEPS = 300_000


class NoArguments(Exception):
    """A model that stands for no arguments of a size that can be run."""


def confirmed(func: PrimFunc, access: GuardedAccess, model: ModelValues) -> str | None:
    """Run a function on the arguments that a model stands for.

    Return the error of the interpreter if the access leaves its buffer, an empty string if it does
    not, or None if the function cannot be run.
    """
    try:
        interpret(func, *arguments(func, model), max_steps=MOST_STEPS, max_bytes=1 << 28)
    except (NoArguments, StepLimit, MemoryLimit):
        return None
    except IRKitError as error:
        axis = access.kind == "axis" and error.message.startswith(f"axis {access.name!r} of block")
        same = error.span is None or access.span is None or error.span == access.span
        about = access.name in error.message and (axis or isinstance(error, OutOfBounds))
        return error.message if about and same else None
    return ""


def arguments(func: PrimFunc, model: ModelValues, *, varied: bool = False) -> list[Any]:
    """Return arrays and numbers for the parameters of a function.

    With ``varied``, arrays of floats and those that the model says nothing about hold numbers that
    differ. Raises: NoArguments.
    """
    known: dict[Var, Any] = {}
    for var in (*dimension_vars(func.params), *(p for p in func.params if isinstance(p, Var))):
        known[var] = model.bindings.get(var, 1 if var.dtype.is_integer else 0)
    arrays: dict[Buffer, Any] = {}
    for param in func.params:
        if isinstance(param, Buffer):
            arrays[param] = _array(param, known)
    told = model.translation.buffers
    for param, array in arrays.items():
        if varied and (param.dtype.is_float or param not in told):
            array.flat = [1 + at % 100 for at in range(array.size)]
    for buffer in told:
        if not (varied and buffer.dtype.is_float):
            _fill(buffer, arrays, model, {view.buffer: view for view in walk(func.body, View)})
    return [known[param] if isinstance(param, Var) else arrays[param] for param in func.params]


def _size(dim: Any, known: Mapping[Var, Any]) -> int:
    number = as_int(dim)
    return int(evaluate(dim, known)) if number is None else number


def _array(buffer: Buffer, known: Mapping[Var, Any]) -> Any:
    shape = [_size(dim, known) for dim in buffer.shape]
    if min(shape, default=0) < 0 or prod(shape) > MOST_ELEMENTS:
        raise NoArguments
    dtype = numpy_dtype(buffer.dtype)
    if buffer.strides is None:
        return np.zeros(shape, dtype)
    steps = [_size(step, known) for step in buffer.strides]
    reach = 1 + sum([(size - 1) * step for size, step in zip(shape, steps, strict=True)])
    if min(steps, default=0) < 0 or reach > MOST_ELEMENTS:
        raise NoArguments
    memory = np.zeros(max(reach, 0), dtype)
    return np.lib.stride_tricks.as_strided(memory, shape, [step * dtype.itemsize for step in steps])


def _fill(
    buffer: Buffer, arrays: Mapping[Buffer, Any], model: ModelValues, views: Mapping[Buffer, View]
) -> None:
    """Write the elements that a model gives for a buffer into the array that it is a view of."""
    offset, owner = 0, buffer
    strided = buffer.strides is not None
    while owner in views:
        view = views[owner]
        offset += int(model.of(view.offset))
        owner = view.source
        strided = strided or owner.strides is not None
    if owner not in arrays or (strided and owner is not buffer):
        return
    array, elements = arrays[owner], model.memory_of(buffer)
    if owner is buffer:
        if elements.rest is not None:
            array[...] = elements.rest
        for at, value in elements.known.items():
            if all(0 <= i < n for i, n in zip(at, array.shape, strict=True)):
                array[at] = value
        return
    flat = array.reshape(-1)
    if elements.rest is not None:
        flat[...] = elements.rest
    shape = [int(model.of(dim)) for dim in buffer.shape]
    for at, value in elements.known.items():
        place = 0
        for i, n in zip(at, shape, strict=True):
            place = place * n + i
        if 0 <= offset + place < len(flat):
            flat[offset + place] = value
