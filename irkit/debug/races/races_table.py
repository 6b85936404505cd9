"""The table of ``irkit check --races``."""

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from irkit.debug.races.stages import StageRaces
from irkit.proof import RaceStatus

_COLUMNS: tuple[RaceStatus, ...] = ("independent", "depends on data", "not known", "carried")


def races_table(stages: Iterable[StageRaces]) -> Table:
    """Return a table with a row for each stage of each function, and its numbers of loops."""
    table = Table()
    for name in ("stage", "function"):
        table.add_column(name, no_wrap=True)
    for name in ("loops", *_COLUMNS):
        table.add_column(name, justify="right", no_wrap=True)
    for each in stages:
        counts = [sum([loop.status == name for loop in each.loops]) for name in _COLUMNS]
        cells = (each.stage, each.function, str(len(each.loops)), *map(str, counts))
        style = "bold red" if each.is_wrong else "" if not each.others else "yellow"
        table.add_row(*map(Text, cells), style=style)
    return table
