"""Which candidates to measure next: by the closed formulas, what is learned, and chance.

Everything is drawn from one seed, and depends on measured scores only: the same outcomes lead to
the same candidates, however many processes measure.
"""

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, cast

from irkit.core import walk
from irkit.ir import Block, as_int, work_of
from irkit.tune.cost import MIX_VERSION, Residual, mix_row
from irkit.tune.records import Built, Values, key_of
from irkit.tune.space import Space, crossed, mutated, sampled, started
from irkit.tune.space.moves import estimate

_DRAWN = 192
"""Random candidates among which the first batch is chosen by the closed formulas."""
_CHILDREN = 128
_FRESH = 64
_ELITE = 10
_BY_CHANCE = 0.2
"""Share of a batch that is chosen by chance, so that a model that is wrong is found out."""

_HOPELESS = 3.0
"""What is expected to take so many times as long as the best is not even tried by chance."""
_FLOPS = 1
"""Where the logarithm of the operations of a task is among its traits."""
_REFUSALS = 2
_MOST_REFUSALS = 1 << 30


class Proposal:
    """A candidate to measure, how it was made, and the time that is expected of it."""

    def __init__(self, values: Values, origin: str, parent: str, predicted: float) -> None:
        self.values, self.origin = values, origin
        self.parent, self.predicted = parent, predicted
        self.by_chance = False
        self.key = key_of(values)


class Population:
    """The candidates of one task so far, and those to come."""

    def __init__(
        self, space: Space, seed: int, residual: Residual, hints: Sequence[Values]
    ) -> None:
        self.space, self.residual = space, residual
        self._random = Random(seed)
        self._hints = list(hints)
        self._seen = {key_of({})}
        self._scores: list[tuple[float, str, Values]] = []
        self._refusals: dict[str, int] = {}
        self._start = started(space)
        self._traits = traits_of(space)

    def refused(self, values: Mapping[str, Any]) -> None:
        """Note that a candidate is not usable: after some, none is proposed that has the same
        sketches and places of stages, if none of those was usable."""
        shape = _shape(values)
        if shape != key_of({}):
            self._refusals[shape] = self._refusals.get(shape, 0) + 1

    def skip(self, values: Mapping[str, Any]) -> None:
        """Never propose a candidate: it was measured before."""
        self._seen.add(key_of(values))

    def add(self, values: Values, score: float, seconds: float, built: Built | None = None) -> None:
        """Add what was measured of a candidate: how many times faster than the default it is; and
        how it was built, which may tell what its assembly is made of."""
        self._seen.add(key_of(values))
        self._refusals[_shape(values)] = -_MOST_REFUSALS
        self._scores.append((score, key_of(values), values))
        expected = estimate(self.space, values)
        mix = [] if built is None else self.assembly(built, expected)
        self.residual.add(self.features(values, expected), expected, seconds, mix)

    def batch(self, count: int) -> list[Proposal]:
        """Return the next candidates, fewer if the space has no more."""
        made = self._from_hints(count)
        pool = self._pool()
        by_chance = max(1, round((count - len(made)) * _BY_CHANCE))
        ranked = self._ranked(pool)
        made += self._take(ranked, count - len(made) - by_chance)
        self._random.shuffle(pool)
        limit = _HOPELESS * ranked[0].predicted if ranked else 0.0
        others = self._take([each for each in pool if each.predicted <= limit], by_chance)
        for each in others:
            each.by_chance = True
        return made + others

    def features(self, values: Mapping[str, Any], expected: float) -> list[float]:
        """Return what is known of a candidate as numbers, in a fixed order: its task, the cycles
        that are expected of it, and its decisions."""
        return [*self._traits, *features_of(values, expected)]

    def assembly(self, built: Built, expected: float) -> list[float]:
        """Return the features of the assembly of a candidate, and by how much the time that its
        hottest loop alone would take differs from what the formulas expect. Empty if it was not
        counted, or other kinds were."""
        row = mix_row(built.counts) if built.mix == MIX_VERSION else []
        if not row or not 0 < expected < math.inf:
            return []
        flops = self._traits[_FLOPS]
        return [*row, row[0] + flops - math.log(expected)]

    def _from_hints(self, count: int) -> list[Proposal]:
        made: list[Proposal] = []
        while self._hints and len(made) < count:
            values = self._hints.pop(0)
            made += self._take([Proposal(values, "hint", "", math.inf)], 1)
        return made

    def _pool(self) -> list[Proposal]:
        """Draw candidates by chance, and children of the best so far: what the rules would choose
        is one of them before anything is measured."""
        start = [(1.0, key_of(self._start), self._start)] if self._start else []
        elite = sorted([*self._scores, *start], key=lambda each: (-each[0], each[1]))[:_ELITE]
        fresh = _FRESH if self._scores else _DRAWN
        found = [self._proposed(sampled(self.space, self._random), "random") for _ in range(fresh)]
        for _ in range(_CHILDREN if elite else 0):
            _, key, values = elite[min(int(self._random.expovariate(0.4)), len(elite) - 1)]
            if len(elite) > 1 and self._random.random() < 0.25:
                other = self._random.choice(elite)[2]
                child = crossed(self.space, values, other, self._random)
                found.append(self._proposed(child, "crossover", key))
            else:
                child = mutated(self.space, values, self._random)
                found.append(self._proposed(child, "mutation", key))
        return found

    def _proposed(self, values: Values, origin: str, parent: str = "") -> Proposal:
        hopeless = self._refusals.get(_shape(values), 0) >= _REFUSALS
        expected = math.inf if hopeless else estimate(self.space, values)
        return Proposal(values, origin, parent, expected)

    def _ranked(self, pool: list[Proposal]) -> list[Proposal]:
        """Return candidates by the time expected of them, and set that time."""
        legal = [each for each in pool if math.isfinite(each.predicted)]
        if self.residual.has_learned:
            rows = [self.features(each.values, each.predicted) for each in legal]
            for each, error in zip(legal, self.residual.predict(rows), strict=True):
                each.predicted *= math.exp(float(error))
        return sorted(legal, key=lambda each: (each.predicted, each.key))

    def _take(self, candidates: Sequence[Proposal], count: int) -> list[Proposal]:
        made: list[Proposal] = []
        for each in candidates:
            if len(made) >= count:
                break
            if each.key not in self._seen:
                self._seen.add(each.key)
                made.append(each)
        return made


