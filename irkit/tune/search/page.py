"""A report of tuning as one HTML file: the curve, what was tried, and what the winner does."""

import difflib
from collections import Counter
from collections.abc import Sequence

from irkit.schedule import ScheduleTrace
from irkit.tune.records import Record, key_of
from irkit.tune.search.importance import importance
from irkit.tune.search.tuner import TuneResult

_SHOWN = 40
_WIDTH, _HEIGHT = 640, 160
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>irkit tune</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #1b1f24; background: #fff; }
table { border-collapse: collapse; } td, th { padding: .15rem .8rem; text-align: right; }
td.text, th.text { text-align: left; } tr:nth-child(even) { background: #f3f5f7; }
pre { background: #f3f5f7; padding: .8rem; overflow-x: auto; font-size: 13px; }
svg { background: #f8f9fa; } polyline { fill: none; stroke: #0b62b0; stroke-width: 2; }
circle { fill: #7a8794; } .bar { background: #0b62b0; height: .7rem; display: inline-block; }
</style>
<h1>irkit tune</h1>
<p>{{ machine }}</p>
{% for task in tasks %}
<h2>{{ task.name }}</h2>
<p>{{ task.summary }}</p>
<svg viewBox="0 0 {{ width }} {{ height }}" role="img" width="{{ width }}" height="{{ height }}">
<title>Best score so far, by trial</title>
{% for x, y in task.dots %}<circle cx="{{ x }}" cy="{{ y }}" r="2"/>{% endfor %}
<polyline points="{{ task.line }}"/></svg>
<h3>Decisions that matter</h3>
<table>{% for name, share in task.decisions %}
<tr><td class="text">{{ name }}</td><td>{{ "%.0f"|format(100 * share) }} %</td>
<td class="text"><span class="bar" style="width: {{ (8 * share)|round(2) }}rem"></span></td></tr>
{% endfor %}</table>
<h3>Candidates</h3>
<table><tr><th>times as fast</th><th>from</th><th>to</th><th>ms</th><th class="text">verdict</th>
<th class="text">decisions</th></tr>{% for row in task.rows %}
<tr>{% for cell in row[:4] %}<td>{{ cell }}</td>{% endfor %}<td class="text">{{ row[4] }}</td>
<td class="text">{{ row[5] }}</td></tr>{% endfor %}</table>
{% if task.schedule %}<h3>The winner's schedule</h3><pre>{{ task.schedule }}</pre>
<h3>From the default's loops to the winner's</h3><pre>{{ task.difference }}</pre>{% endif %}
{% endfor %}
"""


def tuning_page(results: Sequence[TuneResult]) -> str:
    """Return the report of some tasks as HTML that needs no other file."""
    from jinja2 import Environment, StrictUndefined  # A tenth of the time to import irkit.compile.

    made = Environment(autoescape=True, undefined=StrictUndefined).from_string(_PAGE)
    first = next((each.records[0] for each in results if each.records), None)
    machine = "" if first is None else f"{first.machine.fingerprint}, {first.machine.cores} cores"
    return made.render(
        tasks=[_task(each) for each in results], machine=machine, width=_WIDTH, height=_HEIGHT
    )


def _task(result: TuneResult) -> dict[str, object]:
    searched = [each for each in result.records if each.stage == "search"]
    failed = Counter(each.verdict for each in searched if each.verdict != "ok")
    failures = ", ".join(f"{count} {kind}" for kind, count in failed.most_common()) or "none"
    verdict = (
        f"{result.speedup:.2f} times as fast as the default ({result.low:.2f} to {result.high:.2f})"
        if result.improved
        else "the default stays"
    )
    schedule, difference = _difference(result)
    dots, line = _curve(searched)
    return {
        "name": result.task.name,
        "summary": f"{verdict}; {len(searched)} candidates in {result.seconds:.1f} s, failures: "
        f"{failures}; noise {100 * result.noise:.1f} %; rank correlation of what was expected with "
        f"what was measured {result.correlation:.2f}",
        "decisions": importance(searched),
        "rows": [_row(each) for each in _best(result.records)],
        "schedule": schedule,
        "difference": difference,
        "dots": dots,
        "line": line,
    }


def _best(records: Sequence[Record]) -> list[Record]:
    order = sorted(records, key=lambda each: (each.stage != "final", -each.score, each.id))
    return order[:_SHOWN]


def _row(record: Record) -> tuple[str, ...]:
    found = record.measure
    numbers = ("", "", "", "")
    if found is not None:
        times = (record.score, found.low, found.high)
        numbers = (*(f"{each:.3f}" for each in times), f"{found.seconds * 1e3:.4f}")
    verdict = record.verdict if record.verdict == "ok" else f"{record.verdict}: {record.message}"
    stage = "final, " if record.stage == "final" else ""
    return (*numbers, f"{stage}{verdict}", key_of(record.values))


def _curve(records: Sequence[Record]) -> tuple[list[tuple[float, float]], str]:
    """Return the candidates as points of the picture, and the line of the best so far."""
    scores = [each.score for each in records]
    top = max([1.0, *scores])
    step = _WIDTH / max(len(scores), 1)
    dots: list[tuple[float, float]] = []
    line: list[str] = []
    best = 1.0
    for at, score in enumerate(scores):
        best = max(best, score)
        x = round((at + 0.5) * step, 1)
        dots.append((x, round(_HEIGHT - 4 - (_HEIGHT - 12) * score / top, 1)))
        line.append(f"{x},{round(_HEIGHT - 4 - (_HEIGHT - 12) * best / top, 1)}")
    return dots, " ".join(line)


def _difference(result: TuneResult) -> tuple[str, str]:
    """Return the winner's schedule as Python, and how its loops differ from the default's."""
    if result.winner is None or result.winner.trace is None:
        return "", ""
    winner = result.task.space.derive(result.values)
    default = result.task.space.derive({})
    lines = difflib.unified_diff(
        default.func.script().splitlines(), winner.func.script().splitlines(), lineterm="", n=2
    )
    return ScheduleTrace(winner.trace.steps).as_python(), "\n".join(list(lines)[2:])
