"""``--schedule``: a schedule to run before the passes."""

import click

from irkit.cli.flags.files import FILE
from irkit.debug import NO_SCHEDULE
from irkit.schedule import ScheduleTrace

SCHEDULE = click.option(
    "--schedule",
    type=FILE,
    metavar="TRACE.json",
    help="Run this schedule first; `sch.trace.save` writes such files.",
)


def schedule_from(path: str | None) -> ScheduleTrace:
    """Return the schedule that ``--schedule`` names, or an empty one without the option."""
    return NO_SCHEDULE if path is None else ScheduleTrace.load(path)
