"""Folds: one box in place of a run of equal blocks."""

import re
from collections.abc import Container

from irkit.inspector_web.views.graph_drawing import Box, Drawing, redirect
from irkit.inspector_web.views.kernels import shared_name
from irkit.inspector_web.views.repeated_blocks import Repeats, repeated_blocks

ALL = "*"
"""Stands for the keys of all folds."""
_NUMBERED = re.compile(r"(_\d+)+$")


def fold_repeats(drawing: Drawing, opened: Container[str]) -> None:
    """Put one box in place of each run of equal blocks, unless it is opened."""
    boxes = list(drawing.boxes.values())
    number = {box.key: at for at, box in enumerate(boxes)}
    uses: dict[int, list[int]] = {}
    for source, target in drawing.arrows:
        uses.setdefault(number[target], []).append(number[source])
    runs = repeated_blocks([_sort_of(box) for box in boxes], uses, [box.group for box in boxes])
    stands_for: dict[str, str] = {}
    made: dict[str, Box] = {}
    for run in runs:
        inside = boxes[run.first : run.end]
        made_box = _folded(drawing, inside, run)
        if made_box.key in opened or ALL in opened:
            drawing.folds[made_box.key] = f"{made_box.label} \u00d7 {run.count}", inside
        else:
            drawing.closed.append(made_box.key)
            made[inside[0].key] = made_box
            stands_for.update((box.key, made_box.key) for box in inside)
    drawing.boxes = {}
    for box in boxes:
        shown = made.get(box.key, box)
        if shown is not box or box.key not in stands_for:
            drawing.boxes[shown.key] = shown
    if made:
        redirect(drawing, stands_for)


def _sort_of(box: Box) -> str:
    """Return what equal blocks must have in common at a box: calls of similar kernels are equal."""
    label = _NUMBERED.sub("", box.label) if box.kind in ("call", "group") else box.label
    return f"{box.kind} {label} {box.type.split(' ')[0]} {box.constants}"


def _folded(drawing: Drawing, inside: list[Box], run: Repeats) -> Box:
    first, last = inside[: run.length], inside[-run.length :]
    names = [
        shared_name([name for box in block for name in drawing.weights.get(box.key, [])])
        for block in (first, last)
    ]
    if not all(names) or names[0] == names[1]:
        names = [first[0].label, first[-1].label]
    return Box(
        f"fold {inside[0].key}",
        "fold",
        " \u2026 ".join(names),
        constants=sum([box.constants for box in inside]),
        count=sum([box.count for box in inside]),
        result=any(box.result for box in inside),
        type=inside[-1].type,
        times=run.count,
        inside=list(dict.fromkeys(box.group or box.key for box in inside)),
    )
