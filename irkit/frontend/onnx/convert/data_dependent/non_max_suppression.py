"""NonMaxSuppression: the best boxes of each class that do not overlap a better one."""

import numpy as np

from irkit.core import equal
from irkit.frontend.onnx.convert.data_dependent.compress import room_for
from irkit.frontend.onnx.onnx_node import Counted, OnnxNode
from irkit.frontend.sizes import Dim, KernelDims, clamped, multiply
from irkit.graph import Value, tensor_type, written
from irkit.ir import F32, I64, PrimFunc, index, parse


def non_max_suppression(node: OnnxNode) -> Counted:
    """Select boxes by batch, class and falling score; of those that overlap a selected box by more
    than a threshold, none is selected.

    Of equal scores the first box goes first. Boxes are given by two opposite corners, y before x,
    or with ``center_point_box`` by centre and size, x before y.
    Source: NonMaxSuppression-10, NonMaxSuppression-11.
    """
    boxes, scores = node.input(0), node.input(1)
    batches, count, four = _three(node, boxes, "boxes")
    others, classes, per_box = _three(node, scores, "scores")
    pairs = ((four, 4), (others, batches), (per_box, count))
    if any(not equal(index(a), index(b)) for a, b in pairs):
        raise node.fail(
            f"boxes of shape {written(node.type(boxes).shape)} and scores of shape "
            f"{written(node.type(scores).shape)} do not fit together; expected [batches, boxes, 4] "
            "and [batches, classes, boxes]"
        )
    most = count
    if node.is_known(2):
        given = node.array(2, "number of boxes for each class")
        wanted_most = max(int(given.reshape(-1)[0]), 0) if given is not None else 0
        most = clamped(wanted_most, count, node.ranges)
    room = room_for(multiply(multiply(batches, classes), most))
    wanted = _number(node, 2, 0, "i64")
    overlap = _number(node, 3, 0.0, "f32")
    least = _number(node, 4, float("-inf"), "f32")
    kernel = _selection_kernel(
        (batches, classes, count),
        room,
        centred=bool(node.integer("center_point_box", 0)),
        scored=node.optional(4) is not None,
    )
    types = (tensor_type((room, 3), "i64"), tensor_type((1,), "i64"))
    args = (boxes, scores, wanted, overlap, least)
    selected, found = node.loops(kernel, *args, types=types)
    return Counted((selected,), (0,), found)


def _three(node: OnnxNode, value: Value, what: str) -> tuple[Dim, Dim, Dim]:
    shape = node.dims(value)
    if len(shape) != 3:
        raise node.fail(f"its {what} have rank {len(shape)}; expected 3")
    return (shape[0], shape[1], shape[2])


def _number(node: OnnxNode, at: int, default: float, dtype: str) -> Value:
    value = node.optional(at)
    if value is None:
        return node.constant(np.array([default], np.dtype({"i64": "i8", "f32": "f4"}[dtype])))
    return node.op("reshape", node.cast(value, I64 if dtype == "i64" else F32), shape=(1,))


def _selection_kernel(
    sizes: tuple[Dim, Dim, Dim], most: Dim, *, centred: bool, scored: bool
) -> PrimFunc:
    """Return a function that selects boxes one by one, and strikes out those that overlap them."""
    named = KernelDims()
    batches, classes, count = map(named, sizes)
    room = named(most)

    def low(box: str, axis: int) -> str:
        if centred:
            return f"boxes[b, {box}, {1 - axis}] - boxes[b, {box}, {3 - axis}] / f32(2.0)"
        return f"min(boxes[b, {box}, {axis}], boxes[b, {box}, {axis + 2}])"

    def high(box: str, axis: int) -> str:
        if centred:
            return f"boxes[b, {box}, {1 - axis}] + boxes[b, {box}, {3 - axis}] / f32(2.0)"
        return f"max(boxes[b, {box}, {axis}], boxes[b, {box}, {axis + 2}])"

    admitted = "scores[b, c, i] > least[0]" if scored else "True"
    text = f"""\
def select_boxes(
    boxes: f32[{batches}, {count}, 4],
    scores: f32[{batches}, {classes}, {count}],
    wanted: i64[1],
    overlap: f32[1],
    least: f32[1],
    selected: i64[{room}, 3],
    found: i64[1],
):
    for r in serial(0, {room}):
        for a in serial(0, 3):
            selected[r, a] = 0
    found[0] = 0
    with alloc(bool[{count}]) as left:
        with alloc(i64[2]) as s:
            with alloc(f32[4]) as corner:
                for b in serial(0, {batches}):
                    for c in serial(0, {classes}):
                        for i in serial(0, {count}):
                            left[i] = {admitted}
                        s[1] = 0
                        for step in serial(0, min({count}, max(wanted[0], 0))):
                            if s[1] == step:
                                s[0] = -1
                                for j in serial(0, {count}):
                                    if left[j]:
                                        if s[0] < 0:
                                            s[0] = j
                                        elif scores[b, c, j] > scores[b, c, s[0]]:
                                            s[0] = j
                                if s[0] >= 0:
                                    s[1] = s[1] + 1
                                    if found[0] < {room}:
                                        selected[found[0], 0] = b
                                        selected[found[0], 1] = c
                                        selected[found[0], 2] = s[0]
                                    found[0] = found[0] + 1
                                    left[s[0]] = False
                                    corner[0] = {low("s[0]", 0)}
                                    corner[1] = {low("s[0]", 1)}
                                    corner[2] = {high("s[0]", 0)}
                                    corner[3] = {high("s[0]", 1)}
                                    for k in serial(0, {count}):
                                        if left[k]:
                                            y: f32 = {low("k", 0)}
                                            x: f32 = {low("k", 1)}
                                            v: f32 = {high("k", 0)}
                                            u: f32 = {high("k", 1)}
                                            tall: f32 = min(corner[2], v) - max(corner[0], y)
                                            wide: f32 = min(corner[3], u) - max(corner[1], x)
                                            both: f32 = max(tall, f32(0.0)) * max(wide, f32(0.0))
                                            own: f32 = (v - y) * (u - x)
                                            high: f32 = corner[2] - corner[0]
                                            best: f32 = high * (corner[3] - corner[1])
                                            if both > f32(0.0):
                                                if both / (own + best - both) > overlap[0]:
                                                    left[k] = False
"""
    return parse(text)
