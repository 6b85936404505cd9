"""A graph function as boxes in layers, with what was fused drawn as groups.

Bindings stand in an order in which each uses earlier ones only, so the layer of a box is one more
than that of the lowest it uses, and nothing has to be searched. Boxes keep the place that they had
in the view before where they can, so that a pass moves only what it changed.
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
from irkit.inspector_web.text.texts import PrintedFunction
from irkit.ir import Var, as_int

BoxKind = Literal["input", "operator", "group", "call", "other", "several"]
MOST_BOXES = 500
MOST_INSIDE, DEEPEST = 20 * MOST_BOXES, 40
"""Bindings of fused functions that are drawn one by one, and how deep inside each other: a function
that calls twice one that calls twice another soon is more than there is room for."""
WIDTH, HEIGHT = 160, 40
APART, BELOW = 24, 48


class Box(msgspec.Struct, omit_defaults=True):
    """One box: where it lies (pixels, of its upper left corner), and what it is.

    ``key`` stays the same from pass to pass; ``group`` is the key of the group it lies in; ``line``
    the printed line, from 1; ``type`` is that of the value; ``constants`` counts the weights it
    uses; ``count`` the operators it stands for.
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
    """What encloses the boxes of a fused group. Units: pixels."""

    key: str
    label: str
    x: int
    y: int
    width: int
    height: int


class GraphView(msgspec.Struct):
    """Boxes, arrows between them (by key), and frames; ``collapsed`` if boxes stand for several
    operators because there are so many."""

    boxes: list[Box]
    arrows: list[tuple[str, str]]
    frames: list[GroupFrame]
    width: int
    height: int
    collapsed: bool = False


class _Drawing:
    """Gather boxes and arrows; ``made`` says which box computes a value."""

    def __init__(self, part: PrintedFunction, grouped: bool) -> None:
        self.part, self.starts = part, part.starts
        self.grouped = grouped
        self.boxes: dict[str, Box] = {}
        self.arrows: dict[tuple[str, str], None] = {}
        self.made: dict[int, str] = {}
        self.constants: set[int] = set()
        self.lambdas: dict[int, tuple[Bind, Lambda]] = {}
        self.inside = self.depth = 0
        self.outside: dict[int, str] = {}  # What the result of a group is called around it.

    def box(self, value: Value, kind: BoxKind, label: str, bind: Bind | None, group: str) -> Box:
        """Add a box, named by the value it computes."""
        key = self.outside.get(id(value), value.name)
        while key in self.boxes:
            key += "'"
        line = 0 if bind is None else self.starts.get(id(bind), 0)
        made = self.boxes[key] = Box(key, kind, label, line, group, type=_type(value))
        self.made[id(value)] = key
        return made

    def uses(self, box: Box, values: Iterator[Value] | tuple[Value, ...]) -> None:
        """Draw arrows to a box from those that compute what it uses."""
        for value in values:
            if id(value) in self.constants:
                box.constants += 1
                continue
            source = self.made.get(id(value))
            if source is not None and source != box.key:
                self.arrows[source, box.key] = None
                box.layer = max(box.layer, self.boxes[source].layer + 1)

    def bindings(self, bindings: tuple[Bind, ...], group: str) -> None:
        for bind in bindings:
            step = bind.step
            if isinstance(step, Constant):
                self.constants.add(id(bind.var))
            elif isinstance(step, Lambda):
                self.lambdas[id(bind.var)] = bind, step
            elif isinstance(step, Apply) and id(step.callee) in self.lambdas:
                self._applied(bind, step)
            else:
                kind, label = _named(bind)
                self.uses(self.box(bind.var, kind, label, bind, group), used_inside(step))

    def _applied(self, bind: Bind, step: Apply) -> None:
        """Draw a call of a fused function: as one box, or as what is inside it."""
        binder, function = self.lambdas[id(step.callee)]
        inner = sum(not isinstance(each.step, Constant) for each in function.body.bindings)
        self.inside += 1 + inner
        if self.grouped or self.depth >= DEEPEST or self.inside > MOST_INSIDE:
            box = self.box(bind.var, "group", binder.var.name, bind, "")
            box.count = max(1, inner)
            self.uses(box, step.args)
            return
        # What a pass left broken, or a stranger sent, may give more arguments or fewer.
        for param, given in zip(function.params, step.args, strict=False):
            if id(given) in self.constants:
                self.constants.add(id(param))
            elif id(given) in self.made:
                self.made[id(param)] = self.made[id(given)]
        self.outside[id(function.body.result)] = bind.var.name
        self.depth += 1
        self.bindings(function.body.bindings, bind.var.name)
        self.depth -= 1
        result = self.made.get(id(function.body.result))
        if result is not None:
            self.made[id(bind.var)] = result


def _type(value: Value) -> str:
    """Write the type of an array shortly; other types are left to the text."""
    if not isinstance(value.type, TensorType):
        return ""
    sizes = [dim.name if isinstance(dim, Var) else as_int(dim) for dim in value.type.shape]
    shape = "\u00d7".join("?" if size is None else str(size) for size in sizes)
    return f"{value.type.dtype} {shape}".strip()


