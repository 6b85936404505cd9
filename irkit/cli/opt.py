"""The verb opt of the ``irkit`` command."""

import sys
from collections.abc import Generator
from itertools import islice
from pathlib import Path

import click
import msgspec

from irkit.cli.flags.files import NEW_FILE, NEW_FOLDER
from irkit.cli.flags.fixed_inputs import SHAPE, STATE, VALUE, fixed_inputs
from irkit.cli.flags.flag_values import as_value
from irkit.cli.flags.isolation_flags import with_isolation_flags
from irkit.cli.flags.placement import (
    DISABLE,
    PASS,
    VERIFY,
    PassFlags,
    WithPasses,
    add_current_directory_for,
)
from irkit.cli.flags.print_flags import PrintFlags, with_print_flags
from irkit.cli.flags.programs import CONVERTER, read_program
from irkit.cli.flags.prove_flag import PROVE
from irkit.cli.flags.schedule_flag import SCHEDULE, schedule_from
from irkit.cli.output.notes import note_not_isolated, note_unused_passes
from irkit.core import Function, IRModule, atomic_write, console
from irkit.debug import (
    IsolationPolicy,
    check,
    golden_diff,
    phase_texts,
    rule_table,
    schedule_steps,
    summarize_rules,
    verdict_table,
    write_golden,
)
from irkit.graph import GRAPH_LEVEL, GraphFunc
from irkit.ir import LOOP_LEVEL, PrimFunc
from irkit.passes import installed_passes
from irkit.phases import Flow
from irkit.schedule import ScheduleTrace
from irkit.transform import (
    Apply,
    Fact,
    PassFailed,
    Pipeline,
    Step,
    apply_here,
    read_phases,
    recorded,
)


class _OptPassFlags(PassFlags, frozen=True, kw_only=True):
    """Values of the options that choose the passes that run."""

    stop_after: str | None
    pipeline: str | None
    limit: int | None


class _GoldenFlags(msgspec.Struct, frozen=True):
    """Values of the options that compare the IR with files."""

    golden: str | None
    update_golden: bool
    functions: tuple[str, ...]


_with_pass_flags = as_value(
    "chosen",
    _OptPassFlags,
    (
        click.option(
            "--stop-after", metavar="PHASE", help="The last phase to run: 0 to 3, graph or graph.0."
        ),
        PASS,
        DISABLE,
        click.option(
            "--pipeline",
            metavar="'1:NAME,NAME;2:NAME'",
            help="Run these passes and no others. Quote it.",
        ),
        VERIFY,
        click.option(
            "--opt-bisect-limit",
            "limit",
            type=click.IntRange(min=-1),
            metavar="N",
            help="Run only the first N passes, counted over all functions; -1 runs and numbers "
            "all.",
        ),
    ),
)
_with_golden_flags = as_value(
    "golden",
    _GoldenFlags,
    (
        click.option(
            "--golden",
            type=NEW_FOLDER,
            metavar="DIR",
            help="Compare the IR after each phase with files in DIR; exit code 1 if it differs.",
        ),
        click.option("--update-golden", is_flag=True, help="With --golden: write the files."),
        click.option(
            "--function",
            "functions",
            multiple=True,
            metavar="NAME",
            help="With --golden: only this function. Repeatable.",
        ),
    ),
)


@click.command("opt", cls=WithPasses)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option(
    "-o", "--output", type=NEW_FILE, help="Write the result to FILE instead of standard output."
)
@_with_pass_flags
@SCHEDULE
@_with_golden_flags
@with_isolation_flags(users=False)
@with_print_flags
@PROVE
@SHAPE
@CONVERTER
@VALUE
@STATE
@click.option("--time-rules", is_flag=True, help="Print a table of the rules: hits and time.")
def opt(
    file: str,
    output: str | None,
    chosen: _OptPassFlags,
    schedule: str | None,
    golden: _GoldenFlags,
    guard: IsolationPolicy,
    printing: PrintFlags,
    prove: bool,
    time_rules: bool,
    shapes: tuple[str, ...],
    values: tuple[str, ...],
    states: tuple[str, ...],
) -> None:
    """Run passes over the IR in FILE (- for standard input) and print the result.

    Graph functions go through the graph pipeline first, loops through phases 0 to 3. IR, times and
    remarks that options ask for go to standard error. `irkit passes` lists the passes.

    \b
      irkit opt kernel.irs --stop-after 1
      irkit opt kernel.irs --pass '1:my_package.passes:my_pass{lanes=8}' --remarks
      irkit opt kernel.irs --pass 'before=unroll-loops:my_package.passes:my_pass'
      irkit opt kernel.irs --pass '1/before=simplify:my_package.passes:my_pass'
      irkit opt kernel.irs --pipeline '1:lower-init-blocks,lower-blocks,simplify'
      irkit opt kernel.irs --print-ir-after=simplify --print-ir-after-change --time-passes
      irkit opt kernel.irs --schedule auto --stop-after 0 --remarks
      irkit opt kernel.irs --golden tests/golden --update-golden
      irkit opt kernel.irs --prove -o lowered.irs

    With --prove, standard error has a row for each step: proved, tested, or not known, and why. The
    exit code is 1 if a step is wrong.
    """
    if (golden.update_golden or golden.functions) and golden.golden is None:
        raise click.UsageError("--update-golden and --function need --golden DIR")
    module = read_program(file, fixed_inputs(shapes, values, states)).module
    flow = None if chosen.pipeline is None else _flow_from(chosen.pipeline, module)
    flow = _stopped(chosen.flow(flow), chosen.stop_after)
    first = schedule_from(schedule)
    flow = first.flow(flow)
    printing.printer.check(name for each in flow.pipelines for name in each.names)
    run = _OptRun(flow, module, chosen.verify_each, chosen.limit, time_rules, first.trace)
    try:
        with guard.running(note_not_isolated) as run.apply:
            for step in run.steps():
                printing.print_step(step)
    except PassFailed as error:
        printing.print_failure(error)
        raise
    finally:
        printing.print_summary(run.done)
        if time_rules:
            console(stderr=True).print(rule_table(summarize_rules(run.done), "time in rules"))
    if chosen.limit is None:
        note_unused_passes(flow, run.done)
    if golden.golden is not None:
        _check_golden(run, Path(golden.golden), golden.update_golden, golden.functions)
    if golden.golden is None or output is not None:
        _print(run.module.script(), output)
    if prove:
        verdicts = [each for each in check(run.done, prove=True) if each.changed]
        console(stderr=True).print(verdict_table(verdicts))
        sys.exit(1 if any(each.is_wrong for each in verdicts) else 0)


