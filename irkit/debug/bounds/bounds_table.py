"""The table of ``irkit check --bounds``."""

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from irkit.debug.bounds.stages import StageBounds
from irkit.proof import BoundsStatus

_COLUMNS: tuple[BoundsStatus, ...] = (
    "in bounds",
    "depends on data",
    "not known",
    "out of bounds",
)


def bounds_table(stages: Iterable[StageBounds]) -> Table:
    """Return a table with a row for each stage of each function, and its numbers of accesses."""
    table = Table()
    for name in ("stage", "function"):
        table.add_column(name, no_wrap=True)
    for name in ("accesses", *_COLUMNS):
        table.add_column(name, justify="right", no_wrap=True)
    for each in stages:
        counts = [sum([access.status == name for access in each.accesses]) for name in _COLUMNS]
        cells = (each.stage, each.function, str(len(each.accesses)), *map(str, counts))
        style = "bold red" if each.is_wrong else "" if not each.others else "yellow"
        table.add_row(*map(Text, cells), style=style)
    return table
