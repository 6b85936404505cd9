"""The arguments of a kernel in one call, for who runs it outside of a compiled model."""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from irkit.graph.ops import Array
from irkit.graph.sizes.kernel_sizes import kernel_sizes
from irkit.graph.types import TensorType
from irkit.ir import Buffer, Expr, PrimFunc, Var, evaluate, numpy_dtype

APPENDS = "appends"
"""Attribute of a kernel whose result begins as its first tensor, along the axis of this number: it
stores only what is behind that."""
UPDATES = "updates"
"""Attribute of a kernel whose result begins as its tensor of this number, where it also lies if the
two are state: it stores only what changes, or reads each element before it stores it."""


class KernelArguments(msgspec.Struct, frozen=True, eq=False):
    """Numbers, which come first, then arrays, of which the last are results."""

    numbers: tuple[int, ...]
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]

    @property
    def all(self) -> tuple[int | Array, ...]:
        """Return the arguments in the order of the parameters."""
        return (*self.numbers, *self.inputs, *self.outputs)


def kernel_arguments(
    func: PrimFunc,
    given: Sequence[Array],
    kinds: Sequence[TensorType],
    size_of: Callable[[Expr], int],
) -> KernelArguments:
    """Return the arguments for these arrays; ``kinds`` are their types and those of the results,
    and ``size_of`` gives the number that an extent of those is.

    Results are 0, or as the state that they are written over. Arrays have the strides that the
    kernel declares.
    """
    numbers = [param for param in func.params if isinstance(param, Var)]
    buffers = [param for param in func.params if isinstance(param, Buffer)]
    strided = any(buffer.strides is not None for buffer in buffers)
    found = kernel_sizes(func, kinds) if numbers or strided else {}
    sizes = {var: size_of(size) for var, size in found.items()}
    pairs = zip(given, buffers, strict=False)
    inputs = [a.astype(numpy_dtype(own.dtype), order="C", copy=False) for a, own in pairs]
    outputs = [
        np.zeros([size_of(dim) for dim in kind.shape], numpy_dtype(kind.dtype))
        for kind in kinds[len(inputs) :]
    ]
    attrs = dict(func.attrs)
    axis, number = attrs.get(APPENDS), attrs.get(UPDATES)
    if isinstance(axis, int):
        outputs[0][(slice(None),) * axis + (slice(0, inputs[0].shape[axis]),)] = inputs[0]
    if isinstance(number, int):
        outputs[0][...] = inputs[number]
    arrays = [_laid_out(*each, sizes) for each in zip(buffers, [*inputs, *outputs], strict=True)]
    count = len(inputs)
    return KernelArguments(
        tuple(sizes[var] for var in numbers), tuple(arrays[:count]), tuple(arrays[count:])
    )


def _laid_out(buffer: Buffer, array: Array, sizes: dict[Var, int]) -> Array:
    """Return an array in memory with the strides that a kernel declares."""
    if buffer.strides is None:
        return array
    strides = [int(evaluate(stride, sizes)) for stride in buffer.strides]
    last = sum(max(n - 1, 0) * step for n, step in zip(array.shape, strides, strict=True))
    room = np.zeros(last + 1, array.dtype)
    made = np.lib.stride_tricks.as_strided(
        room, array.shape, [step * array.itemsize for step in strides]
    )
    made[...] = array
    return made
