"""What the page can ask about a run: verdicts, the guilty pass, native costs, LLVM's own passes.

Each is a kind of work: what is asked, what that means in the workspace, what goes to the child, and
the function that answers there.
"""

import math
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from irkit.core import InputError
from irkit.debug import Child, Limits, carrying_step
from irkit.graph import GRAPH_LEVEL
from irkit.inspector_web.bisecting import Guilty, find_guilty
from irkit.inspector_web.constants import fill_constants
from irkit.inspector_web.costs import Compared, Costs, compare_costs, function_costs
from irkit.inspector_web.llvm_passes import LlvmPasses, llvm_passes
from irkit.inspector_web.planning import Source, registry
from irkit.inspector_web.progress import tell
from irkit.inspector_web.recording import passes_of_script
from irkit.inspector_web.runs import Run, Workspace
from irkit.inspector_web.tasks import Desk, Kind
from irkit.inspector_web.verdicts import Checked, Tell, check_steps
from irkit.ir import LOOP_LEVEL, PrimFunc
from irkit.transform import AnyPass, Step, Trace

LIMITS = Limits(seconds=300.0, memory=8 << 30)
LEVELS = (LOOP_LEVEL, GRAPH_LEVEL)
TRACE = "asked.trace"
QUICK_BYTES = 1 << 18
"""Of constants, with which a model is run without being asked twice."""


class Chosen(msgspec.Struct, frozen=True):
    """Steps of a run that were asked about, with the numbers they have there."""

    run: Run
    steps: tuple[Step, ...]
    careful: bool = False
    function: str | None = None

    def save(self, folder: Path) -> str:
        """Write the steps, numbered from 0, as a trace."""
        path = str(folder / TRACE)
        Trace(self.steps).save(path)
        return path

    @property
    def numbers(self) -> tuple[int, ...]:
        """List the numbers that the steps have in the run."""
        return tuple(step.index for step in self.steps)


def _chosen(
    workspace: Workspace, number: int, function: str | None, step: int | None, careful: bool
) -> Chosen:
    run = workspace.run(number)
    if step is not None:
        found = workspace.step(number, step)
        if found is None:
            raise InputError("this pass failed, so there is nothing after it to compare with")
        return Chosen(run, (found,), careful, found.function)
    if function is not None and function not in run.functions:
        raise InputError(f"the run has no function {function[:80]!r}")
    steps = tuple(each for each in run.trace if function in (None, each.function))
    return Chosen(run, steps, careful, function)


def _told(folder: str) -> Tell:
    return lambda what, done, total: tell(folder, what, done, total)


class AskVerdicts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Did the meaning hold: at one step, at those of a function, or at all of a run?"""

    run: int
    function: str | None = None
    step: int | None = None
    careful: bool = False


def _find_verdicts(workspace: Workspace, asked: AskVerdicts) -> Chosen:
    return _chosen(workspace, asked.run, asked.function, asked.step, asked.careful)


def _send_verdicts(chosen: Chosen, folder: Path) -> tuple[Any, ...]:
    source = chosen.run.opened.source
    return chosen.save(folder), chosen.numbers, chosen.careful, source, str(folder)


def answer_verdicts(
    path: str, numbers: Sequence[int], careful: bool, source: Source | None, folder: str
) -> Checked:
    """Check the steps of a file; what the child runs.

    Constants that the trace left out come from the model again; of a large one only with care,
    because NumPy takes a minute for a step.
    """
    trace = Trace.load(path, LEVELS)
    if source is not None:
        fill_constants(trace, source, math.inf if careful else QUICK_BYTES)
    checked = check_steps(trace, careful=careful, tell=_told(folder))
    named = (msgspec.structs.replace(each, step=numbers[each.step]) for each in checked.verdicts)
    return msgspec.structs.replace(checked, verdicts=tuple(named))


def check_run(run: Run) -> Checked:
    """Check all steps of a run, in a child. Raises: ChildDied if that does not come back."""
    chosen = Chosen(run, tuple(run.trace))
    with tempfile.TemporaryDirectory(prefix="irkit-check-") as folder, Child(LIMITS) as child:
        return child.call(answer_verdicts, *_send_verdicts(chosen, Path(folder)))


class AskGuilty(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which pass of a run, or of one function in it, is the first to change the meaning?"""

    run: int
    function: str | None = None


def _find_guilty(workspace: Workspace, asked: AskGuilty) -> Chosen:
    return _chosen(workspace, asked.run, asked.function, None, False)


def _send_guilty(chosen: Chosen, folder: Path) -> tuple[Any, ...]:
    return chosen.save(folder), chosen.numbers, chosen.run.opened.source, str(folder)


def pass_of(source: Source | None, step: Step) -> AnyPass:
    """Find the pass of a step: of the toolkit, installed, or of the script that a run was made
    from, which then runs until it shows the pass. Raises: IRKitError if there is none."""
    known = registry()
    if step.name not in known and source is not None and source.kind == "script":
        known = known.with_passes(*passes_of_script(source.path, [step.name]).values())
    return known.resolve(step.pass_text, imports=False)