def _shape(values: Mapping[str, Any]) -> str:
    """Return the decisions that legality depends on most, as text."""
    return key_of(
        {key: each for key, each in values.items() if key.endswith((".stage", ".sketch"))}
    )


def traits_of(space: Space) -> list[float]:
    """Return what is known of a task as numbers: its work, its loops, and what the default is
    expected to take."""
    work = work_of(space.func)
    counts = (0, 0, 0) if work is None else (work.flops, work.loaded + work.stored, work.moved)
    flops, accessed, moved = (math.log(max(1, each)) for each in counts)
    blocks = list(walk(space.func, on=Block))
    reduced = [axis for block in blocks for axis in block.axes if axis.kind == "reduce"]
    spatial = [axis for block in blocks for axis in block.axes if axis.kind == "spatial"]
    ends = [float(as_int(axis.extent) or 1) for axis in (*spatial[-1:], *reduced[-1:])]
    usual = estimate(space, {})
    return [
        math.log(usual) if 0 < usual < math.inf else 0.0,
        flops,
        flops - moved,
        flops - accessed,
        float(len(blocks)),
        float(len(reduced)),
        float(len(spatial)),
        *ends,
        *[1.0] * (2 - len(ends)),
    ]


def features_of(values: Mapping[str, Any], expected: float) -> list[float]:
    """Return the decisions as numbers: a column for each knob, whatever block it is about."""
    row = [math.log(expected) if math.isfinite(expected) and expected > 0 else 0.0]
    by_knob: dict[str, float] = {}
    for name, value in values.items():
        knob = name.rpartition(".")[2]
        by_knob[knob] = by_knob.get(knob, 0.0) + _column(value)
    row += [by_knob.pop(knob, -1.0) for knob in _KNOBS]
    row.append(float(len(values)))
    return row + [by_knob[knob] for knob in sorted(by_knob)][:32]


_KNOBS = (
    "sketch", "turned", "rows", "vectors", "lanes", "packed", "stacked", "by_rows", "unroll",
    "columns", "row", "order", "stage", "strip", "parts", "depth", "fused", "near", "lines", "cut",
)  # fmt: skip
_WORDS = {
    "panels": 1.0,
    "dots": 2.0,
    "tile": 3.0,
    "pointwise": 4.0,
    "inline": 1.0,
    "root": 2.0,
    "lanes": 5.0,
    "merged": 6.0,
}


def _column(value: Any) -> float:
    if isinstance(value, str):
        return _WORDS.get(value, 3.0 + sum(value.encode()) % 64)
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        return float(sum((at + 1) * _number(each) for at, each in enumerate(items)))
    return float(value) if isinstance(value, (int, float)) else 0.0


def _number(value: Any) -> float:
    """Return an element of a knob's value as a number."""
    return float(value) if isinstance(value, (int, float)) else float(sum(str(value).encode()) % 64)
