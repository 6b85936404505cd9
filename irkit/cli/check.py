"""The verb check of the ``irkit`` command."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import add
from typing import TypeVar

import click
from rich.progress import Progress, SpinnerColumn, TextColumn

from irkit.cli.checks.target_check import check_targets
from irkit.cli.flags.check_flags import CheckFlags, with_check_flags
from irkit.cli.flags.isolation_flags import with_isolation_flags
from irkit.cli.flags.placement import WithPasses
from irkit.cli.flags.programs import PROGRAM, ProgramFile
from irkit.cli.flags.progress import verdict_progress
from irkit.cli.flags.prove_flag import PROVE
from irkit.cli.output.json_results import (
    FormJson,
    bounds_json,
    check_json,
    echo_json,
    form_json,
    races_json,
)
from irkit.core import IRModule, console
from irkit.debug import (
    CheckOptions,
    IsolationPolicy,
    StageBounds,
    StageRaces,
    Verdict,
    bounds_of_steps,
    bounds_table,
    is_trusted,
    races_of_steps,
    races_table,
    scheduled_steps,
    verdict_table,
    verdicts,
    with_untouched_input,
)
from irkit.graph import GRAPH_LEVEL
from irkit.ir import LOOP_LEVEL
from irkit.transform import Apply, Pipeline, Step, recorded

_UNKNOWN = 3
"""The exit code of --require known where something is not known."""
_Stage = TypeVar("_Stage", StageBounds, StageRaces)


@click.command("check", cls=WithPasses)
@click.argument("file", type=PROGRAM)
@with_check_flags
@click.option("--json", "as_json", is_flag=True, help="Print what is known of every step as JSON.")
@click.option("--all", "everything", is_flag=True, help="Also show the steps that changed nothing.")
@PROVE
@click.option(
    "--bounds",
    is_flag=True,
    help="Instead prove, for every stage, that no access leaves its buffer, for any input and any "
    "size. Nothing is compared. Needs z3: pip install 'irkit[prove]'.",
)
@click.option(
    "--races",
    is_flag=True,
    help="Instead prove, for every stage, that iterations of parallel loops, and threads between "
    "barriers, never meet. Nothing is compared. Needs z3: pip install 'irkit[prove]'.",
)
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="TARGET",
    help="Instead run the program on this target and on the one that another --target names, and "
    "report the first line at which they differ. Give it twice.",
)
@click.option(
    "--no-contract",
    is_flag=True,
    help="With --target: nothing is fused or reordered, and all bits must agree.",
)
@click.option(
    "--require",
    type=click.Choice(["known"]),
    help="With known, the exit code is 3 if anything is not known, and nothing is wrong.",
)
@click.option(
    "--trust",
    is_flag=True,
    help="Count for all steps, and not only for those of --pass, how many small changes to the "
    "result of the step the inputs would notice.",
)
@with_isolation_flags(users=True)
def check_(
    file: str,
    chosen: CheckFlags,
    as_json: bool,
    everything: bool,
    prove: bool,
    bounds: bool,
    races: bool,
    targets: tuple[str, ...],
    no_contract: bool,
    require: str | None,
    trust: bool,
    guard: IsolationPolicy,
) -> None:
    """Run the program in FILE before and after each pass, and report which pass changes what it
    computes.

    FILE holds loop IR or a graph as text (.irs), an ONNX model, or a trace, whose recorded steps
    are checked unless options choose other passes. A graph runs with its own weights, and only
    where a pass changed it; kernels that take long to interpret run as native code in a process
    of their own. Functions that nobody has scheduled are checked as written and, as irkit.build
    compiles them, with the automatic schedule; --schedule selects one of the two. The exit code is
    1 if a step does not compute the same, or if no step could be tried. With --require known, it is
    3 if some step could not be tried: its verdict is "not known".

    The last stage of each function is compiled as irkit.build compiles it, but with nothing fused
    or reordered, and runs in a process of its own. If it differs from the interpreter, code
    generation is at fault, not a pass. With --native every stage is compiled.

    With --bounds, each load, store, view and axis is "in bounds" for all inputs and sizes that the
    signature allows; "out of bounds" for the sizes and indices that are printed (then the exit code
    is 1); "depends on data", if an index was loaded and nothing checks it; or "not known", with the
    reason.

    With --races, each parallel or vectorized loop, loop over blocks and nest of threads is
    "independent" for all inputs and sizes: no two iterations, or threads between barriers, touch an
    element that one of them changes; "carried", with both and the element (then the exit code is 1,
    but for threads that a later pass puts barriers between, and for vectorized loops, which stay
    loops); "depends on data", if what they access was loaded; or "not known", with the reason.

    With two --target, each function, or each kernel of a model on its data, is lowered by the
    phases and runs on both: a target that irkit targets lists and this machine can run, itself or
    by an emulator; c@clang or c@aarch64-linux-gnu-gcc to name a compiler of C; opencl@oclgrind;
    interpreter. "same": the same bits; "rounds differently": within the bounds of rounding;
    "differs": then the first line is printed that stores something else on one of them, its
    elements, and which of the two does what the interpreter does (then the exit code is 1).

    \b
      irkit check kernel.irs
      irkit check kernel.irs --pass '1:my_package.passes:my_pass' --native
      irkit check kernel.irs --prove
      irkit check kernel.irs --json
      irkit check kernel.irs --bounds
      irkit check kernel.irs --races
      irkit check kernel.irs --target host --target c --no-contract
      irkit check model.onnx --target host --target raspberry-pi-4
      irkit check model.onnx --pass 'graph:my_package.passes:my_pass'
    """
    program = chosen.program(file)
    options = CheckOptions(
        **chosen.options(program),
        together=program.is_of_kernels,
        prove=prove,
        trust=trust,
        trust_in=chosen.own_passes(program),
    )
    forms = _forms(program, chosen)
    inside: dict[str, str] = {}
    if no_contract and not targets:
        raise click.UsageError("--no-contract is for --target")
    unknown = _UNKNOWN if require else 0
    if targets:
        with guard.running(inside.__setitem__) as apply:
            sys.exit(
                check_targets(
                    program,
                    chosen,
                    targets,
                    apply,
                    contract=not no_contract,
                    as_json=as_json,
                    unknown=unknown,
                )
            )
    if bounds or races:
        with guard.running(inside.__setitem__) as apply:
            steps = (step for _, run in forms for step in guard.reporting(run(apply)))
            if as_json:
                sys.exit(_print_stages(steps, program.damage, unknown, bounds=bounds, races=races))
            sys.exit(_check_memory(steps, unknown, bounds=bounds, races=races))
    wrong, left_open = False, False
    results: list[FormJson] = []
    for form, run in forms:
        if len(forms) > 1 and not as_json:
            click.echo(f"loops {form}:")
        found = _verdicts(run, options, guard, program.is_of_kernels, inside)
        wrong |= not is_trusted(found)
        left_open |= any(each.status == "not known" for each in found)
        if as_json:
            results.append(form_json(form, found))
            continue
        shown = [each for each in found if everything or each.changed]
        console().print(verdict_table(shown, inside))
        for each in found:
            if each.is_wrong:
                click.echo(f"{each}, of the loops {form}" if len(forms) > 1 else str(each))
        click.echo(_summary(found))
    code = _code(wrong=wrong, unknown=unknown if left_open else 0)
    if as_json:
        echo_json(check_json(code == 0, program.damage, forms=results))
    sys.exit(code)


def _code(*, wrong: bool, unknown: int) -> int:
    """Return the exit code; ``unknown`` is that of what is not known, 0 if there is nothing."""
    return 1 if wrong else unknown


_Run = Callable[[Apply], Iterable[Step]]


def _verdicts(
    run: _Run,
    options: CheckOptions,
    guard: IsolationPolicy,
    many: bool,
    inside: dict[str, str],
) -> list[Verdict]:
    found: list[Verdict] = []
    with (
        guard.running(inside.__setitem__) as apply,
        verdict_progress(many=many) as progress,
    ):
        steps = guard.reporting(run(with_untouched_input(apply)))
        for each in verdicts(steps, options):
            progress(each)
            found.append(each)
    return found


def _check_memory(steps: Iterable[Step], unknown: int, *, bounds: bool, races: bool) -> int:
    """Print what is known about the accesses, or the loops without an order, of each stage; return
    the exit code."""
    known = list(steps) if bounds and races else steps
    codes = [_check_bounds(known, unknown)] if bounds else []
    codes += [_check_races(known, unknown)] if races else []
    return _code(wrong=1 in codes, unknown=max(codes))


def _print_stages(
    steps: Iterable[Step], damage: str, unknown: int, *, bounds: bool, races: bool
) -> int:
    """Print the same as JSON."""
    known = list(steps)
    stages = [bounds_json(each) for each in bounds_of_steps(known if bounds else ())]
    stages += [races_json(each) for each in races_of_steps(known if races else ())]
    left_open = any(each.status == "not known" for stage in stages for each in stage.findings)
    code = _code(wrong=any(each.wrong for each in stages), unknown=unknown if left_open else 0)
    echo_json(check_json(code == 0, damage, stages=stages))
    return code


def _check_bounds(steps: Iterable[Step], unknown: int) -> int:
    found = list(_with_progress(bounds_of_steps(steps), "accesses"))
    console().print(bounds_table(found))
    _print_once((each.stage, f"{each.function!r}: {it}") for each in found for it in each.others)
    statuses = [access.status for stage in found for access in stage.accesses]
    click.echo(_counts(statuses) or "no accesses")
    wrong = any(stage.is_wrong for stage in found)
    return _code(wrong=wrong, unknown=unknown if "not known" in statuses else 0)


def _check_races(steps: Iterable[Step], unknown: int) -> int:
    found = list(_with_progress(races_of_steps(steps), "loops"))
    console().print(races_table(found))
    _print_once((each.stage, each.text_of(loop)) for each in found for loop in each.others)
    statuses = [loop.status for stage in found for loop in stage.loops]
    click.echo(_counts(statuses) or "no loops without an order")
    wrong = any(stage.is_wrong for stage in found)
    return _code(wrong=wrong, unknown=unknown if "not known" in statuses else 0)


def _with_progress(stages: Iterable[_Stage], what: str) -> Iterator[_Stage]:
    progress = Progress(
        SpinnerColumn(), TextColumn("{task.description}"), console=console(stderr=True)
    )
    with progress:
        task = progress.add_task(what)
        for stage in stages:
            progress.update(task, description=f"{what} of {stage.function}, {stage.stage}")
            yield stage


def _print_once(lines: Iterable[tuple[str, str]]) -> None:
    """Print lines with their stages, each at the first one."""
    said = set[str]()
    for stage, text in lines:
        if text not in said:
            said.add(text)
            click.echo(f"{stage}: {text}")


def _counts(statuses: Iterable[str]) -> str:
    return ", ".join(f"{count} {status}" for status, count in Counter(statuses).items())


def _summary(found: Iterable[Verdict]) -> str:
    known = list(found)
    steps = [each for each in known if not each.in_code]
    statuses = [each.status if each.changed else "unchanged" for each in steps]
    proved = [" (proved)" if each.basis == "proved" else "" for each in steps]
    code = _counts(each.status for each in known if each.in_code)
    of_steps = _counts(map(add, statuses, proved)) or "no steps"
    return f"{of_steps}; native code: {code}" if code else of_steps


def _forms(program: ProgramFile, chosen: CheckFlags) -> list[tuple[str, _Run]]:
    """Return the forms of the program and what yields the steps to check of each: those that were
    recorded, unless options choose passes or a schedule."""
    if program.recorded and not chosen.places_passes and chosen.schedule is None:
        return [("as recorded", lambda _: program.recorded)]
    trace = chosen.schedule_trace()

    def run_of(module: IRModule, pipelines: Sequence[Pipeline]) -> _Run:
        levels = (LOOP_LEVEL, GRAPH_LEVEL)
        return lambda apply: recorded(
            scheduled_steps(module, trace, pipelines, apply=apply), levels
        )

    return [(form, run_of(ir, pipelines)) for form, ir, pipelines in chosen.forms(program)]
