"""A graph function as boxes in layers, with fused functions drawn as groups.

Boxes keep their places from the previous view if possible, so that a pass moves only what it
changed.
"""

from collections.abc import Container

import msgspec

from irkit.graph import GraphFunc
from irkit.inspector_web.limits import MOST_BOXES
from irkit.inspector_web.text.texts import PrintedFunction
from irkit.inspector_web.views.graph_drawing import Box, Drawing, draw_graph, join_chains
from irkit.inspector_web.views.graph_folds import fold_repeats
from irkit.inspector_web.views.graph_layout import Layers, columns, order

WIDTH, HEIGHT = 160, 40
APART, BELOW = 24, 48
KEPT = 0.8
"""Share of the boxes that a graph has in common with its last view if that view is followed."""


class GroupFrame(msgspec.Struct, omit_defaults=True):
    """The frame around the boxes of a group, or of an opened ``fold``. Units: pixels."""

    key: str
    label: str
    x: int
    y: int
    width: int
    height: int
    fold: bool = False


class GraphView(msgspec.Struct):
    """Boxes, arrows between them (by key), and frames.

    ``routes`` maps the number of an arrow that passes layers to its bends: x, y, x, y.
    ``collapsed`` if boxes stand for several operators, because the graph is large; ``folds`` are
    the keys of all folds, opened ones too.
    """

    boxes: list[Box]
    arrows: list[tuple[str, str]]
    frames: list[GroupFrame]
    width: int
    height: int
    collapsed: bool = False
    routes: dict[int, list[int]] = {}
    folds: list[str] = []


def graph_view(
    part: PrintedFunction,
    previous: GraphView | None = None,
    *,
    most: int = MOST_BOXES,
    opened: Container[str] | None = None,
) -> GraphView:
    """Lay out a graph function. ``previous`` is its view before the pass.

    Repeated blocks are folded, except those ``opened``, by key; none is if that is None. Above
    ``most`` boxes, a fused group is one box, and so is a chain of operators.
    """
    func = part.func
    assert isinstance(func, GraphFunc), "only graph functions have a graph"
    drawing = draw_graph(func, part, grouped=False)
    if opened is not None:
        fold_repeats(drawing, opened)
    collapsed = len(drawing.boxes) > most
    if collapsed:
        drawing = draw_graph(func, part, grouped=True)
        if opened is not None:
            fold_repeats(drawing, opened)
        if len(drawing.boxes) > most:
            join_chains(drawing)
    boxes = list(drawing.boxes.values())
    links = list(drawing.arrows)
    _lower_sources(boxes, links)
    routes: dict[int, list[int]] = {}
    if previous is None or _is_other(boxes, previous):
        routes = _arrange(boxes, links)
    else:
        _place(boxes, drawing, previous)
        routes = previous.routes if links == previous.arrows else {}
    width = max((box.x + WIDTH for box in boxes), default=0) + APART
    height = max((box.y + HEIGHT for box in boxes), default=0) + APART
    frames = [*_fold_frames(drawing), *_frames(boxes)]
    folds = [*drawing.closed, *drawing.folds]
    return GraphView(boxes, links, frames, width, height, collapsed, routes, folds)


