"""A child process for native code, which may crash or hang without harm to this one."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from irkit.core import IRKitError
from irkit.debug.execution.inputs import Array
from irkit.debug.execution.native_calls import run_guarded
from irkit.debug.processes.child import Child, ChildDied, Limits
from irkit.ir import PrimFunc


class NativeWorker:
    """A child process that compiles and runs functions one after another.

    It starts with the first call and restarts after a crash. Units: ``seconds`` for each call.
    """

    def __init__(self, seconds: float) -> None:
        self._child = Child(Limits(seconds))

    def run(self, func: PrimFunc, args: Sequence[Any]) -> tuple[Array, ...]:
        """Run a function and return its arrays afterwards.

        Raises: IRKitError if it cannot be compiled, crashes, writes beside its arrays, or runs too
        long.
        """
        try:
            return self._child.call(
                run_guarded, func.script(), [_with_strides(arg) for arg in args]
            )
        except ChildDied as error:
            raise IRKitError(f"the native code {error.message}") from None

    def close(self) -> None:
        """End the child process if it is running."""
        self._child.close()


def _with_strides(arg: Any) -> tuple[Any, tuple[int, ...] | None]:
    """Pair an argument with its strides, which pickling drops."""
    return arg, arg.strides if isinstance(arg, np.ndarray) else None
