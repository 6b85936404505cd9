"""Counts of what a campaign has done so far."""

from collections import Counter

import msgspec

from irkit.fuzz.campaign.draw import Draw
from irkit.fuzz.campaign.worker import CaseResult

MOST_SLOW = 10


class SlowCase(msgspec.Struct, frozen=True):
    """A slow case, and the time of each tier. Units: seconds."""

    draw: Draw
    seconds: float
    tiers: dict[str, float]


class CampaignTally(msgspec.Struct):
    """Counts of cases, and the time of their tiers.

    ``under_test`` are names of passes; ``placed`` counts the cases they ran in, ``passes`` those in
    which one changed something; ``fates`` count what became of damaged files, by kind; ``slowest``
    are the slowest cases, the worst first; ``derived`` counts cases that were made from others.
    """

    under_test: tuple[str, ...] = ()
    kinds: Counter[str] = msgspec.field(default_factory=Counter[str])
    statuses: Counter[str] = msgspec.field(default_factory=Counter[str])
    reasons: Counter[str] = msgspec.field(default_factory=Counter[str])
    tiers: Counter[str] = msgspec.field(default_factory=Counter[str])
    invariants: Counter[str] = msgspec.field(default_factory=Counter[str])
    features: Counter[str] = msgspec.field(default_factory=Counter[str])
    fates: Counter[str] = msgspec.field(default_factory=Counter[str])
    passes: Counter[str] = msgspec.field(default_factory=Counter[str])
    placed: int = 0
    unplaced: int = 0
    workers_lost: int = 0
    derived: int = 0
    processor: float = 0.0
    times: dict[str, list[float]] = {}
    slowest: list[SlowCase] = []

    def add(self, draw: Draw, ran: CaseResult, *, is_loop: bool) -> None:
        """Count a case."""
        outcome, kind = ran.outcome, draw.kind
        self.kinds[kind] += 1
        self.statuses[outcome.status] += 1
        if outcome.status == "invalid":
            self.reasons[f"{kind}: {outcome.message.splitlines()[0][:100]}"] += 1
        if outcome.fate:
            self.fates[f"{kind} {outcome.fate}"] += 1
        self.unplaced += ran.unplaced
        self.workers_lost += ran.lost
        self.derived += bool(draw.choices)
        self.processor += ran.processor
        self.tiers.update(outcome.tiers)
        self.invariants.update(outcome.checks)
        self.features.update(ran.features)
        self.passes.update(set(outcome.fired))
        self.placed += is_loop and outcome.status != "invalid"
        whole = sum(outcome.seconds.values())
        for tier, seconds in (*outcome.seconds.items(), ("whole", whole)):
            self.times.setdefault(tier, []).append(seconds)
        if len(self.slowest) < MOST_SLOW or whole > self.slowest[-1].seconds:
            self.slowest.append(SlowCase(draw, whole, outcome.seconds))
            self.slowest.sort(key=lambda slow: -slow.seconds)
            del self.slowest[MOST_SLOW:]

    @property
    def cases(self) -> int:
        """Return the number of cases."""
        return self.statuses.total()

    @property
    def valid(self) -> int:
        """Return the number of cases that could be run. A pass that has no position in a pipeline
        is no fault of the generator."""
        return self.cases - self.statuses["invalid"]

    @property
    def valid_share(self) -> float:
        """Return the share of valid cases among those in which the passes under test had a
        position."""
        tried = self.cases - self.unplaced
        return self.valid / tried if tried else 0.0

    def fired_share(self, name: str) -> float:
        """Return the share of cases in which a pass changed something, among those it ran in."""
        return self.passes[name] / self.placed if self.placed else 0.0

    def median(self, tier: str) -> float:
        """Return the median time of a tier. Units: seconds."""
        return self.quantile(tier, 0.5)

    def quantile(self, tier: str, share: float) -> float:
        """Return the time that a tier took at most in a share of the cases. Units: seconds."""
        times = sorted(self.times.get(tier, ()))
        return times[min(int(len(times) * share), len(times) - 1)] if times else 0.0
