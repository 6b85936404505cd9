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


def by_barycentres(layers: Layers) -> int:
    """Return the fewest crossings that twelve sweeps of the barycentre method leave."""
    rows = [list(row) for row in layers.rows]
    fewest = slow_crossings(layers, rows)
    for sweep in range(12):
        near = layers.above if sweep % 2 == 0 else layers.below
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            at = {node: place for each in rows for place, node in enumerate(each)}
            means = {
                n: sum(at[o] for o in near[n]) / len(near[n]) if near[n] else at[n] for n in row
            }
            row.sort(key=means.__getitem__)
        fewest = min(fewest, slow_crossings(layers, rows))
    return fewest


def test_fewer_arrows_cross_than_by_the_barycentre_method() -> None:
    found: list[tuple[int, int]] = []
    for seed in range(25):
        random_numbers = random.Random(seed)
        arrows = [
            (6 * layer + random_numbers.randrange(6), 6 * layer + 6 + random_numbers.randrange(6))
            for layer in range(5)
            for _ in range(10)
        ]
        layers = Layers([node // 6 for node in range(36)], sorted(set(arrows)))
        found.append((slow_crossings(layers, order(layers)), by_barycentres(layers)))
    assert all(ours <= theirs for ours, theirs in found)
    assert sum(ours for ours, _ in found) < 0.95 * sum(theirs for _, theirs in found)


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
