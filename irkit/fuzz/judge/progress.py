"""Keep account of a sample on its way through the tiers, and tell of each before it runs."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from irkit.core import Recorder
from irkit.transform import Attempt, apply_here

OnTier = Callable[[str], object]


def tier_and_pass(text: str) -> tuple[str, str]:
    """Take what was told last apart: the tier, and the pass if one was running."""
    tier, _, named = text.partition(":")
    return tier, named


class TierProgress:
    """The tiers that were run and how long they took; ``told`` hears of each before it runs, so
    that a crash has a place."""

    def __init__(self, told: OnTier = lambda tier: None) -> None:
        self.told = told
        self.tier = ""
        self.seconds: dict[str, float] = {}
        self.fired: list[str] = []
        self.checks: list[str] = []
        self.fate = ""

    def apply(self, attempt: Attempt, recorder: Recorder) -> object:
        """Run a pass, and tell its name before, after that of the tier."""
        self.told(f"{self.tier}:{attempt.p.name}")
        return apply_here(attempt, recorder)

    @contextmanager
    def running(self, tier: str) -> Generator[None]:
        """Run one tier; where it fails is the tier of the failure."""
        self.told(tier)
        self.tier = tier
        started = time.perf_counter()
        try:
            yield
        finally:
            taken = time.perf_counter() - started
            self.seconds[tier] = self.seconds.get(tier, 0.0) + taken