def _fold_frames(drawing: Drawing) -> list[GroupFrame]:
    """Frame the boxes of each opened fold, if no other box is between them."""
    frames: list[GroupFrame] = []
    for key, (label, inside) in drawing.folds.items():
        own = {box.key for box in inside}
        frame = _frame_around(key, label, inside, 2 * APART // 3)
        if not any(box.key not in own and _overlap(frame, box) for box in drawing.boxes.values()):
            frame.fold = True
            frame.y -= APART // 3  # Room for the names of groups at its top.
            frame.height += APART // 3
        frames.append(frame)
    return [frame for frame in frames if frame.fold]


def _arrange(boxes: list[Box], arrows: list[tuple[str, str]]) -> dict[int, list[int]]:
    """Place the boxes of a graph that is drawn for the first time; return the bends of arrows."""
    number = {box.key: at for at, box in enumerate(boxes)}
    links = [(number[source], number[target]) for source, target in arrows]
    layers = Layers([box.layer for box in boxes], links)
    middle = columns(layers, order(layers), WIDTH + APART, APART)
    for at, box in enumerate(boxes):
        box.x, box.y = round(middle[at] - WIDTH / 2 + APART / 2), _top(box.layer)
    return {
        at: [
            place
            for bend in bends
            for place in (
                round(middle[bend] + APART / 2),
                _top(layers.layer_of[bend]) + HEIGHT // 2,
            )
        ]
        for at, bends in layers.bends.items()
    }


def _lower_sources(boxes: list[Box], arrows: list[tuple[str, str]]) -> None:
    """Put what uses nothing right above its first user."""
    layer = {box.key: box.layer for box in boxes}
    used = {target for _, target in arrows}
    lowest: dict[str, int] = {}
    for source, target in arrows:
        lowest[source] = min(lowest.get(source, layer[target]), layer[target])
    for box in boxes:
        if box.key not in used and box.key in lowest:
            box.layer = lowest[box.key] - 1


def _is_other(boxes: list[Box], previous: GraphView) -> bool:
    """Return whether so much is new that old places would be no help."""
    old, new = {box.key for box in previous.boxes}, {box.key for box in boxes}
    return len(old & new) < KEPT * max(len(old), len(new))


def _top(layer: int) -> int:
    return APART + layer * (HEIGHT + BELOW)


def _place(boxes: list[Box], drawing: Drawing, previous: GraphView) -> None:
    """Place each box in its layer: where it was before, or else between the boxes that it uses."""
    known = {box.key: box.x for box in previous.boxes}
    above: dict[str, list[str]] = {}
    for source, target in drawing.arrows:
        above.setdefault(target, []).append(source)
    layers: dict[int, list[Box]] = {}
    for box in boxes:
        layers.setdefault(box.layer, []).append(box)
    columns: dict[str, int] = {}  # Columns of groups: their boxes go below each other.
    for layer in sorted(layers):
        wanted: list[tuple[int, int, Box]] = []
        for at, box in enumerate(layers[layer]):
            sources = [drawing.boxes[key].x for key in above.get(box.key, ())]
            middle = sum(sources) // len(sources) if sources else at * (WIDTH + APART)
            middle = columns.get(box.group, middle)
            wanted.append((known.get(box.key, middle), at, box))
        free = APART
        for x, _, box in sorted(wanted, key=lambda item: item[:2]):
            box.x, box.y = max(x, free), _top(layer)
            free = box.x + WIDTH + APART
            if box.group:
                columns.setdefault(box.group, box.x)


def _frames(boxes: list[Box]) -> list[GroupFrame]:
    """Frame the boxes of each group, one by one if another box is between them."""
    groups: dict[str, list[Box]] = {}
    for box in boxes:
        if box.group:
            groups.setdefault(box.group, []).append(box)
    frames: list[GroupFrame] = []
    for key, inside in groups.items():
        label = " ".join(box.label for box in inside)
        whole = _frame_around(key, label, inside)
        if any(box.group != key and _overlap(whole, box) for box in boxes):
            frames += [_frame_around(key, label, [box]) for box in inside]
        else:
            frames.append(whole)
    return frames


def _frame_around(key: str, label: str, inside: list[Box], edge: int = APART // 3) -> GroupFrame:
    left, top = min(box.x for box in inside), min(box.y for box in inside)
    right, bottom = max(box.x for box in inside), max(box.y for box in inside)
    width, height = right - left + WIDTH + 2 * edge, bottom - top + HEIGHT + 2 * edge
    return GroupFrame(key, label, left - edge, top - edge, width, height)


def _overlap(frame: GroupFrame, box: Box) -> bool:
    beside = box.x + WIDTH <= frame.x or frame.x + frame.width <= box.x
    return not beside and box.y + HEIGHT > frame.y and frame.y + frame.height > box.y
