"""Run native code in a child process: a kernel may crash there, and this process lives."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from irkit.core import IRKitError, Target, as_target
from irkit.debug.isolation.trace_step import LEVELS, trace_step
from irkit.debug.processes.child import Child, ChildDied, Death, Limits
from irkit.ir import LOOP_LEVEL, PrimFunc
from irkit.runtime import build_kernels
from irkit.transform import StepChannel


class KernelHalted(IRKitError):
    """Native code that crashed, ran too long or took too much memory; ``kind`` says which.

    ``func``, ``args`` and ``target`` are what is needed to run it again. In another process they
    are None.
    """

    def __init__(
        self, kind: Death, message: str, func: PrimFunc, args: Sequence[Any], target: Target
    ) -> None:
        self.kind: Death = kind
        self.func, self.args_given, self.target = func, tuple(args), target
        self.what, self.traceback = message, ""
        self.limits = Limits()
        super().__init__(f"the native code of {func.name!r} {message}")

    def picklable_state(self) -> dict[str, Any]:
        return {**super().picklable_state(), "func": None, "args_given": None}


def run_kernel(
    func: PrimFunc,
    args: Sequence[Any],
    *,
    target: Target | str = "llvm",
    seconds: float | None = None,
    memory: int | None = None,
) -> tuple[Any, ...]:
    """Compile a function of any stage and call it in a child process; return its arguments as it
    leaves them. The arrays given stay as they are.

    Units: seconds, bytes; the time to compile counts. Raises: KernelHalted if it does not come
    back; IRKitError if it cannot be compiled or refuses its arguments.
    """
    machine, limits = as_target(target), Limits(seconds, memory)
    message = StepChannel(LEVELS).send(trace_step(LOOP_LEVEL, func))
    strides = [arg.strides if isinstance(arg, np.ndarray) else None for arg in args]
    with Child(limits) as child:
        try:
            return child.call(_run, message, list(args), strides, machine)
        except ChildDied as error:
            made = KernelHalted(error.kind, error.message, func, args, machine)
            made.traceback, made.limits = error.traceback, limits
            raise made from None


def _run(
    message: bytes, args: list[Any], strides: list[tuple[int, ...] | None], target: Target
) -> tuple[Any, ...]:
    func = StepChannel(LEVELS).receive(message).before
    assert isinstance(func, PrimFunc)
    given = [_laid_out(arg, steps) for arg, steps in zip(args, strides, strict=True)]
    build_kernels([func], target)[0](*given)
    return tuple(given)


def _laid_out(arg: Any, strides: tuple[int, ...] | None) -> Any:
    """Give an array the strides it had: they get lost on the way."""
    if strides is None or arg.strides == strides or not arg.size or min(strides) < 0:
        return arg
    size = sum((n - 1) * step for n, step in zip(arg.shape, strides, strict=True)) + arg.itemsize
    room = np.zeros(size, np.uint8).view(np.uint8)
    made = np.ndarray(arg.shape, arg.dtype, room.data, 0, strides)
    made[...] = arg
    return made
