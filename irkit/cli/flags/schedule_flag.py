"""FIXME Read what ``--schedule`` names; nothing to do without it."""

import click

from irkit.debug import NO_SCHEDULE
from irkit.schedule import ScheduleTrace

SCHEDULE = click.option(
    "--schedule",
    type=click.Path(exists=True, dir_okay=False),
    metavar="TRACE.json",
    help="Run this schedule first, which `sch.trace.save` wrote.",
)


def schedule_from(path: str | None) -> ScheduleTrace:
    """Read what ``--schedule`` names; nothing to do without it."""
    return NO_SCHEDULE if path is None else ScheduleTrace.load(path)
