"""The loop nest, the graph and the executor's program of a stage."""

from collections.abc import Iterable

import msgspec

from irkit.codegen import PlanLine, plan_lines
from irkit.core import InputError, IRModule
from irkit.graph import GraphFunc
from irkit.inspector_web.limits import MOST_NEST_ROWS
from irkit.inspector_web.runs.run import Run, RunStage
from irkit.inspector_web.text.texts import PrintedFunction
from irkit.inspector_web.views.graph_view import GraphView, graph_view
from irkit.inspector_web.views.memory import MemoryPage, memory_accesses
from irkit.inspector_web.views.nest import NestChange, nest, nest_changes
from irkit.ir import PrimFunc
from irkit.phases import check_calls, executor_plan


class NestPage(msgspec.Struct):
    """The loop nest after a pass, compared with that before it. Lines refer to the text of the
    stage; ``more`` rows are omitted."""

    function: str
    rows: list[NestChange]
    more: int = 0


class GraphPage(msgspec.Struct):
    """The graph of a stage; ``first`` is the number of lines before it in the text."""

    function: str
    first: int
    view: GraphView


class ExecutorPage(msgspec.Struct):
    """The program that the executor of a model runs, line by line."""

    lines: list[PlanLine]


def executor_page(stage: RunStage) -> ExecutorPage:
    """Plan the executor of the module at a stage, whose operators must be kernels.

    Raises: InputError if there is no such module; IRKitError if it has no plan of memory.
    """
    module = _module_at(stage)
    main = module.functions.get("main")
    if not isinstance(stage.ir, (IRModule, GraphFunc)) or not isinstance(main, GraphFunc):
        raise InputError("the executor runs a whole model: choose a step of the graph")
    check_calls(module, main)
    return ExecutorPage(plan_lines(executor_plan(module)))


def _module_at(stage: RunStage) -> IRModule:
    """Return all functions as they are at a stage, of which a step has one or all."""
    module = IRModule({})
    for step in stage.run.trace[: stage.step + 1]:
        whole = step.after if step.index < stage.step or stage.side == "after" else step.before
        name = step.function or "main"
        module = whole if isinstance(whole, IRModule) else module.with_functions({name: whole})
    return module


def nest_page(left: RunStage, right: RunStage) -> NestPage:
    """Compare the loop nests of two stages of a function."""
    before, after = _loops(left), _loops(right)
    rows = nest_changes(nest(before), nest(after))
    return NestPage(after.func.name, rows[:MOST_NEST_ROWS], max(0, len(rows) - MOST_NEST_ROWS))


def memory_page(stage: RunStage) -> MemoryPage:
    """List how the lines of a stage of a function access memory."""
    return memory_accesses(_loops(stage))


def _loops(stage: RunStage) -> PrintedFunction:
    for _, part in stage.text.parts:
        if isinstance(part.func, PrimFunc):
            return part
    raise InputError("this stage has no loop function, so there is nothing to show")


def graph_page(stage: RunStage, opened: Iterable[str] = ()) -> GraphPage:
    """Lay out the graph of a stage: that of ``main``, or of its first graph function.

    ``opened`` are the keys of repeated blocks that are not folded; ``*`` stands for all.
    """
    graphs = [(at, part) for at, part in stage.text.parts if isinstance(part.func, GraphFunc)]
    if not graphs:
        raise InputError("this stage has no graph function, so there is no graph to show")
    first, part = next((each for each in graphs if each[1].func.name == "main"), graphs[0])
    with stage.run.drawing:
        return GraphPage(part.func.name, first, _laid_out(stage.run, part, frozenset(opened)))


def _laid_out(run: Run, part: PrintedFunction, opened: frozenset[str]) -> GraphView:
    """Lay out a state of a function after all earlier states, so that boxes keep their places."""
    name = run.texts.history_of(part.func)
    view: GraphView | None = None
    for state in () if name is None else run.texts.histories[name]:
        func = state.func
        if isinstance(func, GraphFunc):
            made = run.graphs.get((id(func), opened))
            if made is None:
                made = graph_view(run.texts.of_function(func), view, opened=opened)
                run.graphs[id(func), opened] = made
            view = made
        if func is part.func and view is not None:
            return view
    return graph_view(part, opened=opened)
