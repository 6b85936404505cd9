"""Tables for the terminal."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from irkit.debug.check.verdict import Verdict
from irkit.debug.report.summary import PassRow, RuleRow


def pass_table(rows: Iterable[PassRow], title: str = "") -> Table:
    """Return a table of passes: phase, pass, runs, changes, time, and nodes before and after."""
    table = Table(title=title or None, title_justify="left")
    for name in ("phase", "pass"):
        table.add_column(name, no_wrap=True)
    for name in ("ran", "changed", "ms", "nodes before", "after"):
        table.add_column(name, justify="right", no_wrap=True)
    total = 0.0
    for row in rows:
        total += row.seconds
        phase = "graph" if row.level == "graph" else str(row.phase)
        changed = str(row.changed) if row.changed else "-"
        counts = (
            str(row.runs),
            changed,
            f"{row.seconds * 1e3:.1f}",
            str(row.before),
            str(row.after),
        )
        table.add_row(phase, escape(row.name), *counts, style=None if row.changed else "dim")
    table.add_section()
    table.add_row("", "all passes", "", "", f"{total * 1e3:.1f}", "", "")
    return table


def rule_table(rows: Iterable[RuleRow], title: str = "") -> Table:
    """Return a table of rules: phase, pass, rule, how often it fired, the time in it, the rounds to
    a fixpoint, its place in the source."""
    table = Table(title=title or None, title_justify="left")
    numbers = ("fired", "ms", "rounds")
    for name in ("phase", "pass", "rule", *numbers, "written at"):
        table.add_column(name, justify="right" if name in numbers else "left", no_wrap=True)
    for row in rows:
        phase = "graph" if row.level == "graph" else str(row.phase)
        where = "" if row.span is None else f"{row.span.file}:{row.span.line}"
        spent = f"{row.seconds * 1e3:.2f}" if row.seconds else "-"
        counts = str(row.fired), spent, str(row.rounds or "-")
        table.add_row(*map(Text, (phase, row.pass_name, row.rule, *counts, where)))
    return table


def verdict_table(
    verdicts: Iterable[Verdict], not_isolated: Mapping[str, str] = MappingProxyType({})
) -> Table:
    """Return a table of verdicts, with the largest errors and the first wrong element.

    The other columns are phase, pass and function. ``not_isolated`` gives the reason why a pass of
    a name ran in this process, which its rows say.
    """
    table = Table()
    for name in ("phase", "pass", "function", "verdict"):
        table.add_column(name, no_wrap=True)
    for name in ("abs", "rel", "ulp"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("first wrong element, or why, or what was tried")
    colours = {"same": "", "rounds differently": "", "not known": "yellow"}
    for each in verdicts:
        error = each.error
        sizes = [f"{size:.3g}" if size else "-" for size in (error.abs, error.rel, error.ulp)]
        phase = each.phase_text.removeprefix("phase ")
        where = (
            f"ran in this process: {not_isolated[each.name]}" if each.name in not_isolated else ""
        )
        about = "; ".join(filter(None, (_first_wrong(each), where)))
        cells = (phase, each.pass_text, each.function, each.said, *sizes, about)
        table.add_row(*map(Text, cells), style=colours.get(each.status, "bold red"))
    return table


def _basis(verdict: Verdict) -> str:
    """Return what a verdict rests on, and what is known of loops without an order."""
    basis = f"{verdict.basis} on {verdict.tried}" if verdict.tried else ""
    basis = "proved for all values" if verdict.basis == "proved" else basis
    some = f"proved for {verdict.sizes}" if verdict.sizes else ""
    what = "not for all values" if some else "not proved"
    missing = f"{what}: {verdict.unproved}" if verdict.unproved else ""
    trust = "" if verdict.trust is None else str(verdict.trust)
    parts = (trust, some, basis, verdict.unused, missing, verdict.order)
    return "; ".join(filter(None, parts))


def _first_wrong(verdict: Verdict) -> str:
    error = verdict.error
    if error.at is None:
        return verdict.message.partition("\n")[0] or _basis(verdict)
    at = ", ".join(map(str, error.at))
    return f"{verdict.buffer}[{at}] = {error.found}, expected {error.expected} ({verdict.inputs})"
