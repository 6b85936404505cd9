"""The verb trace of the ``irkit`` command."""

import difflib

import click

from irkit.cli.flags.files import FILE
from irkit.cli.flags.programs import load_trace
from irkit.cli.output.json_results import echo_json, trace_json
from irkit.core import IRKitError
from irkit.debug import remarks
from irkit.graph import GRAPH_LEVEL
from irkit.transform import Trace


@click.command("trace")
@click.argument("file", type=FILE)
@click.option("--step", type=int, metavar="NUMBER", help="Show what one step changed.")
@click.option("--ir", is_flag=True, help="With --step: print the IR after it instead.")
@click.option(
    "--loop-times",
    metavar="FUNCTION",
    help="Run a function, as it is after its last step, and print the time of each loop.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the list of steps as JSON.")
def trace(file: str, step: int | None, ir: bool, loop_times: str | None, as_json: bool) -> None:
    """Show what every pass did, from the trace in FILE; a star marks the steps that changed
    something. --step also shows the remarks of a step, such as the schedule it chose. If the file
    is damaged, what is before the damage is shown, and a message on standard error says so.

    \b
      irkit trace squeezenet.trace
      irkit trace squeezenet.trace --step 12
      irkit trace squeezenet.trace --loop-times conv_relu
    """
    if ir and step is None:
        raise click.UsageError("--ir needs --step")
    if as_json and step is not None:
        raise click.UsageError("--json lists all steps; it cannot be given with --step")
    if loop_times is not None and (as_json or step is not None):
        raise click.UsageError("--loop-times cannot be given with --step or --json")
    loaded = load_trace(file)
    if loop_times is not None:
        from irkit.inspector_web.jobs import time_loops_of

        click.echo(time_loops_of(loaded, loop_times))
        return
    if as_json:
        echo_json(trace_json(loaded))
        return
    if step is None:
        click.echo("".join(_listed(loaded)), nl=False)
        return
    if not 0 <= step < len(loaded):
        raise IRKitError(f"{file} has {len(loaded)} steps, numbered from 0; there is no {step}")
    before, after = loaded[step].scripts(loaded.names)
    if ir:
        click.echo(after, nl=False)
        return
    sides = (before.splitlines(keepends=True), after.splitlines(keepends=True))
    lines = difflib.unified_diff(*sides, "before", "after")
    click.echo("".join(lines) or f"{loaded[step].name} changed nothing\n", nl=False)
    for each in remarks([loaded[step]]):
        click.echo(f"remark: {each}")


def _listed(steps: Trace) -> list[str]:
    return [
        f"{step.index:5} {'*' if step.changed else ' '} "
        f"{'graph' if step.level is GRAPH_LEVEL else step.phase!s:5} {step.pass_text:40} "
        f"{step.function or 'the module'}\n"
        for step in steps
    ]
