"""Graphs as boxes: layers, places, groups and large graphs."""

import time
from collections.abc import Iterator
from itertools import pairwise

import msgspec
import numpy as np

import irkit
from irkit.graph import Builder, GraphFunc
from irkit.inspector_web import Texts, graph_view
from irkit.inspector_web.text.texts import PrintedFunction
from irkit.passes.graph import fuse_ops
from irkit.transform import Step
from tests.inspector_web.views.shapes_programs import part_of
from tests.runtime.models import mlp


def graph_steps() -> Iterator[tuple[Step, PrintedFunction, PrintedFunction]]:
    texts = Texts(irkit.compile(mlp()).trace)
    for step in texts.trace:
        if isinstance(step.before, GraphFunc) and isinstance(step.after, GraphFunc):
            yield step, texts.of_function(step.before), texts.of_function(step.after)


def test_each_operator_is_a_box_and_each_use_an_arrow() -> None:
    view = graph_view(next(graph_steps())[1])
    assert [box.label for box in view.boxes] == [
        "x",
        "matmul",
        "relu",
        "matmul",
        "softmax",
        "tuple",
    ]
    keys = {box.key: box for box in view.boxes}
    named = [(keys[source].label, keys[target].label) for source, target in view.arrows]
    assert named == [
        ("x", "matmul"), ("matmul", "relu"), ("relu", "matmul"), ("matmul", "softmax"),
        ("softmax", "tuple"), ("relu", "tuple"),
    ]  # fmt: skip
    assert all(keys[source].layer < keys[target].layer for source, target in view.arrows)
    assert [box.constants for box in view.boxes] == [0, 1, 0, 1, 0, 0]
    msgspec.json.encode(view)


def test_boxes_do_not_cover_each_other() -> None:
    for _, _, after in graph_steps():
        places = sorted((box.y, box.x) for box in graph_view(after).boxes)
        assert all(y != v or u - x >= 160 for (y, x), (v, u) in pairwise(places))


def test_unchanged_boxes_keep_their_places() -> None:
    for step, before, after in graph_steps():
        view = graph_view(before)
        if not step.changed:
            assert graph_view(after, view) == view
        if step.name == "fuse-ops":
            fused = graph_view(after, view)
            assert [box.key for box in fused.boxes] == [box.key for box in view.boxes]
            assert [box.x for box in fused.boxes] == [box.x for box in view.boxes]
            assert fused.frames
            return
    raise AssertionError("nothing was fused")


def wide(count: int, branches: int) -> GraphFunc:
    b = Builder()
    heads = [b.op("relu", b.param("x", (4, 4)))] * branches
    for at in range(count // branches):
        heads = [b.op("relu" if at % 2 else "exp", head) for head in heads]
    result = heads[0]
    for head in heads[1:]:
        result = b.op("add", result, head)
    return b.finish(result)


def test_a_graph_of_thousands_of_operators_is_collapsed_and_quick() -> None:
    part = part_of(wide(3_000, 4))
    started = time.thread_time()
    view = graph_view(part)
    assert time.thread_time() - started < 0.5
    assert view.collapsed
    assert len(view.boxes) <= 500
    assert sum(box.count for box in view.boxes if box.kind != "input") >= 3_000
    whole = graph_view(part, most=10_000)
    assert not whole.collapsed
    assert len(whole.boxes) > 3_000
    assert np.unique([(box.x, box.y) for box in whole.boxes], axis=0).shape[0] == len(whole.boxes)


def test_no_frame_encloses_a_box_outside_its_group() -> None:
    b = Builder()
    x, w, v = (b.param(name, (4, 4)) for name in "xwv")
    left, right = b.op("matmul", x, w), b.op("matmul", x, v)
    before = b.finish(b.op("add", b.op("relu", left), right))
    after = fuse_ops(before)
    view = graph_view(part_of(after), graph_view(part_of(before)))
    assert len(view.frames) > 1
    for frame in view.frames:
        for box in view.boxes:
            beside = box.x >= frame.x + frame.width or box.x + 160 <= frame.x
            below = box.y >= frame.y + frame.height or box.y + 40 <= frame.y
            assert box.group == frame.key or beside or below