def _named(bind: Bind) -> tuple[BoxKind, str]:
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
    """Lay out a graph function. ``previous`` is the view of it before the pass.

    Above ``most`` boxes a fused group is one box, and so is a chain of operators.
    """
    func = part.func
    assert isinstance(func, GraphFunc), "only graph functions have a graph"
    drawing = _drawn(func, part, grouped=False)
    collapsed = len(drawing.boxes) > most
    if collapsed:
        drawing = _drawn(func, part, grouped=True)
        if len(drawing.boxes) > most:
            _join_chains(drawing)
    boxes = list(drawing.boxes.values())
    _place(boxes, drawing, previous)
    width = max((box.x + WIDTH for box in boxes), default=0) + APART
    height = max((box.y + HEIGHT for box in boxes), default=0) + APART
    return GraphView(boxes, list(drawing.arrows), _frames(boxes), width, height, collapsed)


def _drawn(func: GraphFunc, part: PrintedFunction, *, grouped: bool) -> _Drawing:
    drawing = _Drawing(part, grouped)
    for param in func.params:
        drawing.box(param, "input", param.name, None, "")
    drawing.bindings(func.body.bindings, "")
    result = drawing.made.get(id(func.body.result))
    if result is not None:
        drawing.boxes[result].result = True
    return drawing


def _join_chains(drawing: _Drawing) -> None:
    """Let one box stand for boxes of which each is all that the next uses, and nobody else does."""
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
                _swallow(drawing.boxes[head], drawing.boxes.pop(key))
    arrows = {
        (stands_for.get(source, source), stands_for.get(target, target)): None
        for source, target in drawing.arrows
    }
    drawing.arrows = {pair: None for pair in arrows if pair[0] != pair[1]}
    for box in drawing.boxes.values():
        box.layer = 0
    for source, target in drawing.arrows:  # In the order of the text, so layers are known.
        boxes = drawing.boxes
        boxes[target].layer = max(boxes[target].layer, boxes[source].layer + 1)


def _swallow(head: Box, box: Box) -> None:
    head.count += box.count
    head.constants += box.constants
    head.result = head.result or box.result
    head.type = box.type
    head.kind, head.label = "several", f"{head.label.split(' … ')[0]} … {box.label}"


def _place(boxes: list[Box], drawing: _Drawing, previous: GraphView | None) -> None:
    """Give each box a place in its layer: the one it had, else that between those it uses."""
    known = {} if previous is None else {box.key: box.x for box in previous.boxes}
    above: dict[str, list[str]] = {}
    for source, target in drawing.arrows:
        above.setdefault(target, []).append(source)
    layers: dict[int, list[Box]] = {}
    for box in boxes:
        layers.setdefault(box.layer, []).append(box)
    columns: dict[str, int] = {}  # Where groups stand: what is inside goes below its like.
    for layer in sorted(layers):
        wanted: list[tuple[int, int, Box]] = []
        for at, box in enumerate(layers[layer]):
            sources = [drawing.boxes[key].x for key in above.get(box.key, ())]
            middle = sum(sources) // len(sources) if sources else at * (WIDTH + APART)
            middle = columns.get(box.group, middle)
            wanted.append((known.get(box.key, middle), at, box))
        free = APART
        for x, _, box in sorted(wanted, key=lambda item: item[:2]):
            box.x, box.y = max(x, free), APART + layer * (HEIGHT + BELOW)
            free = box.x + WIDTH + APART
            if box.group:
                columns.setdefault(box.group, box.x)


def _frames(boxes: list[Box]) -> list[GroupFrame]:
    """Enclose the boxes of each group; one by one where something else lies between them."""
    groups: dict[str, list[Box]] = {}
    for box in boxes:
        if box.group:
            groups.setdefault(box.group, []).append(box)
    frames: list[GroupFrame] = []
    for key, inside in groups.items():
        label = " ".join(box.label for box in inside)
        whole = _around(key, label, inside)
        if any(box.group != key and _overlap(whole, box) for box in boxes):
            frames += [_around(key, label, [box]) for box in inside]
        else:
            frames.append(whole)
    return frames


def _around(key: str, label: str, inside: list[Box]) -> GroupFrame:
    edge = APART // 3
    left, top = min(box.x for box in inside), min(box.y for box in inside)
    right, bottom = max(box.x for box in inside), max(box.y for box in inside)
    width, height = right - left + WIDTH + 2 * edge, bottom - top + HEIGHT + 2 * edge
    return GroupFrame(key, label, left - edge, top - edge, width, height)


def _overlap(frame: GroupFrame, box: Box) -> bool:
    beside = box.x + WIDTH <= frame.x or frame.x + frame.width <= box.x
    return not beside and box.y + HEIGHT > frame.y and frame.y + frame.height > box.y
