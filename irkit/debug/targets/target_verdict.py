"""What a comparison of two targets found."""

from collections.abc import Iterable
from typing import Literal

import msgspec
from rich.table import Table
from rich.text import Text

from irkit.debug.check.difference import Difference

TargetStatus = Literal["same", "rounds differently", "differs", "failed", "not known"]


class LineDifference(msgspec.Struct, frozen=True):
    """The first line, in the order of serial code, that stores or names something else.

    ``number`` is its line in the IR after the phases, from 1, and ``text`` the line. ``entry``
    counts the elements that were stored, and the values that were named, before it. ``place`` is
    the index in the flat buffer, None for a value with a name. ``values`` are by target, as text,
    with the interpreter's, if it was not too slow. ``branched`` if the targets were on different
    lines there: what ``text`` is for the first of them, ``other`` is for the second. ``written``
    is the place in the user's text.
    """

    number: int
    text: str
    entry: int
    place: int | None
    values: dict[str, str]
    branched: bool = False
    other: str = ""
    written: str = ""


class TargetVerdict(msgspec.Struct, frozen=True):
    """Result of the comparison of one function on two targets.

    ``same``: the same bits, where NaN equals NaN; ``rounds differently``: other bits, within the
    bounds of rounding; ``differs``: other numbers, or only one of the two ends with an error;
    ``failed``: one cannot be built, or crashes; ``not known``: could not be tried, for the reason
    in ``message``. ``error`` is about the first wrong element, in ``buffer``: ``expected`` is the
    first target's. ``right`` names the target that gives what the interpreter gives, if one does.
    """

    function: str
    first: str
    second: str
    status: TargetStatus
    error: Difference = Difference()
    buffer: str = ""
    inputs: str = ""
    tried: str = ""
    message: str = ""
    right: str = ""
    line: LineDifference | None = None

    @property
    def is_wrong(self) -> bool:
        """Return True if the two targets do not mean the same."""
        return self.status in ("differs", "failed")

    @property
    def element(self) -> str:
        """Return the first element that differs, or an empty text."""
        if self.error.at is None:
            return ""
        at = f"[{', '.join(map(str, self.error.at))}]"
        found = f"{self.error.expected} by {self.first}, {self.error.found} by {self.second}"
        return f"{self.buffer}{at} is {found}"

    def __str__(self) -> str:
        what = f"{self.function!r} on {self.first} and {self.second}: {self.status}"
        if self.inputs and self.status not in ("same", "rounds differently"):
            what += f" on {self.inputs}"
        lines = [": ".join(filter(None, (what, self.element, self.message)))]
        if self.right:
            lines.append(f"  the interpreter gives what {self.right} gives")
        if self.line is not None:
            lines += [f"  {each}" for each in _about(self.line, self.first, self.second)]
        return "\n".join(lines)


def _about(line: LineDifference, first: str, second: str) -> list[str]:
    where = f"line {line.number} of the IR after the phases"
    where += f" ({line.written})" if line.written else ""
    after = f"after {line.entry} stored elements and named values"
    if line.branched:
        return [
            f"the first difference is where they go, {after}:",
            f"  {first}: {where}: {line.text.strip()}",
            f"  {second}: {line.other.strip()}",
        ]
    place = "" if line.place is None else f", at index {line.place}"
    values = "; ".join(f"{name}: {value}" for name, value in line.values.items())
    return [
        f"the first line that differs, {after}{place}: {where}",
        f"  {line.text.strip()}",
        f"  {values}",
    ]


def target_table(verdicts: Iterable[TargetVerdict]) -> Table:
    """Return a table of verdicts: function, targets, verdict, error, line, element or reason."""
    table = Table()
    for name in ("function", "targets", "verdict"):
        table.add_column(name, no_wrap=True)
    for name in ("abs", "ulp", "line"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("first wrong element, or why, or what was tried")
    colours = {"same": "", "rounds differently": "", "not known": "yellow"}
    for each in verdicts:
        sizes = [f"{size:.3g}" if size else "-" for size in (each.error.abs, each.error.ulp)]
        line = "-" if each.line is None else str(each.line.number)
        about = each.element or each.message or each.tried
        cells = (each.function, f"{each.first}, {each.second}", each.status, *sizes, line, about)
        table.add_row(*map(Text, cells), style=colours.get(each.status, "bold red"))
    return table
