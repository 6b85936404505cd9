"""FIXME Find the pass that breaks the loop IR in FILE, and the rewrite inside it; or the step of
its"""

import sys
from typing import Any

import click

from irkit.cli.flags.check_flags import check_options, loop_passes_until, with_check_flags
from irkit.cli.flags.files import FILE, read_module
from irkit.cli.flags.isolation_flags import with_isolation_flags
from irkit.cli.flags.placement import WithPasses, flow_of
from irkit.cli.flags.schedule_flag import SCHEDULE, schedule_from
from irkit.cli.notes import note
from irkit.debug import IsolationPolicy, bisect


@click.command("bisect", cls=WithPasses)
@click.argument("file", type=FILE)
@with_check_flags
@SCHEDULE
@with_isolation_flags
def bisect_(
    file: str,
    passes: tuple[str, ...],
    disabled: tuple[str, ...],
    stop_after: int | None,
    schedule: str | None,
    guard: IsolationPolicy,
    **how: Any,
) -> None:
    """Find the pass that breaks the loop IR in FILE, and the rewrite inside it; or the step of its
    schedule.

    The exit code is 1 if there is one.

    \b
      irkit bisect kernel.irs --pass '2:my_package.passes:my_pass'
    """
    pipeline = loop_passes_until(flow_of(passes, disabled), stop_after)
    given = check_options(**how)
    with guard.running(note) as apply:
        found = bisect(
            pipeline,
            read_module(file),
            **given,
            apply=apply,
            failed=guard.report,
            schedule=schedule_from(schedule),
        )
    click.echo(str(found) if found is not None else "every step keeps the meaning")
    sys.exit(0 if found is None else 1)
