"""``--schedule``: a schedule to run before the passes."""

import click
import msgspec

from irkit.cli.flags.files import FILE
from irkit.core import IRModule, Target
from irkit.debug import NO_SCHEDULE
from irkit.ir import PrimFunc
from irkit.phases import (
    Flow,
    ScheduleChoice,
    for_machine,
    machine_of,
    schedule_choice,
    with_auto_schedule,
)
from irkit.schedule import ScheduleTrace
from irkit.transform import Pipeline

WORDS = ("auto", "none")


def _word_or_file(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is None or value in WORDS:
        return value
    try:
        return str(FILE.convert(value, param, ctx))
    except click.BadParameter as error:
        what = f"{error.message} Expected 'auto', 'none' or the file of a schedule."
        raise click.BadParameter(what, ctx, param) from None


class ChosenSchedule(msgspec.Struct, frozen=True):
    """What ``--schedule`` says: a word, or the steps of a file; neither without the option."""

    word: ScheduleChoice | None = None
    trace: ScheduleTrace = NO_SCHEDULE

    def choice(self, default: ScheduleChoice) -> ScheduleChoice:
        """Return whether functions that nobody has scheduled get the automatic schedule."""
        return "none" if self.trace.steps else schedule_choice(self.word, default)

    @property
    def is_given(self) -> bool:
        """Return True if the option or the environment says anything."""
        return bool(self.trace.steps) or self.choice("auto") == self.choice("none")

    def flow(self, flow: Flow) -> Flow:
        """Return the pipelines with the automatic schedule, where it is chosen; kernels of models
        have it unless it is switched off."""
        if self.choice("none") == "auto":
            flow = msgspec.structs.replace(flow, loops=auto_scheduled(flow.loops))
        if self.choice("auto") == "none" and not self.trace.steps:
            machine = machine_of("host", Target())
            flow = msgspec.structs.replace(flow, graph=for_machine(flow.graph, machine, "none"))
        return flow


SCHEDULE = click.option(
    "--schedule",
    callback=_word_or_file,
    metavar="auto|none|FILE",
    help="Schedule first: 'auto' schedules what nobody has scheduled, as irkit.build does, 'none' "
    "keeps loops as written, FILE has the steps that `sch.trace.save` wrote.",
)
WORD = click.option(
    "--schedule",
    type=click.Choice(WORDS),
    help="Schedule what nobody has scheduled, or keep loops as written.  [default: kernels of "
    "models get a schedule, loops that are lowered stay as written]",
)


def schedule_from(given: str | None) -> ChosenSchedule:
    """Return the schedule that ``--schedule`` names."""
    if given is None:
        return ChosenSchedule()
    if given == "auto" or given == "none":
        return ChosenSchedule(given)
    return ChosenSchedule(trace=ScheduleTrace.load(given))


def auto_scheduled(loops: Pipeline) -> Pipeline:
    """Return a pipeline over loops that begins with the schedule that build chooses here."""
    return with_auto_schedule(loops, machine_of("host", Target()))


def unscheduled_part(module: IRModule, auto: Pipeline) -> IRModule:
    """Return the functions of a module that the first pass of a pipeline schedules."""
    (first, *_) = auto.phases
    found = {
        name: func
        for name, func in module.functions.items()
        if isinstance(func, PrimFunc) and first.passes[0](func) is not func
    }
    return IRModule(found)
