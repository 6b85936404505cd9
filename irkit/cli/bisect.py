"""The verb bisect of the ``irkit`` command."""

import sys
from collections.abc import Iterable
from typing import Any

import click

from irkit.cli.flags.check_flags import CheckFlags, with_check_flags
from irkit.cli.flags.files import NEW_FOLDER
from irkit.cli.flags.isolation_flags import with_isolation_flags
from irkit.cli.flags.placement import WithPasses
from irkit.cli.flags.programs import PROGRAM, ProgramFile
from irkit.cli.flags.progress import verdict_progress
from irkit.cli.output.json_results import bisect_json, echo_json
from irkit.cli.output.notes import note, note_not_isolated
from irkit.cli.reduction import write_guilty_step, write_reduced
from irkit.core import IRKitError
from irkit.debug import (
    CheckOptions,
    FailingCase,
    Failure,
    IsolationPolicy,
    Verdict,
    culprit_of,
    find_case,
    find_guilty_step,
    with_untouched_input,
)
from irkit.ir import PrimFunc
from irkit.processes import Limits
from irkit.transform import Apply


@click.command("bisect", cls=WithPasses)
@click.argument("file", type=PROGRAM)
@click.option(
    "-o",
    "--output",
    type=NEW_FOLDER,
    default="reduced",
    show_default=True,
    help="The folder that the reduced case is written to.",
)
@click.option("--no-reduce", is_flag=True, help="Name the rewrite only, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="The same, as JSON.")
@click.option(
    "--seconds",
    default=20.0,
    show_default=True,
    type=click.FloatRange(min=0.1, max=86_400),
    help="Stop making the case smaller after this time.",
)
@with_check_flags
@with_isolation_flags(users=True)
def bisect_(
    file: str,
    output: str,
    no_reduce: bool,
    as_json: bool,
    seconds: float,
    chosen: CheckFlags,
    guard: IsolationPolicy,
) -> None:
    """Find the pass that breaks the program in FILE, and the rewrite inside it, or the step of its
    schedule; then write a small case in which it does, and a pytest of it.

    FILE is an ONNX model, a trace, of which the first program counts, or IR text (.irs). The folder
    of the case is that of `irkit reduce`. The exit code is 1 if a pass is found.

    \b
      irkit bisect kernel.irs --pass '2:my_package.passes:my_pass'
      irkit bisect kernel.irs --pass '2:my_package.passes:my_pass' --json
      irkit bisect model.onnx --pass '2:my_package.passes:my_pass' -o smaller
    """
    program = chosen.program(file)
    options = chosen.options(program)
    own = chosen.own_passes(program)
    searching = CheckOptions(**options, together=program.is_of_kernels, trust_in=own)
    kept: list[Verdict] = []
    schedule = chosen.schedule_trace()
    with guard.running(note_not_isolated) as running:
        apply = with_untouched_input(running)
        forms, form, found = chosen.forms(program), "", None
        with verdict_progress(many=program.is_of_kernels) as progress:
            for form, module, pipelines in forms:  # noqa: B007 -- the last one is printed
                found = find_guilty_step(
                    pipelines,
                    module,
                    searching,
                    apply=apply,
                    failed=guard.report,
                    schedule=schedule,
                    progress=lambda each: (kept.append(each), progress(each)),
                )
                if found is not None:
                    break
        if found is None:
            if as_json:
                echo_json(bisect_json(program.damage, kept=kept))
            else:
                click.echo("every step keeps the meaning")
                _print_trust(kept)
            return
        culprit = culprit_of(found, searching, schedule=schedule, apply=apply)
        if as_json:
            echo_json(bisect_json(program.damage, form, culprit, kept))
            sys.exit(1)
        if len(forms) > 1:
            click.echo(f"loops {form}:")
        click.echo(str(culprit))
        _print_trust(kept)
        if not no_reduce:
            limits = Limits(guard.pass_timeout)
            try:
                click.echo()
                if schedule.steps:
                    case, failure = _case_of_schedule(program, chosen, options, apply)
                    write_reduced(
                        case, failure, output, seconds=seconds, limits=limits, apply=apply
                    )
                else:
                    write_guilty_step(
                        found, options, output, seconds=seconds, limits=limits, apply=apply
                    )
            except IRKitError as error:
                note(f"no reduced case: {error}")
    sys.exit(1)


def _print_trust(kept: Iterable[Verdict]) -> None:
    """Print how far the verdicts on the steps before can be trusted."""
    for each in kept:
        if each.trust is not None:
            click.echo(f"{each.phase_text}: '{each.pass_text}' on {each.function!r}: {each.trust}")


def _case_of_schedule(
    program: ProgramFile, chosen: CheckFlags, options: dict[str, Any], apply: Apply
) -> tuple[FailingCase, Failure]:
    (func,) = program.module.functions.values()
    assert isinstance(func, PrimFunc)
    (pipeline,) = chosen.pipelines(program)
    schedule = chosen.schedule_trace()
    case = find_case(pipeline, func, **options, schedule=schedule, apply=apply)
    if case is None:
        raise IRKitError("it does not fail again on the same inputs")
    return case
