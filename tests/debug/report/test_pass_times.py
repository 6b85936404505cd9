"""Times of passes, as a table and as a timeline."""

import json

from irkit.core import console
from irkit.debug import chrome_trace, time_table
from tests.debug.report.annotated_steps import STEPS


def test_the_timeline_has_a_row_for_each_function() -> None:
    events = json.loads(chrome_trace(STEPS))["traceEvents"]
    rows = {e["args"]["name"]: e["tid"] for e in events if e["ph"] == "M"}
    assert set(rows) == {"f", "g", "module"}
    spans = [(e["name"], e["tid"], e["args"]["changed"]) for e in events if e["ph"] == "X"]
    assert spans == [
        ("unroll", rows["f"], True),
        ("unroll", rows["g"], True),
        ("drop-g", rows["module"], True),
    ]


def test_times_add_up() -> None:
    screen = console()
    with screen.capture() as shown:
        screen.print(time_table(STEPS))
    lines = shown.get().splitlines()
    assert "unroll" in shown.get()
    assert f"{sum(step.seconds for step in STEPS) * 1e3:.2f}" in lines[-2]
    with screen.capture() as shown:
        screen.print(time_table([]))  # Nothing to divide by.
    assert "all passes" in shown.get()
