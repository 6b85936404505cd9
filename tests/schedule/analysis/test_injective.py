"""Index maps are injective, or reach each point once, by algebra: of any size, and quickly."""

import time
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from irkit import te
from irkit.ir import PrimFunc, lt
from irkit.schedule import BlockRef, Schedule
from irkit.schedule.analysis.injective import is_bijective
from tests.draws import few_or_all
from tests.schedule.analysis.test_index_digits import NAMES, image_of, relayouts

SIZE = 4096
B, C = BlockRef("B"), BlockRef("C")


@st.composite
def boxes(draw: st.DrawFn) -> tuple[list[str], list[int], list[int], list[tuple[str, int]]]:
    """Draw an index map with sizes, the extents of a box around its image, and guards."""
    texts, sizes = draw(relayouts())
    points = [dict(zip(NAMES, at, strict=False)) for at in product(*map(range, sizes))]
    greatest = [max(eval(text, {}, at) for at in points) for text in texts]
    extents = [max(1, most + 1 - draw(st.sampled_from([0, 0, 1]))) for most in greatest]
    guards = [(t, n) for t, n in zip(texts, extents, strict=True) if draw(st.booleans())]
    if len(sizes) > 1 and draw(st.booleans()):
        fused = f"i * {sizes[1]} + j"
        guards.append((fused, draw(st.integers(1, sizes[0] * sizes[1]))))
    return texts, sizes, extents, guards


def reached_once(
    texts: list[str], sizes: list[int], extents: list[int], guards: list[tuple[str, int]]
) -> bool:
    """Return True if the points that guards leave reach each point of a box once."""
    found: list[tuple[int, ...]] = []
    for at in product(*map(range, sizes)):
        known = dict(zip(NAMES, at, strict=False))
        if all(eval(text, {}, known) < end for text, end in guards):
            found.append(tuple(eval(text, {}, known) for text in texts))
    return sorted(found) == sorted(product(*map(range, extents)))


@settings(max_examples=few_or_all(40, 100), deadline=None, derandomize=True)
@given(box=boxes())
def test_a_map_onto_a_box_reaches_each_point_once(
    box: tuple[list[str], list[int], list[int], list[tuple[str, int]]],
) -> None:
    texts, sizes, extents, guards = box
    image, known = image_of([*texts, *(text for text, _ in guards)], list(sizes))
    cuts = [lt(at, end) for at, (_, end) in zip(image[len(texts) :], guards, strict=True)]
    if is_bijective(image[: len(texts)], extents, known, cuts):
        assert reached_once(*box)


def chain() -> PrimFunc:
    """Return two pointwise stages of 4096 x 4096 elements."""
    a = te.placeholder((SIZE, SIZE), name="A")
    b = te.compute((SIZE, SIZE), lambda i, j: a[i, j] + 1.0, name="B")
    c = te.compute((SIZE, SIZE), lambda i, j: b[i, j] * 2.0, name="C")
    return te.create_prim_func([a, c])


def fused(sch: Schedule, block: BlockRef, by: int) -> None:
    sch.split(sch.fuse(*sch.get_loops(block)), [None, by], tail="guard")
    sch.reverse_compute_inline(C)


USUAL: dict[str, Callable[[Schedule], object]] = {
    "transposed": lambda s: s.transform_layout(B, lambda i, j: (j, i)),
    "blocked": lambda s: s.transform_layout(B, lambda i, j: (i // 16, j // 16, i % 16, j % 16)),
    "ragged blocks": lambda s: s.transform_layout(B, lambda i, j: (j // 24, i, j % 24), 0.0),
    "flat": lambda s: s.transform_layout(B, lambda i, j: (i * SIZE + j,)),
    "flat, split": lambda s: s.transform_layout(
        B, lambda i, j: ((i * SIZE + j) // 100, (i * SIZE + j) % 100)
    ),
    "turned round": lambda s: s.transform_layout(B, lambda i, j: (SIZE - 1 - i, j)),
    "skewed": lambda s: s.transform_layout(B, lambda i, j: (i, i + j)),
    "axes": lambda s: s.transform_block_layout(B, lambda i, j: (i * SIZE + j,)),
    "packed": lambda s: s.reindex_cache_write(B, 0, "global", lambda i, j: (j // 16, i, j % 16)),
    "fused": lambda s: fused(s, B, 64),
    "fused, ragged": lambda s: fused(s, B, 1000),
    "consumer fused, ragged": lambda s: fused(s, C, 1000),
}


@pytest.mark.parametrize("name", USUAL)
def test_usual_maps_take_milliseconds_and_look_at_no_points(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def enumerated(*_: object) -> None:
        raise AssertionError("points are enumerated")

    monkeypatch.setattr(np, "indices", enumerated)
    func = chain()
    times: list[float] = []
    for _ in range(3):
        sch = Schedule(func)
        start = time.process_time()
        USUAL[name](sch)
        times.append(time.process_time() - start)
    assert min(times) < 0.1
