"""Folds of a graph: nothing is lost in them, and they open one by one."""

from irkit.graph import Builder, GraphFunc
from irkit.inspector_web import graph_view
from irkit.inspector_web.views.graph_folds import ALL
from irkit.passes.graph import fuse_ops
from tests.inspector_web.views.shapes_programs import part_of


def network(counts: tuple[int, ...] = (2, 3)) -> GraphFunc:
    """Blocks of a square that is added to what it came from, in runs with an exp between them."""
    b = Builder()
    x = b.param("x", (4, 4))
    for count in counts:
        x = b.op("exp", x)
        for _ in range(count):
            y = b.op("relu", b.op("matmul", x, x))
            x = b.op("add", x, b.op("sigmoid", y))
    return b.finish(b.op("tanh", x))


def test_a_fold_stands_for_all_of_its_operators() -> None:
    part = part_of(network())
    folded, whole = graph_view(part, opened=()), graph_view(part)
    folds = [box for box in folded.boxes if box.kind == "fold"]
    assert [(box.times, box.count) for box in folds] == [(2, 8), (3, 12)]
    assert sum(box.count for box in folded.boxes) == sum(box.count for box in whole.boxes)
    keys = {box.key for box in folded.boxes}
    hidden = {key for box in folds for key in box.inside}
    assert keys - {box.key for box in folds} | hidden == {box.key for box in whole.boxes}
    layer = {box.key: box.layer for box in folded.boxes}
    assert all(layer[source] < layer[target] for source, target in folded.arrows)
    assert len(folded.arrows) == len(folded.boxes) - 1


def test_folds_open_one_by_one_with_a_frame_that_closes_them() -> None:
    part = part_of(network())
    first, second = graph_view(part, opened=()).folds
    one = graph_view(part, opened={second})
    assert [box.key for box in one.boxes if box.kind == "fold"] == [first]
    assert [(frame.key, frame.fold) for frame in one.frames] == [(second, True)]
    assert set(one.folds) == {first, second}
    both = graph_view(part, opened={ALL})
    assert {box.key for box in both.boxes} == {box.key for box in graph_view(part).boxes}


def test_fused_groups_are_inside_folds_by_their_keys() -> None:
    fused = part_of(fuse_ops(network()))
    view = graph_view(fused, opened=())
    groups = {box.group or box.key for box in graph_view(fused).boxes}
    folds = [box for box in view.boxes if box.kind == "fold"]
    assert folds
    assert all(key in groups for box in folds for key in box.inside)
