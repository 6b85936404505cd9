"""Native code in a child process: a kernel that crashes there leaves this process alive."""

from collections.abc import Sequence
from typing import Any

from irkit.core import IRKitError, Target, as_target
from irkit.debug.isolation.trace_step import func_message, func_of_message
from irkit.debug.isolation.with_strides import WithStrides
from irkit.ir import PrimFunc
from irkit.processes import Child, ChildDied, Death, Limits
from irkit.runtime import build_kernels


class KernelHalted(IRKitError):
    """Raised when native code crashed, ran too long or used too much memory; ``kind`` says which.

    ``func``, ``args_given`` and ``target`` are what it takes to run it again. They are lost when
    the error is pickled.
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
    """Compile a function of any stage, call it in a child process and return its arguments.

    The arrays passed in are not changed. Units: seconds, bytes; compile time counts. Raises:
    KernelHalted if the call does not return; IRKitError if the function cannot be compiled or
    rejects its arguments.
    """
    machine, limits = as_target(target), Limits(seconds, memory)
    given = [WithStrides.of(arg) for arg in args]
    with Child(limits) as child:
        try:
            return child.call(_run, func_message(func), given, machine)
        except ChildDied as error:
            made = KernelHalted(error.kind, error.message, func, args, machine)
            made.traceback, made.limits = error.traceback, limits
            raise made from None


def _run(message: bytes, args: list[WithStrides], target: Target) -> tuple[Any, ...]:
    given = tuple(arg.value() for arg in args)
    build_kernels([func_of_message(message)], target)[0](*given)
    return given