def answer_guilty(path: str, numbers: Sequence[int], source: Source | None, folder: str) -> Guilty:
    """Look for the guilty pass in a file; what the child runs."""
    trace = Trace.load(path, LEVELS)
    if source is not None:
        fill_constants(trace, source, QUICK_BYTES)
    found = find_guilty(trace, partial(pass_of, source), tell=_told(folder))
    named = (msgspec.structs.replace(each, step=numbers[each.step]) for each in found.checked)
    found = msgspec.structs.replace(found, checked=tuple(named))
    if found.step is None:
        return found
    step, verdict = numbers[found.step], found.verdict
    if verdict is not None:
        verdict = msgspec.structs.replace(verdict, step=step)
    return msgspec.structs.replace(found, step=step, verdict=verdict)


def _take_guilty(desk: Desk, chosen: Chosen, made: Guilty) -> Guilty:
    failure = chosen.run.opened.failure
    if made.step is not None or failure is None or chosen.function not in (None, failure.function):
        return made
    text = f"'{failure.pass_text}' failed, and is the first that is wrong. {made.text}"
    number = len(chosen.run.trace)
    return msgspec.structs.replace(
        made, text=text, step=number, name=failure.name, function=failure.function
    )


class AskCost(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What does a function cost as native code before and after a step?"""

    run: int
    step: int


def _find_cost(workspace: Workspace, asked: AskCost) -> Chosen:
    chosen = _chosen(workspace, asked.run, None, asked.step, False)
    step = chosen.steps[0]
    if not isinstance(step.before, PrimFunc) or not isinstance(step.after, PrimFunc):
        raise InputError("only a function over loops can be timed, and this step is on a graph")
    return chosen


def _send_cost(chosen: Chosen, folder: Path) -> tuple[Any, ...]:
    return chosen.save(folder), chosen.numbers[0]


def answer_cost(path: str, number: int) -> Compared:
    """Time the step of a file; what the child runs."""
    made = compare_costs(Trace.load(path, LEVELS), 0)
    before = msgspec.structs.replace(made.before, step=number - 1)
    after = msgspec.structs.replace(made.after, step=number)
    return msgspec.structs.replace(made, before=before, after=after)


class AskCosts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What does a function cost after each step that changed it?"""

    run: int
    function: str


def _find_costs(workspace: Workspace, asked: AskCosts) -> Chosen:
    chosen = _chosen(workspace, asked.run, asked.function, None, False)
    kept = tuple(step for step in chosen.steps if isinstance(step.after, PrimFunc))
    if not kept:
        raise InputError("only a function over loops can be timed: choose one in the list")
    return msgspec.structs.replace(chosen, steps=kept)


def _send_costs(chosen: Chosen, folder: Path) -> tuple[Any, ...]:
    return chosen.save(folder), chosen.numbers, chosen.function, str(folder)


def answer_costs(path: str, numbers: Sequence[int], function: str, folder: str) -> Costs:
    """Time the steps of a file; what the child runs."""
    made = function_costs(Trace.load(path, LEVELS), function, _told(folder))
    named = (
        msgspec.structs.replace(each, step=numbers[each.step]) if each.step >= 0 else each
        for each in made.stages
    )
    return msgspec.structs.replace(made, stages=tuple(named))


class AskLlvm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What do LLVM's own passes do to a stage such as 0.12.a?"""

    state: str


def _find_llvm(workspace: Workspace, asked: AskLlvm) -> Chosen:
    stage = workspace.stage(asked.state)
    if not isinstance(stage.ir, PrimFunc):
        raise InputError("LLVM's passes are shown of one function over loops at a time")
    return Chosen(stage.run, (carrying_step(LOOP_LEVEL, stage.ir),))


def _send_llvm(chosen: Chosen, folder: Path) -> tuple[Any, ...]:
    return (chosen.save(folder),)


def answer_llvm(path: str) -> LlvmPasses:
    """Watch LLVM over the function in a file; what the child runs."""
    return llvm_passes(Trace.load(path, LEVELS)[0].after)


def _as_made(desk: Desk, chosen: Chosen, made: object) -> object:
    return made


VERDICTS = Kind(AskVerdicts, _find_verdicts, _send_verdicts, answer_verdicts, _as_made, LIMITS)
GUILTY = Kind(AskGuilty, _find_guilty, _send_guilty, answer_guilty, _take_guilty, LIMITS)
COST = Kind(AskCost, _find_cost, _send_cost, answer_cost, _as_made, LIMITS)
COSTS = Kind(AskCosts, _find_costs, _send_costs, answer_costs, _as_made, LIMITS)
LLVM = Kind(AskLlvm, _find_llvm, _send_llvm, answer_llvm, _as_made, LIMITS)
