"""LLVM IR and assembly of a stage, made in a child since LLVM can crash or hang."""

from irkit.core import InputError
from irkit.debug import func_message, func_of_message, trace_step
from irkit.inspector_web.runs.run import RunStage
from irkit.inspector_web.single_flight import SingleFlight
from irkit.inspector_web.text.texts import Texts
from irkit.inspector_web.views.native import NativeCode, native
from irkit.ir import LOOP_LEVEL, PrimFunc
from irkit.processes import Child, Limits
from irkit.transform import Trace

MOST_NATIVE = 16
NATIVE_LIMITS = Limits(seconds=30.0, memory=4 << 30)


class NativeViews:
    """Compiler of stages to LLVM IR and assembly, in a child; the last few results are cached."""

    def __init__(self, limits: Limits = NATIVE_LIMITS) -> None:
        self._child = Child(limits)
        self._cache = SingleFlight[int, tuple[RunStage, NativeCode]](MOST_NATIVE)

    def of(self, stage: RunStage) -> NativeCode:
        """Return LLVM IR and assembly of a stage.

        Raises: InputError if it is not a loop function; IRKitError if code generation refuses it,
        or the child crashes or is stopped.
        """
        # The cached value refers to its stage, so the id of the IR is not used again.
        return self._cache.get(id(stage.ir), lambda: (stage, self._compile(stage)))[1]

    def _compile(self, stage: RunStage) -> NativeCode:
        if not isinstance(stage.ir, PrimFunc):
            raise InputError("LLVM IR is shown for one loop function at a time")
        return self._child.call(compile_message, func_message(stage.ir))

    def close(self) -> None:
        """Stop the child."""
        self._child.close()


def compile_message(message: bytes) -> NativeCode:
    """Compile a function to LLVM IR and assembly; the child calls this."""
    func = func_of_message(message)
    return native(Texts(Trace((trace_step(LOOP_LEVEL, func),))), func)
