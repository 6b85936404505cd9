"""Time spent in passes: tables, and a timeline for browsers."""

from collections.abc import Iterable
from typing import Any

import msgspec
from rich.table import Table
from rich.text import Text

from irkit.debug.report.summary import summarize
from irkit.transform import Step

MOST_FUNCTIONS = 20
"""Functions that a table of times has rows for."""


def time_table(steps: Iterable[Step]) -> Table:
    """Return a table of passes, the slowest first: milliseconds, share, runs; without checks."""
    rows = sorted(summarize(steps), key=lambda row: -row.seconds)
    total = sum(row.seconds for row in rows)
    table = Table(title="time in passes, without checks", title_justify="left")
    for name in ("ms", "%", "ran", "phase"):
        table.add_column(name, justify="right")
    table.add_column("pass")
    for row in rows:
        share = 100 * row.seconds / total if total else 0.0
        phase = "graph" if row.level == "graph" else str(row.phase)
        table.add_row(f"{row.seconds * 1e3:.2f}", f"{share:.1f}", str(row.runs), phase, row.name)
    table.add_section()
    table.add_row(f"{total * 1e3:.2f}", "100.0", "", "", "all passes")
    return table


def function_time_table(steps: Iterable[Step]) -> Table:
    """Return a table of the functions that passes took longest for: milliseconds, share, and the
    slowest pass of each with its milliseconds; without checks."""
    spent: dict[str, dict[str, float]] = {}
    for step in steps:
        passes = spent.setdefault(step.function, {})
        passes[step.name] = passes.get(step.name, 0.0) + step.seconds
    total = sum(sum(passes.values()) for passes in spent.values())
    table = Table(title="time in passes, by function", title_justify="left")
    for name in ("ms", "%"):
        table.add_column(name, justify="right")
    for name in ("function", "slowest pass"):
        table.add_column(name)
    rows = sorted(spent.items(), key=lambda item: -sum(item[1].values()))
    for function, passes in rows[:MOST_FUNCTIONS]:
        seconds = sum(passes.values())
        share = 100 * seconds / total if total else 0.0
        slowest = max(passes, key=passes.__getitem__)
        name = Text(function or "the module")
        most = f"{slowest} {passes[slowest] * 1e3:.2f}"
        table.add_row(f"{seconds * 1e3:.2f}", f"{share:.1f}", name, most)
    if len(rows) > MOST_FUNCTIONS:
        rest = sum(sum(passes.values()) for _, passes in rows[MOST_FUNCTIONS:])
        share = 100 * rest / total if total else 0.0
        count = f"{len(rows) - MOST_FUNCTIONS} more"
        table.add_row(f"{rest * 1e3:.2f}", f"{share:.1f}", count, "")
    return table


def chrome_trace(steps: Iterable[Step]) -> bytes:
    """Write steps, one after another, in the format of Chrome's tracing (also read by Perfetto).

    Units: microseconds. Each function has its own row.
    """
    events: list[dict[str, Any]] = []
    rows: dict[str, int] = {}
    at = 0.0
    for step in steps:
        row = rows.setdefault(step.function, len(rows))
        micros = step.seconds * 1e6
        events.append(
            {
                "name": step.name,
                "cat": f"{step.level.name} {step.phase} {step.phase_name}",
                "ph": "X",
                "ts": round(at, 3),
                "dur": round(micros, 3),
                "pid": 1,
                "tid": row,
                "args": {
                    "pass": step.pass_text,
                    "function": step.function,
                    "changed": step.changed,
                    "rewrites": step.applications,
                },
            }
        )
        at += micros
    names = [
        {
            "name": "thread_name",
            "ph": "M",
            "pid": 1,
            "tid": row,
            "args": {"name": function or "module"},
        }
        for function, row in rows.items()
    ]
    return msgspec.json.encode({"traceEvents": [*names, *events], "displayTimeUnit": "ms"})
