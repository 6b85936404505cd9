"""What is expected of a candidate once it is built: whether it can still win a race.

Racing takes longer than building where a kernel runs for milliseconds. The model that knows the
assembly says how long a candidate will take, and its own errors so far say how far to believe it.
"""

import math
import statistics

from irkit.tune.cost import Residual, rank_correlation
from irkit.tune.records import Built, Values, key_of
from irkit.tune.search.population import Population
from irkit.tune.space import Space
from irkit.tune.space.moves import estimate

_FEWEST = 12
"""Races whose outcome was expected before a model is believed."""
_DOUBT = 2.0
"""Standard deviations of its errors by which a model may be wrong."""


class Forecast:
    """The times that are expected of what was built, and those that were measured."""

    def __init__(self, space: Space, population: Population, residual: Residual) -> None:
        self._space, self._population, self._residual = space, population, residual
        self._expected: dict[str, float] = {}
        self._pairs: list[tuple[float, float]] = []

    def can_win(self, values: Values, built: Built, seconds: float) -> bool:
        """Return False if a candidate would have to be faster than expected by more than errors so
        far explain, to beat a schedule that takes so many seconds."""
        expected = self.seconds(values, built)
        if expected is None:
            return True
        self._expected[key_of(values)] = expected
        if seconds <= 0 or len(self._pairs) < _FEWEST:
            return True
        errors = [math.log(measured / before) for before, measured in self._pairs]
        least = expected * math.exp(statistics.fmean(errors) - _DOUBT * statistics.stdev(errors))
        return least <= seconds

    def seconds(self, values: Values, built: Built) -> float | None:
        """Return the seconds that are expected of a candidate; None if nothing was learned, or its
        instructions were not counted."""
        cycles = estimate(self._space, values)
        mix = self._population.assembly(built, cycles)
        if not mix or not self._residual.knows_assembly:
            return None
        features = self._population.features(values, cycles)
        return cycles * math.exp(float(self._residual.predict_built([features], [mix])[0]))

    def note(self, values: Values, seconds: float) -> None:
        """Note what a race measured."""
        expected = self._expected.pop(key_of(values), None)
        if expected is not None:
            self._pairs.append((expected, seconds))

    @property
    def correlation(self) -> float:
        """Spearman's correlation of the times expected and measured; 0 if there are few."""
        if len(self._pairs) < _FEWEST:
            return 0.0
        return rank_correlation(*zip(*self._pairs, strict=True))