class _OptRun:
    """One run of the pipelines of a flow over a module, with the steps done so far."""

    def __init__(
        self,
        flow: Flow,
        module: IRModule,
        verify: bool,
        limit: int | None,
        time_rules: bool,
        schedule: ScheduleTrace,
    ) -> None:
        self.flow = flow
        self.source = self.module = self.graph_done = module
        self.limit, self.time_rules, self.verify = limit, time_rules, verify
        self.schedule = schedule
        self.apply: Apply = apply_here
        self.done: list[Step] = []

    def steps(self) -> Generator[Step]:
        """Run the passes; ``module`` is the result so far."""
        most = None if self.limit is None or self.limit < 0 else self.limit
        levels = (LOOP_LEVEL, GRAPH_LEVEL)
        for step in islice(recorded(self._all(), levels), most):
            if self.limit is not None:
                number = len(self.done) + 1
                where = step.function or "the module"
                click.echo(f"BISECT: ran pass ({number}) {step.pass_text} on {where}", err=True)
            self.done.append(step)
            self.module = _as_module(step.applied_to(self.module))
            yield step

    def _all(self) -> Generator[Step]:
        if any(isinstance(func, GraphFunc) for func in self.source.functions.values()):
            yield from self._steps(self.flow.graph)
        if self.schedule.steps:
            yield from schedule_steps(self.module, self.schedule)
        self.graph_done = self.module
        yield from self._steps(self.flow.lowering)

    def _steps(self, pipeline: Pipeline) -> Generator[Step]:
        yield from pipeline.steps(
            self.module,
            verify=self.verify,
            time_rules=self.time_rules,
            start=len(self.done),
            apply=self.apply,
        )


def _as_module(ir: Function | IRModule) -> IRModule:
    assert isinstance(ir, IRModule)
    return ir


def _flow_from(text: str, module: IRModule) -> Flow:
    """Return the pipelines that ``--pipeline`` names; facts that a pass needs and that hold for
    the input are in force at the start."""
    add_current_directory_for([text])
    like = Flow().lowering
    phases = read_phases(text, installed_passes(), like)
    needed = dict.fromkeys(fact for each in phases for p in each.passes for fact in p.needs)
    functions = [func for func in module.functions.values() if isinstance(func, PrimFunc)]
    facts = tuple(fact for fact in needed if all(_holds(fact, func) for func in functions))
    whole = msgspec.structs.replace(like, phases=phases, facts=facts)
    last = Flow().loops.phases[-1].number
    first = tuple(phase for phase in phases if phase.number <= last)
    loops = msgspec.structs.replace(whole, phases=first)
    later = phases[len(first) :]
    return Flow(loops=loops, legalize=Pipeline(like.level, later, facts=loops.gives))


def _holds(fact: Fact, func: PrimFunc) -> bool:
    # A predicate may rely on the verifier, so it never gets a broken function.
    return not LOOP_LEVEL.verify(func) and not fact.problems(func)


def _stopped(flow: Flow, phase: str | None) -> Flow:
    if phase is None:
        return flow
    word, _, within = phase.partition(".")
    none = msgspec.structs.replace(flow.legalize, phases=())
    if word == "graph" and (within.isdecimal() or not within):
        graph = flow.graph.stop_after(int(within)) if within else flow.graph
        loops = msgspec.structs.replace(flow.loops, phases=())
        return Flow(graph, loops, none)
    if not phase.isdecimal() or len(phase) > 4:
        raise click.BadParameter(
            f"{phase!r} is not a phase; expected 0 to 3, graph or graph.0",
            param_hint="'--stop-after'",
        )
    return msgspec.structs.replace(flow, loops=flow.loops.stop_after(int(phase)), legalize=none)


def _check_golden(run: _OptRun, folder: Path, update: bool, names: tuple[str, ...]) -> None:
    for name in names:
        run.module[name]
    flow = run.flow
    lowering = flow.lowering if flow.legalize.names else flow.loops
    texts: dict[str, str] = {}
    for start, pipeline in ((run.source, flow.graph), (run.graph_done, lowering)):
        texts |= phase_texts(start, run.done, pipeline, only=names)
    if update:
        count = write_golden(folder, texts)
        click.echo(f"{folder}: {len(texts)} files, {count} of them new or different", err=True)
        return
    difference = golden_diff(folder, texts)
    if difference:
        click.echo(difference, nl=False)
        raise click.ClickException(
            f"the IR differs from {folder}\n  If it should, write the files with --update-golden."
        )


def _print(text: str, output: str | None) -> None:
    if output is None or output == "-":
        click.echo(text, nl=False)
        return
    with atomic_write(output) as made:
        made.write_text(text, encoding="utf-8")
