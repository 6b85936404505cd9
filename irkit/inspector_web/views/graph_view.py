"""A graph function as boxes in layers, with fused functions drawn as groups.

Each binding uses only earlier ones, so one traversal finds the layers: a box is one below the
lowest box that it uses. Boxes keep their places from the previous view if possible, so that a pass
moves only what it changed.
"""

from collections.abc import Iterator
from typing import Literal

import msgspec

from irkit.graph import (
    Apply,
    Bind,
    Constant,
    GraphFunc,
    Invoke,
    Lambda,
    Op,
    TensorType,
    Value,
    used_inside,
)
from irkit.inspector_web.limits import DEEPEST, MOST_BOXES, MOST_INSIDE
from irkit.inspector_web.text.texts import PrintedFunction
from irkit.inspector_web.views.graph_layout import Layers, columns, order
from irkit.ir import Var, as_int

BoxKind = Literal["input", "operator", "group", "call", "other", "several"]
WIDTH, HEIGHT = 160, 40
APART, BELOW = 24, 48
KEPT = 0.8
"""Share of the boxes that a graph has in common with its last view if that view is followed."""


class Box(msgspec.Struct, omit_defaults=True):
    """A box of the graph.

    ``key`` stays the same from pass to pass; ``group`` is the key of its group; ``line`` is the
    printed line, from 1; ``type`` is that of the value; ``constants`` counts the weights that it
    uses, ``count`` the operators that it stands for. Units: ``x`` and ``y``, of the upper left
    corner, are pixels.
    """

    key: str
    kind: BoxKind
    label: str
    line: int = 0
    group: str = ""
    x: int = 0
    y: int = 0
    layer: int = 0
    constants: int = 0
    count: int = 1
    result: bool = False
    type: str = ""


class GroupFrame(msgspec.Struct, frozen=True):
    """The frame around the boxes of a group. Units: pixels."""

    key: str
    label: str
    x: int
    y: int
    width: int
    height: int


class GraphView(msgspec.Struct):
    """Boxes, arrows between them (by key), and frames.

    ``routes`` maps the number of an arrow that passes layers to its bends: x, y, x, y.
    ``collapsed`` if boxes stand for several operators, because the graph is large.
    """

    boxes: list[Box]
    arrows: list[tuple[str, str]]
    frames: list[GroupFrame]
    width: int
    height: int
    collapsed: bool = False
    routes: dict[int, list[int]] = {}


class _Drawing:
    """The boxes and arrows of a graph; ``made`` maps values to the boxes that compute them."""

    def __init__(self, part: PrintedFunction, grouped: bool) -> None:
        self.part, self.starts = part, part.starts
        self.grouped = grouped
        self.boxes: dict[str, Box] = {}
        self.arrows: dict[tuple[str, str], None] = {}
        self.made: dict[int, str] = {}
        self.constants: set[int] = set()
        self.lambdas: dict[int, tuple[Bind, Lambda]] = {}
        self.inside = self.depth = 0
        self.outside: dict[int, str] = {}  # Names that results of groups have outside of them.

    def add_box(
        self, value: Value, kind: BoxKind, label: str, bind: Bind | None, group: str
    ) -> Box:
        """Add a box, named after the value that it computes."""
        key = self.outside.get(id(value), value.name)
        while key in self.boxes:
            key += "'"
        line = 0 if bind is None else self.starts.get(id(bind), 0)
        made = self.boxes[key] = Box(key, kind, label, line, group, type=_type_text(value))
        self.made[id(value)] = key
        return made

    def add_arrows(self, box: Box, values: Iterator[Value] | tuple[Value, ...]) -> None:
        """Add arrows to a box from the boxes that compute what it uses."""
        for value in values:
            if id(value) in self.constants:
                box.constants += 1
                continue
            source = self.made.get(id(value))
            if source is not None and source != box.key:
                self.arrows[source, box.key] = None
                box.layer = max(box.layer, self.boxes[source].layer + 1)

    def add_bindings(self, bindings: tuple[Bind, ...], group: str) -> None:
        for bind in bindings:
            step = bind.step
            if isinstance(step, Constant):
                self.constants.add(id(bind.var))
            elif isinstance(step, Lambda):
                self.lambdas[id(bind.var)] = bind, step
            elif isinstance(step, Apply) and id(step.callee) in self.lambdas:
                self._add_call(bind, step)
            else:
                kind, label = _kind_and_label(bind)
                self.add_arrows(self.add_box(bind.var, kind, label, bind, group), used_inside(step))

    def _add_call(self, bind: Bind, step: Apply) -> None:
        """Add a call of a fused function, as one box or as the boxes inside it."""
        binder, function = self.lambdas[id(step.callee)]
        inner = sum(not isinstance(each.step, Constant) for each in function.body.bindings)
        self.inside += 1 + inner
        if self.grouped or self.depth >= DEEPEST or self.inside > MOST_INSIDE:
            box = self.add_box(bind.var, "group", binder.var.name, bind, "")
            box.count = max(1, inner)
            self.add_arrows(box, step.args)
            return
        # Invalid IR can have the wrong number of arguments: not strict.
        for param, given in zip(function.params, step.args, strict=False):
            if id(given) in self.constants:
                self.constants.add(id(param))
            elif id(given) in self.made:
                self.made[id(param)] = self.made[id(given)]
        self.outside[id(function.body.result)] = bind.var.name
        self.depth += 1
        self.add_bindings(function.body.bindings, bind.var.name)
        self.depth -= 1
        result = self.made.get(id(function.body.result))
        if result is not None:
            self.made[id(bind.var)] = result


