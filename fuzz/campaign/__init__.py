"""Run many samples and keep what goes wrong. Reading order: outcome, course, agreement, guarded,
loops, models, texts, promises, judge."""

from irkit.fuzz.campaign.judge import judge
from irkit.fuzz.campaign.outcome import Outcome
from irkit.fuzz.campaign.promises import PROMISES

__all__ = ["PROMISES", "Outcome", "judge"]
