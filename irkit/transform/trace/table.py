"""Steps as an HTML table that needs no style sheet, for notebooks."""

import html
from collections.abc import Sequence

from irkit.core import MAX_PAGE_BYTES
from irkit.transform.step import Step

_GREY = ' style="color:#808080"'
_HEAD = "".join(
    f"<th>{name}</th>" for name in ("step", "phase", "pass", "function", "changed", "ms")
)
_MAX_CELL = 200


def step_table(steps: Sequence[Step], title: str) -> str:
    """Return a table of as many steps as there is room for, with the number of those left out."""
    rows: list[str] = []
    room = MAX_PAGE_BYTES - 2_000
    for at, step in enumerate(steps):
        made = _row(step)
        room -= len(made.encode(errors="replace"))
        if room < 0:
            rows.append(f'<tr><td colspan="6">and {len(steps) - at} more steps</td></tr>')
            break
        rows.append(made)
    caption = f"<caption>{_cell(title) or 'trace'}: {len(steps)} steps</caption>"
    return f"<table>{caption}<tr>{_HEAD}</tr>{''.join(rows)}</table>"


def _row(step: Step) -> str:
    phase = f"{step.level.name} {step.phase}"
    function = step.function or "the module"
    changed, milliseconds = ("yes" if step.changed else "no"), f"{step.seconds * 1e3:.2f}"
    texts = (str(step.index), phase, step.pass_text, function, changed, milliseconds)
    cells = "".join(f"<td>{_cell(text)}</td>" for text in texts)
    return f"<tr{'' if step.changed else _GREY}>{cells}</tr>"


def _cell(text: str) -> str:
    return html.escape(text if len(text) <= _MAX_CELL else f"{text[:_MAX_CELL]}...")
