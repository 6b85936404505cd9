"""Judge samples that may crash, hang or grow, each in a fork of this process.

Nothing is imported anew, so it costs no more than a fork, and passes that were changed in this
process are changed there too. The process that forks should have one thread.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from irkit.fuzz.generators.sample import Sample
from irkit.fuzz.judge.judge import describe_exception, judge
from irkit.fuzz.judge.outcome import DEATHS, Outcome
from irkit.fuzz.judge.progress import tier_and_pass
from irkit.processes import ChildDied, Limits, report, run_in_fork

LIMITS = Limits(seconds=10.0, memory=6 << 30)
Judge = Callable[[Sample], Outcome]


def judge_in_fork(sample: Sample, limits: Limits = LIMITS, **options: Any) -> Outcome:
    """Judge a sample in a fork of this process; what ends the fork is the outcome. ``options`` are
    those of :func:`judge`."""

    def work() -> bytes:
        try:
            return msgspec.json.encode(judge(sample, on_tier=report, **options))
        except MemoryError:
            raise
        except Exception as error:  # `judge` handles what samples raise; this is our own error.
            return msgspec.json.encode(Outcome("failed", message=describe_exception(error)))

    try:
        return msgspec.json.decode(run_in_fork(work, limits), type=Outcome)
    except ChildDied as died:
        return Outcome(DEATHS[died.kind], *tier_and_pass(died.report), message=died.message)
