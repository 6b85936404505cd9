"""Tests for the places of boxes: few crossings, no overlap, quick."""

import random
import time
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings, strategies as st

from irkit.inspector_web.views.graph_layout import Layers, columns, crossings, order

WIDE, BEND = 184, 24


def layers_of(count: int, arrows: list[tuple[int, int]]) -> Layers:
    layer = [0] * count
    for source, target in sorted(arrows, key=lambda pair: pair[1]):
        layer[target] = max(layer[target], layer[source] + 1)
    return Layers(layer, arrows)


def slow_crossings(layers: Layers, rows: list[list[int]]) -> int:
    found = 0
    for row, lower in pairwise(rows):
        links = [
            (row.index(node), lower.index(target)) for node in row for target in layers.below[node]
        ]
        found += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(links, 2))
    return found


def network(blocks: int, branches: int, seed: int) -> list[tuple[int, int]]:
    """Return a network of blocks with branches, each written in a random order, and skips."""
    random_numbers = random.Random(seed)
    arrows: list[tuple[int, int]] = []
    last, used = 0, 1
    for block in range(blocks):
        heads = list(range(used, used + branches))
        random_numbers.shuffle(heads)
        tails = list(range(used + branches, used + 2 * branches))
        used += 2 * branches
        arrows += [(last, head) for head in heads]
        arrows += list(zip(heads, tails, strict=True))
        arrows += [(tail, used) for tail in tails]
        if block % 3 == 0:
            arrows.append((last, used))
        last, used = used, used + 1
    return arrows


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 4))
def test_crossings_are_counted_as_by_comparing_all_pairs(
    seed: int, blocks: int, branches: int
) -> None:
    arrows = network(blocks, branches, seed)
    layers = layers_of(max(map(max, arrows)) + 1, arrows)
    assert crossings(layers, layers.rows) == slow_crossings(layers, layers.rows)
    rows = order(layers)
    assert [sorted(row) for row in rows] == [sorted(row) for row in layers.rows]
    assert crossings(layers, rows) <= crossings(layers, layers.rows)
    places = columns(layers, rows, WIDE, BEND)
    wide = [WIDE if node < layers.count else BEND for node in range(len(places))]
    for row in rows:
        for left, right in pairwise(row):
            apart = (wide[left] + wide[right]) / 2
            assert places[right] - places[left] >= apart - 1e-6


@pytest.mark.parametrize("branches", [2, 3, 4])
def test_blocks_without_crossings_are_drawn_without_any(branches: int) -> None:
    arrows = network(12, branches, seed=3)
    layers = layers_of(max(map(max, arrows)) + 1, arrows)
    assert crossings(layers, layers.rows) > 0
    assert crossings(layers, order(layers)) == 0


def test_a_chain_is_a_straight_line() -> None:
    layers = layers_of(50, [(at, at + 1) for at in range(49)])
    assert len(set(columns(layers, order(layers), WIDE, BEND))) == 1


def test_two_thousand_operators_take_less_than_a_second() -> None:
    arrows = network(222, 4, seed=1)
    count = max(map(max, arrows)) + 1
    assert count >= 1_990
    begun = time.process_time()
    layers = layers_of(count, arrows)
    columns(layers, order(layers), WIDE, BEND)
    assert time.process_time() - begun < 1.0
