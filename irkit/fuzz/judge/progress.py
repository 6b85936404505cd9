"""The progress of a sample through the tiers, reported before each tier runs."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from irkit.core import Recorder
from irkit.transform import Attempt, apply_here

OnTier = Callable[[str], object]
Optimise = Callable[[str], bool]
"""Returns whether LLVM IR is to be run at O3 too, which takes half of the time of a sample."""


def always(text: str) -> bool:
    """Return True."""
    return True


def tier_and_pass(text: str) -> tuple[str, str]:
    """Split the last report into the tier and the pass, if one was running."""
    tier, _, named = text.partition(":")
    return tier, named


class TierProgress:
    """The tiers that ran and their times; ``on_tier`` is called before each runs, so that a crash
    has a location."""

    def __init__(self, on_tier: OnTier = lambda tier: None) -> None:
        self.on_tier = on_tier
        self.tier = ""
        self.seconds: dict[str, float] = {}
        self.fired: list[str] = []
        self.checks: list[str] = []
        self.fate = ""

    def apply(self, attempt: Attempt, recorder: Recorder) -> object:
        """Run a pass, and report its name before, after that of the tier."""
        self.on_tier(f"{self.tier}:{attempt.p.name}")
        return apply_here(attempt, recorder)

    @contextmanager
    def running(self, tier: str) -> Generator[None]:
        """Run one tier; a failure inside is one of this tier."""
        self.on_tier(tier)
        self.tier = tier
        started = time.perf_counter()
        try:
            yield
        finally:
            taken = time.perf_counter() - started
            self.seconds[tier] = self.seconds.get(tier, 0.0) + taken
