"""A measurement that runs nothing: the time of a candidate is a function of its decisions."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from irkit.tune import Session, Task, TrialOutcome
from irkit.tune.measure import Worth
from irkit.tune.records import Built, Measured, Values, key_of

Speed = Callable[[Values], float]
"""How many times faster than the default a candidate is; 0 crashes."""


class Simulated:
    """Measure by a formula, with ``final`` for code compiled in full, and ``built`` for what is
    known of a candidate before it is raced. ``seen`` are all decisions, in the order in which they
    were asked for."""

    def __init__(
        self,
        speed: Speed,
        final: Speed | None = None,
        built: Callable[[Values], Built] = lambda _: Built(True),
    ) -> None:
        self.speed, self.final, self.built = speed, final or speed, built
        self.seen: list[str] = []

    def session(self, task: Task) -> AbstractContextManager[Session]:
        return nullcontext(self)

    def run(
        self,
        batch: Sequence[Values],
        against: Values,
        *,
        full: bool = False,
        seconds: float = 0.1,
        deadline: float | None = None,
        counted: bool = False,
        worth: Worth | None = None,
    ) -> list[TrialOutcome]:
        made: list[TrialOutcome] = []
        for values in batch:
            if not full:
                self.seen.append(key_of(values))
            built = self.built(values)
            if worth is not None and not worth(values, built):
                made.append(TrialOutcome("skipped"))
                continue
            speed = self.final if full else self.speed
            own, other = speed(values), speed(against)
            if not own:
                made.append(TrialOutcome("crash", message="crashed"))
                continue
            ratio = own / other
            found = Measured(1e-3 / own, 1e-3 / other, ratio, ratio * 0.98, ratio * 1.02, 15, 0.01)
            made.append(TrialOutcome("ok", built, "all bits", "", found))
        return made


def by_rows(values: Values) -> float:
    """Return the most with five rows and three vectors; the default is as fast as two rows."""
    if not values:
        return 1.0
    if values.get("C.sketch") != "panels":
        return 0.5
    return 2.0 - abs(values["C.rows"] - 5) * 0.25 - abs(values["C.vectors"] - 3) * 0.1 or 0.1
