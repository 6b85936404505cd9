"""What a search tells while it runs."""

from collections import Counter
from collections.abc import Callable

import msgspec

from irkit.tune.records import Record


class TuneProgress(msgspec.Struct):
    """How far the search of one task is. ``score`` is how many times faster than the default the
    best is so far; ``noise`` is by how much a schedule differs from itself.

    Units: seconds; GFLOP/s, of the best and of what the cores used can reach, 0 if unknown.
    """

    task: str
    trials: int = 0
    score: float = 1.0
    seconds: float = 0.0
    gflops: float = 0.0
    roof: float = 0.0
    noise: float = 0.0
    elapsed: float = 0.0
    remaining: float | None = None
    failures: Counter[str] = Counter()
    phase: str = "search"


Callback = Callable[[TuneProgress, Record | None], object]
"""Called after each candidate with its record, and when a phase begins without one."""
