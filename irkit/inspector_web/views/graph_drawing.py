"""A graph function as boxes and arrows, before they have places.

Each binding uses only earlier ones, so one traversal finds the layers: a box is one below the
lowest box that it uses.
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
from irkit.inspector_web.limits import DEEPEST, MOST_INSIDE
from irkit.inspector_web.text.texts import PrintedFunction
from irkit.ir import Var, as_int

BoxKind = Literal["input", "operator", "group", "call", "other", "several", "fold"]


class Box(msgspec.Struct, omit_defaults=True):
    """A box of the graph.

    ``key`` stays the same from pass to pass; ``group`` is the key of its group; ``line`` is the
    printed line, from 1; ``type`` is that of the value; ``constants`` counts the weights that it
    uses, ``count`` the operators that it stands for. A fold stands for ``times`` equal blocks of
    the boxes ``inside``, which are named by their groups or keys. Units: ``x`` and ``y``, of the
    upper left corner, are pixels.
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
    times: int = 0
    inside: list[str] = []


class Drawing:
    """The boxes and arrows of a graph; ``made`` maps values to the boxes that compute them."""

    def __init__(self, part: PrintedFunction, grouped: bool) -> None:
        self.part, self.starts = part, part.starts
        self.grouped = grouped
        self.boxes: dict[str, Box] = {}
        self.arrows: dict[tuple[str, str], None] = {}
        self.made: dict[int, str] = {}
        self.constants: dict[int, str] = {}
        self.weights: dict[str, list[str]] = {}  # Names of the constants that boxes use.
        self.folds: dict[str, tuple[str, list[Box]]] = {}  # Label and boxes of those opened.
        self.closed: list[str] = []
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
                self.weights.setdefault(box.key, []).append(self.constants[id(value)])
                continue
            source = self.made.get(id(value))
            if source is not None and source != box.key:
                self.arrows[source, box.key] = None
                box.layer = max(box.layer, self.boxes[source].layer + 1)

    def add_bindings(self, bindings: tuple[Bind, ...], group: str) -> None:
        for bind in bindings:
            step = bind.step
            if isinstance(step, Constant):
                self.constants[id(bind.var)] = bind.var.name
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
                self.constants[id(param)] = self.constants[id(given)]
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


def draw_graph(func: GraphFunc, part: PrintedFunction, *, grouped: bool) -> Drawing:
    drawing = Drawing(part, grouped)
    for param in func.params:
        drawing.add_box(param, "input", param.name, None, "")
    drawing.add_bindings(func.body.bindings, "")
    result = drawing.made.get(id(func.body.result))
    if result is not None:
        drawing.boxes[result].result = True
    return drawing


def join_chains(drawing: Drawing) -> None:
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
    redirect(drawing, stands_for)


def _merge_into(head: Box, box: Box) -> None:
    head.count += box.count
    head.constants += box.constants
    head.result = head.result or box.result
    head.type = box.type
    head.kind, head.label = "several", f"{head.label.split(' … ')[0]} … {box.label}"


def redirect(drawing: Drawing, stands_for: dict[str, str]) -> None:
    """Make arrows begin and end at the boxes that stand for others, and find the layers anew."""
    boxes = drawing.boxes
    place = {key: at for at, key in enumerate(boxes)}
    arrows = {
        (stands_for.get(source, source), stands_for.get(target, target)): None
        for source, target in drawing.arrows
    }
    kept = [pair for pair in arrows if pair[0] != pair[1]]
    kept.sort(key=lambda pair: place[pair[1]])  # Earlier layers are final.
    drawing.arrows = dict.fromkeys(kept)
    for box in boxes.values():
        box.layer = 0
    for source, target in kept:
        boxes[target].layer = max(boxes[target].layer, boxes[source].layer + 1)
