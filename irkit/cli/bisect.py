"""The verb bisect of the ``irkit`` command."""

import sys

import click

from irkit.cli.flags.check_flags import CheckFlags, with_check_flags
from irkit.cli.flags.files import FILE, read_module
from irkit.cli.flags.isolation_flags import with_isolation_flags
from irkit.cli.flags.placement import WithPasses
from irkit.cli.notes import note
from irkit.debug import IsolationPolicy, bisect


@click.command("bisect", cls=WithPasses)
@click.argument("file", type=FILE)
@with_check_flags
@with_isolation_flags
def bisect_(file: str, chosen: CheckFlags, guard: IsolationPolicy) -> None:
    """Find the pass that breaks the loop IR in FILE, and the rewrite inside it, or the step of its
    schedule.

    The exit code is 1 if one is found.

    \b
      irkit bisect kernel.irs --pass '2:my_package.passes:my_pass'
    """
    pipeline = chosen.loop_passes()
    options = chosen.options()
    with guard.running(note) as apply:
        found = bisect(
            pipeline,
            read_module(file),
            **options,
            apply=apply,
            failed=guard.report,
            schedule=chosen.schedule_trace(),
        )
    click.echo(str(found) if found is not None else "every step keeps the meaning")
    sys.exit(0 if found is None else 1)
