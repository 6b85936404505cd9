"""The programs that a pass is tried on."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial, reduce

import msgspec
import onnx

from irkit.core import Function, IRKitError, IRModule, ScheduleError, walk
from irkit.debug import schedule_steps
from irkit.frontend.onnx import import_onnx
from irkit.fuzz.generators.aimed.aim import PassAim
from irkit.fuzz.generators.aimed.aimed_graphs import aimed_graph
from irkit.fuzz.generators.aimed.aimed_programs import planted
from irkit.fuzz.generators.aimed.opportunities import opportunities
from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.generators.graphs.chains import GROUPS, graph_chain
from irkit.fuzz.generators.loops.dependence_nests import THEMES, dependence_nest
from irkit.fuzz.generators.loops.loop_functions import loop_function
from irkit.fuzz.generators.sample import LOOP_SAMPLES, PROGRAM_KINDS, Kind, Sample, Unusable
from irkit.fuzz.picks import Picks
from irkit.graph import GraphFunc, parse_module
from irkit.ir import For, PrimFunc
from irkit.phases import DEFAULT, GRAPH
from irkit.schedule import LoopRef, Schedule
from irkit.transform import IR, Pipeline

GRAPH_KINDS: tuple[Kind, ...] = ("graphs",)

_TRIES = 4
_PLAINLY = DEFAULT.without("simplify").without("eliminate-common-subexpressions")
_LOWERING = reduce(Pipeline.without, [p.name for phase, p in GRAPH.placed if not phase], GRAPH)
"""The passes that make kernels of a graph, without those that could take away what is in it."""
_MARKS: tuple[Callable[[Schedule, LoopRef], None] | None, ...] = (
    None,
    Schedule.unroll,
    Schedule.vectorize,
    None,
    Schedule.parallel,
    lambda sch, loop: sch.bind(loop, "threadIdx.x"),
)


class DrawnProgram(msgspec.Struct, frozen=True, eq=False):
    """A program, and its passes if not the usual ones; or why there is none."""

    ir: IR | None
    pipeline: Pipeline | None = None
    why_not: str = ""

    def __repr__(self) -> str:  # Hypothesis prints what it has drawn, and IR can be long.
        return "<a program>" if self.ir is not None else f"<nothing: {self.why_not}>"


Form = Callable[[Picks], DrawnProgram]
"""A way to draw programs."""


class ProgramForms(msgspec.Struct, frozen=True, eq=False):
    """Ways to draw programs, with names. One program of each of the ``first`` is drawn before all
    others."""

    forms: tuple[tuple[str, Form], ...]
    first: tuple[Form, ...] = ()


def checked_kinds(kinds: Sequence[str], on_graphs: bool) -> tuple[Kind, ...]:
    """Return the kinds of samples to draw."""
    chosen: tuple[Kind, ...] = tuple(kind for kind in PROGRAM_KINDS if kind in kinds)
    if len(chosen) != len(set(kinds)):
        wrong = ", ".join(sorted(set(kinds) - set(PROGRAM_KINDS)))
        raise IRKitError(f"there is no kind {wrong}; there are: {', '.join(PROGRAM_KINDS)}")
    return chosen or (GRAPH_KINDS if on_graphs else LOOP_SAMPLES)


def forms_of(
    kinds: tuple[Kind, ...], fits: Callable[[Pipeline], bool], aim: PassAim
) -> ProgramForms:
    """Return ways to draw programs of some kinds.

    Where programs of loops are among them, some have what the pass under test looks for, and nests
    in which order matters come first; where graphs are, chains of operators and instances of its
    patterns. Graphs that cannot become loops are drawn where it ``fits``
    into fewer passes.
    """
    found: list[tuple[str, Form]] = [(kind, partial(_of_kind, kind, fits)) for kind in kinds]
    first: tuple[Form, ...] = ()
    if "programs" in kinds:
        first = tuple(partial(_plain, partial(dependence_nest, theme=theme)) for theme in THEMES)
        nests = partial(opportunities, aim=aim)
        found += [
            ("loops", partial(_as_written, loop_function)),
            ("nests", partial(_plain, nests)),
            ("dependences", partial(_plain, dependence_nest)),
        ]
        if aim.has_expressions:
            found += [
                ("aimed nests", partial(_aimed, nests, aim)),
                ("aimed loops", partial(_aimed, loop_function, aim)),
                ("aimed programs", partial(_aimed, _function, aim)),
            ]
    if "graphs" in kinds:
        chains = tuple(partial(_graph, partial(graph_chain, group=group), fits) for group in GROUPS)
        found.append(("chains", partial(_graph, graph_chain, fits)))
        first = chains
        if aim.graph_patterns or aim.operators:
            aimed = partial(_graph, partial(aimed_graph, aim=aim), fits)
            found += [("aimed graphs", aimed)]
            first = (*(aimed for _ in chains), *chains)
    return ProgramForms(tuple(found), first)


Make = Callable[[Picks], PrimFunc]


def _as_written(make: Make, picks: Picks) -> DrawnProgram:
    return DrawnProgram(make(picks))


def _plain(make: Make, picks: Picks) -> DrawnProgram:
    """Make a function; half of the time without passes that could take away what is in it."""
    return DrawnProgram(make(picks), _PLAINLY if picks.below(2) else None)


def _graph(
    make: Callable[[Picks], GraphFunc], fits: Callable[[Pipeline], bool], picks: Picks
) -> DrawnProgram:
    """Make a graph; two times in three it goes to the pass as it is."""
    why_not = ""
    pipeline = _LOWERING if picks.below(3) and fits(_LOWERING) else None
    for _ in range(_TRIES):
        try:
            return DrawnProgram(as_program(make(picks)).ir, pipeline)
        except Unusable as error:
            why_not = error.message
    return DrawnProgram(None, why_not=why_not)


def _aimed(make: Make, aim: PassAim, picks: Picks) -> DrawnProgram:
    try:
        func = make(picks)
    except Unusable as error:
        return DrawnProgram(None, why_not=error.message)
    return _plain(lambda more: planted(func, more, aim), picks)


def _function(picks: Picks) -> PrimFunc:
    func = draw_sample("programs", picks).ir
    assert isinstance(func, PrimFunc)
    return func


def _of_kind(kind: Kind, fits: Callable[[Pipeline], bool], picks: Picks) -> DrawnProgram:
    found = DrawnProgram(None)
    for _ in range(_TRIES):
        found = _chosen(kind, picks)
        if kind in LOOP_SAMPLES or found.pipeline is None or fits(found.pipeline):
            return found
    return DrawnProgram(None, why_not="no graph fitted")


def _chosen(kind: Kind, picks: Picks) -> DrawnProgram:
    try:
        found = as_program(draw_sample(kind, picks))
    except Unusable as error:
        return DrawnProgram(None, why_not=error.message)
    if isinstance(found.ir, PrimFunc) and kind in LOOP_SAMPLES:
        return DrawnProgram(_marked(found.ir, picks), found.pipeline)
    return found


def as_program(value: object) -> DrawnProgram:
    """Convert a value from a user's strategy to a program."""
    if isinstance(value, DrawnProgram):
        return value
    if isinstance(value, str):
        return DrawnProgram(program_in(parse_module(value)))
    if isinstance(value, bytes):
        return DrawnProgram(import_onnx(onnx.load_model_from_string(value)))
    if isinstance(value, Sample):
        return _of_sample(value)
    if isinstance(value, GraphFunc):
        return DrawnProgram(IRModule({"main": value}))
    if isinstance(value, (Function, IRModule)):
        return DrawnProgram(value)
    raise IRKitError(
        f"a strategy gave a {type(value).__name__}; expected a program",
        hint="Draw a PrimFunc, GraphFunc, IRModule, Sample, or IR text.",
    )


def _of_sample(sample: Sample) -> DrawnProgram:
    made = as_program(sample.ir)
    if not isinstance(made.ir, PrimFunc):
        becomes_loops = "lower-to-loops" in sample.pipeline.names
        return made if becomes_loops else DrawnProgram(made.ir, sample.pipeline)
    func = made.ir
    for step in schedule_steps(func, sample.schedule) if sample.schedule.steps else ():
        assert isinstance(step.after, PrimFunc)
        func = step.after
    return DrawnProgram(func, sample.pipeline)


def _marked(func: PrimFunc, choices: Picks) -> PrimFunc:
    """Mark some loops, where that is legal: few schedules do, and passes over loops look for
    marks."""
    sch = Schedule(func, check="off")
    for loop in list(walk(func, on=For))[-3:]:  # Inner loops come last.
        mark = choices.pick(_MARKS)
        if mark:
            with suppress(ScheduleError):
                mark(sch, LoopRef(loop.var))
    return sch.func


def program_in(module: IRModule) -> IR:
    """Return the only function of a module if it is a loop function, or the module."""
    functions = list(module.functions.values())
    alone = len(functions) == 1 and isinstance(functions[0], PrimFunc)
    return functions[0] if alone else module
