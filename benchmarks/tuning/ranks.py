"""Ranking of candidates before they run: ``python -m benchmarks.tuning.ranks TRIALS [NAMES]``.

Each task is tuned for so many candidates. Then the formulas alone, and the formulas with a model
that learned from all other tasks, rank the candidates of each; and with a model that also learned
from the first half of the candidates, the second half. "Built" are the same candidates and models
with what their assembly tells. Needs lightgbm, and a quiet machine.
"""

import statistics
import sys
from collections.abc import Callable, Sequence
from math import exp
from typing import Any

from benchmarks.tuning.gains import made
from irkit import tune
from irkit.tune import Residual, rank_correlation
from irkit.tune.search.population import Population
from irkit.tune.space.moves import estimate

NAMES = (
    "product 509 x 503 x 499", "nearest 384", "distances 512 x 64", "convolution 64 x 28",
    "sums of 7 x 7", "correlation 5 x 5", "three factors", "overlap", "contraction", "chebyshev",
)  # fmt: skip


class Ranked:
    """The candidates of a task: how to describe them, and how long they took."""

    def __init__(self, name: str, trials: int) -> None:
        self.name, task = name, tune.task(made(name))
        result = tune.tune(task, trials=trials, measure=tune.Local(jobs=2))
        self.found = [
            (each.values, each.score, each.build)
            for each in result.records
            if each.stage == "search" and each.measure is not None and each.score > 0
        ]
        self.population = Population(task.space, 0, Residual(), ())
        self.space = task.space

    def features(self, values: dict[str, Any]) -> list[float]:
        """Return what a model is told of a candidate."""
        return self.population.features(values, estimate(self.space, values))

    def rank(self, model: Residual, part: slice, *, built: bool = False) -> float:
        """Return the rank correlation of what is expected with what was measured."""
        found = self.found[part]
        rows = [self.features(values) for values, _, _ in found]
        errors = model.predict_built(rows, self.mixes(part)) if built else model.predict(rows)
        pairs = zip(found, errors, strict=True)
        expected = [estimate(self.space, values) * exp(float(e)) for (values, _, _), e in pairs]
        return rank_correlation(expected, [-score for _, score, _ in found])

    def mixes(self, part: slice) -> list[list[float]]:
        """Return what the assembly of candidates tells."""
        return [
            self.population.assembly(built, estimate(self.space, values))
            for values, _, built in self.found[part]
        ]

    def teach(self, model: Residual, part: slice) -> None:
        """Add candidates to what a model learns from."""
        for (values, score, _), mix in zip(self.found[part], self.mixes(part), strict=True):
            expected = estimate(self.space, values)
            model.add(self.features(values), expected, 1e-3 / score, mix)


def main(trials: int, names: Sequence[str]) -> None:
    """Tune, rank and print."""
    tasks = [Ranked(name, trials) for name in names]
    whole, first, second = slice(None), slice(trials // 2), slice(trials // 2, None)
    print(
        "| task | candidates | formulas | others learned | built "
        "| second half: formulas | learned | built |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    columns: list[list[float]] = []
    for each in tasks:
        others, own = Residual(), Residual()
        for other in tasks:
            if other is not each:
                other.teach(others, whole)
                other.teach(own, whole)
        each.teach(own, first)
        others.learn()
        own.learn()
        row = [
            each.rank(Residual(), whole),
            each.rank(others, whole),
            each.rank(others, whole, built=True),
            each.rank(Residual(), second),
            each.rank(own, second),
            each.rank(own, second, built=True),
        ]
        columns.append(row)
        print(f"| {each.name} | {len(each.found)} |" + _cells(row), flush=True)
    means = [statistics.fmean(column) for column in zip(*columns, strict=True)]
    print("| mean | |" + _cells(means))


def _cells(row: Sequence[float]) -> str:
    write: Callable[[float], str] = "{:.2f}".format
    return "".join(f" {write(each)} |" for each in row)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 48, sys.argv[2:] or NAMES)
