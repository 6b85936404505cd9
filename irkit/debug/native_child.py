"""The side of the process in which native code may crash: compile, call, look beside the arrays."""

from typing import Any

import numpy as np

from irkit.core import IRKitError, Target
from irkit.debug.inputs import Array
from irkit.ir import PrimFunc, parse
from irkit.runtime import Kernel, build_kernels

MARGIN = 4096


class Fenced:
    """An array amid memory that nobody may write: what lies beside it is filled with a byte of its
    own, so that a copy of what lies beside another array shows."""

    def __init__(self, number: int, given: Array, strides: tuple[int, ...]) -> None:
        self.fill = 0xFF - number % 64  # As floats, NaN or enormous.
        spans = [(n - 1) * step for n, step in zip(given.shape, strides, strict=True)]
        self.size = 0 if given.size == 0 else sum(spans) + given.itemsize
        self.memory = np.full(self.size + 2 * MARGIN, self.fill, np.uint8)
        inner = self.memory[MARGIN : MARGIN + self.size].view(given.dtype)
        self.array: Array = (
            np.lib.stride_tricks.as_strided(inner, given.shape, strides) if given.size else given
        )
        self.array[...] = given

    def untouched(self) -> bool:
        """Say whether the memory beside the array is as it was."""
        beside = (self.memory[:MARGIN], self.memory[-MARGIN:])
        return all(bool((part == self.fill).all()) for part in beside)


class _Known:
    """What this process has compiled, by its text."""

    def __init__(self) -> None:
        self.kernels: dict[str, tuple[PrimFunc, Kernel]] = {}


_KNOWN = _Known()


def run_fenced(text: str, args: list[tuple[Any, tuple[int, ...] | None]]) -> tuple[Array, ...]:
    """Compile a function and call it amid fences; return the arrays as it leaves them."""
    known = _KNOWN.kernels
    if text not in known:
        func = parse(text)
        known[text] = func, build_kernels([func], Target(opt_level=1))[0]
    func, kernel = known[text]
    fences = {
        number: Fenced(number, arg, strides)
        for number, (arg, strides) in enumerate(args)
        if strides is not None
    }
    kernel(
        *(fences[number].array if number in fences else arg for number, (arg, _) in enumerate(args))
    )
    for number, fence in fences.items():
        if not fence.untouched():
            raise IRKitError(f"the native code writes outside of {func.params[number].name!r}")
    return tuple(fence.array for fence in fences.values())