def _type_text(value: Value) -> str:
    """Return the type of a tensor in short form; other types are only in the text."""
    if not isinstance(value.type, TensorType):
        return ""
    sizes = [dim.name if isinstance(dim, Var) else as_int(dim) for dim in value.type.shape]
    shape = "\u00d7".join("?" if size is None else str(size) for size in sizes)
    return f"{value.type.dtype} {shape}".strip()


def _kind_and_label(bind: Bind) -> tuple[BoxKind, str]:
    match bind.step:
        case Op(name):
            return "operator", name
        case Invoke(function):
            return "call", function
        case step:
            return "other", type(step).__name__.lower()


def graph_view(
    part: PrintedFunction, previous: GraphView | None = None, *, most: int = MOST_BOXES
) -> GraphView:
    """Lay out a graph function. ``previous`` is its view before the pass.

    Above ``most`` boxes, a fused group is one box, and so is a chain of operators.
    """
    func = part.func
    assert isinstance(func, GraphFunc), "only graph functions have a graph"
    drawing = _draw(func, part, grouped=False)
    collapsed = len(drawing.boxes) > most
    if collapsed:
        drawing = _draw(func, part, grouped=True)
        if len(drawing.boxes) > most:
            _join_chains(drawing)
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
    return GraphView(boxes, links, _frames(boxes), width, height, collapsed, routes)


def _draw(func: GraphFunc, part: PrintedFunction, *, grouped: bool) -> _Drawing:
    drawing = _Drawing(part, grouped)
    for param in func.params:
        drawing.add_box(param, "input", param.name, None, "")
    drawing.add_bindings(func.body.bindings, "")
    result = drawing.made.get(id(func.body.result))
    if result is not None:
        drawing.boxes[result].result = True
    return drawing


def _join_chains(drawing: _Drawing) -> None:
    """Merge chains of boxes: each is used by the next one only, which uses nothing else."""
    after: dict[str, list[str]] = {}
    before: dict[str, list[str]] = {}
    for source, target in drawing.arrows:
        after.setdefault(source, []).append(target)
        before.setdefault(target, []).append(source)
    stands_for: dict[str, str] = {}
    for key, box in list(drawing.boxes.items()):
        above = before.get(key, [])
        if len(above) == 1 and len(after[above[0]]) == 1 and box.kind != "input":
            head = stands_for.get(above[0], above[0])
            if drawing.boxes[head].kind != "input":
                stands_for[key] = head
                _merge_into(drawing.boxes[head], drawing.boxes.pop(key))
    arrows = {
        (stands_for.get(source, source), stands_for.get(target, target)): None
        for source, target in drawing.arrows
    }
    drawing.arrows = {pair: None for pair in arrows if pair[0] != pair[1]}
    for box in drawing.boxes.values():
        box.layer = 0
    for source, target in drawing.arrows:  # In the order of the text, so earlier layers are final.
        boxes = drawing.boxes
        boxes[target].layer = max(boxes[target].layer, boxes[source].layer + 1)


def _merge_into(head: Box, box: Box) -> None:
    head.count += box.count
    head.constants += box.constants
    head.result = head.result or box.result
    head.type = box.type
    head.kind, head.label = "several", f"{head.label.split(' … ')[0]} … {box.label}"


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


def _place(boxes: list[Box], drawing: _Drawing, previous: GraphView) -> None:
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


def _frame_around(key: str, label: str, inside: list[Box]) -> GroupFrame:
    edge = APART // 3
    left, top = min(box.x for box in inside), min(box.y for box in inside)
    right, bottom = max(box.x for box in inside), max(box.y for box in inside)
    width, height = right - left + WIDTH + 2 * edge, bottom - top + HEIGHT + 2 * edge
    return GroupFrame(key, label, left - edge, top - edge, width, height)


def _overlap(frame: GroupFrame, box: Box) -> bool:
    beside = box.x + WIDTH <= frame.x or frame.x + frame.width <= box.x
    return not beside and box.y + HEIGHT > frame.y and frame.y + frame.height > box.y
