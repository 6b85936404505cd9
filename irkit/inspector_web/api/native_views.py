"""FIXME Take stages to LLVM and assembly, in a child: LLVM may crash, or never end."""

import tempfile
from pathlib import Path

from irkit.core import InputError
from irkit.debug import Child, Limits, trace_step
from irkit.graph import GRAPH_LEVEL
from irkit.inspector_web.runs.run import RunStage
from irkit.inspector_web.single_flight import SingleFlight
from irkit.inspector_web.text.texts import Texts
from irkit.inspector_web.views.native import NativeCode, native
from irkit.ir import LOOP_LEVEL, PrimFunc
from irkit.transform import Trace

MOST_NATIVE = 16
NATIVE_LIMITS = Limits(seconds=30.0, memory=4 << 30)


class NativeViews:
    """Take stages to LLVM and assembly, in a child: LLVM may crash, or never end."""

    def __init__(self, limits: Limits = NATIVE_LIMITS) -> None:
        self._child = Child(limits)
        self._known = SingleFlight[int, tuple[RunStage, NativeCode]](MOST_NATIVE)

    def of(self, stage: RunStage) -> NativeCode:
        """Give LLVM IR and assembly of a stage; the last few are kept.

        Raises: InputError if it is no function over loops; IRKitError if there is no code for it,
        or the child does not come back.
        """
        # What is kept holds its stage, so the identity of the IR stays its own.
        return self._known.get(id(stage.ir), lambda: (stage, self._made(stage)))[1]

    def _made(self, stage: RunStage) -> NativeCode:
        if not isinstance(stage.ir, PrimFunc):
            raise InputError("LLVM IR is shown of one function over loops at a time")
        with tempfile.TemporaryDirectory(prefix="irkit-native-") as folder:
            path = str(Path(folder) / "stage.trace")
            Trace((trace_step(LOOP_LEVEL, stage.ir),)).save(path)
            return self._child.call(native_of_file, path)

    def close(self) -> None:
        """End the child."""
        self._child.close()


def native_of_file(path: str) -> NativeCode:
    """Take the function in a trace to LLVM and assembly; what the child runs."""
    trace = Trace.load(path, (LOOP_LEVEL, GRAPH_LEVEL))
    func = trace[0].after
    assert isinstance(func, PrimFunc)
    return native(Texts(trace), func)
