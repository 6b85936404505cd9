"""Other views of a stage than its text: the loop nest, the graph, LLVM IR and assembly."""

import tempfile
from pathlib import Path

import msgspec

from irkit.core import InputError
from irkit.debug import Child, Limits, carrying_step
from irkit.graph import GRAPH_LEVEL, GraphFunc
from irkit.inspector_web.graph_view import GraphView, graph_view
from irkit.inspector_web.native import Native, native
from irkit.inspector_web.nest import NestChange, nest, nest_changes
from irkit.inspector_web.once import Once
from irkit.inspector_web.runs import Run, Stage
from irkit.inspector_web.texts import FunctionText, Texts
from irkit.ir import LOOP_LEVEL, PrimFunc
from irkit.transform import Trace

MOST_NATIVE = 16
MOST_NEST_ROWS = 2_000
NATIVE_LIMITS = Limits(seconds=30.0, memory=4 << 30)


class NestPage(msgspec.Struct):
    """The loop nest after a pass, with what was different before it. Lines count in the text of
    the stage; ``more`` rows are not sent."""

    function: str
    rows: list[NestChange]
    more: int = 0


class GraphPage(msgspec.Struct):
    """The graph of a stage; ``first`` is the number of lines before it in the text."""

    function: str
    first: int
    view: GraphView


def nest_page(left: Stage, right: Stage) -> NestPage:
    """Compare the loop nests of two stages of a function."""
    before, after = _loops(left), _loops(right)
    rows = nest_changes(nest(before), nest(after))
    return NestPage(after.func.name, rows[:MOST_NEST_ROWS], max(0, len(rows) - MOST_NEST_ROWS))


def _loops(stage: Stage) -> FunctionText:
    for _, part in stage.text.parts:
        if isinstance(part.func, PrimFunc):
            return part
    raise InputError("there is no loop nest here: this stage has no function over loops")


def graph_page(stage: Stage) -> GraphPage:
    """Lay out the graph of a stage: that of ``main``, or of its first graph function."""
    graphs = [(at, part) for at, part in stage.text.parts if isinstance(part.func, GraphFunc)]
    if not graphs:
        raise InputError("there is no graph here: this stage has no graph function")
    first, part = next((each for each in graphs if each[1].func.name == "main"), graphs[0])
    with stage.run.drawing:
        return GraphPage(part.func.name, first, _laid_out(stage.run, part))


def _laid_out(run: Run, part: FunctionText) -> GraphView:
    """Lay out a state of a function, after all that came before it: boxes keep their places."""
    for states in run.texts.histories.values():
        if not any(state.func is part.func for state in states):
            continue
        view: GraphView | None = None
        for state in states:
            if isinstance(state.func, GraphFunc):
                made = run.graphs.get(id(state.func))
                if made is None:
                    made = graph_view(run.texts.of_function(state.func), view)
                    run.graphs[id(state.func)] = made
                view = made
            if state.func is part.func and view is not None:
                return view
    return graph_view(part)


class NativeViews:
    """Take stages to LLVM and assembly, in a child: LLVM may crash, or never end."""

    def __init__(self, limits: Limits = NATIVE_LIMITS) -> None:
        self._child = Child(limits)
        self._known = Once[int, tuple[Stage, Native]](MOST_NATIVE)

    def of(self, stage: Stage) -> Native:
        """Give LLVM IR and assembly of a stage; the last few are kept.

        Raises: InputError if it is no function over loops; IRKitError if there is no code for it,
        or the child does not come back.
        """
        # What is kept holds its stage, so the identity of the IR stays its own.
        return self._known.get(id(stage.ir), lambda: (stage, self._made(stage)))[1]

    def _made(self, stage: Stage) -> Native:
        if not isinstance(stage.ir, PrimFunc):
            raise InputError("LLVM IR is shown of one function over loops at a time")
        with tempfile.TemporaryDirectory(prefix="irkit-native-") as folder:
            path = str(Path(folder) / "stage.trace")
            Trace((carrying_step(LOOP_LEVEL, stage.ir),)).save(path)
            return self._child.call(native_of_file, path)

    def close(self) -> None:
        """End the child."""
        self._child.close()


def native_of_file(path: str) -> Native:
    """Take the function in a trace to LLVM and assembly; what the child runs."""
    trace = Trace.load(path, (LOOP_LEVEL, GRAPH_LEVEL))
    func = trace[0].after
    assert isinstance(func, PrimFunc)
    return native(Texts(trace), func)
