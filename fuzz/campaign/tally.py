"""What a campaign has done so far, counted."""

from collections import Counter

import msgspec

from irkit.fuzz.campaign.worker import Ran
from irkit.fuzz.generators import Kind


class Tally(msgspec.Struct):
    """Counts of cases, and how long their tiers took. ``under_test`` are names of passes;
    ``placed`` counts the cases they stood in, ``fired`` those in which they changed something."""

    under_test: tuple[str, ...] = ()
    kinds: Counter[str] = msgspec.field(default_factory=Counter[str])
    statuses: Counter[str] = msgspec.field(default_factory=Counter[str])
    reasons: Counter[str] = msgspec.field(default_factory=Counter[str])
    tiers: Counter[str] = msgspec.field(default_factory=Counter[str])
    promises: Counter[str] = msgspec.field(default_factory=Counter[str])
    features: Counter[str] = msgspec.field(default_factory=Counter[str])
    passes: Counter[str] = msgspec.field(default_factory=Counter[str])
    placed: int = 0
    unplaced: int = 0
    workers_lost: int = 0
    processor: float = 0.0
    times: dict[str, list[float]] = {}

    def add(self, kind: Kind, ran: Ran, *, is_loop: bool) -> None:
        """Count a case."""
        outcome = ran.outcome
        self.kinds[kind] += 1
        self.statuses[outcome.status] += 1
        if outcome.status == "invalid":
            self.reasons[f"{kind}: {outcome.message.splitlines()[0][:100]}"] += 1
        self.unplaced += ran.unplaced
        self.processor += ran.processor
        self.tiers.update(outcome.tiers)
        self.promises.update(outcome.checks)
        self.features.update(ran.features)
        self.passes.update(set(outcome.fired))
        self.placed += is_loop and outcome.status != "invalid"
        for tier, seconds in (*outcome.seconds.items(), ("whole", sum(outcome.seconds.values()))):
            self.times.setdefault(tier, []).append(seconds)

    @property
    def cases(self) -> int:
        """Count the cases."""
        return self.statuses.total()

    @property
    def valid(self) -> int:
        """Count those that could be run. A pass that has no place in a pipeline is no fault of the
        generator."""
        return self.cases - self.statuses["invalid"]

    @property
    def valid_share(self) -> float:
        """Return the share of valid cases, of those in which the passes under test had a place."""
        tried = self.cases - self.unplaced
        return self.valid / tried if tried else 0.0

    def fired_share(self, name: str) -> float:
        """Return the share of the cases it stood in, in which a pass changed something."""
        return self.passes[name] / self.placed if self.placed else 0.0

    def median(self, tier: str) -> float:
        """Return the median of what a tier took. Units: seconds."""
        times = sorted(self.times.get(tier, ()))
        return times[len(times) // 2] if times else 0.0
