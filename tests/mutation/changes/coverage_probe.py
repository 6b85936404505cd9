"""A probe at a place in the source: it counts how often a change would give another value, and
returns the original one."""

from collections.abc import Callable
from typing import Any

import numpy as np

PROBE_NAME = "__irkit_probe__"
"""The name of the probe in probed source."""


class CoverageProbe:
    """Counts of how often a place is reached, and how often the change would give another value."""

    def __init__(self) -> None:
        self.reached = self.other = 0

    def __call__(self, before: Callable[[], Any], after: Callable[[], Any] | None = None) -> Any:
        """Return the value before the change; without ``after``, only count that it was reached."""
        self.reached += 1
        value = before()
        if after is not None:
            self.other += not _alike(value, after)
        return value


def _alike(value: Any, after: Callable[[], Any]) -> bool:
    try:
        found = after()
        if type(value) is not type(found):
            return False
        return bool(np.all(value == found))  # An array compares element by element.
    except Exception:  # An exception from the change is another value too.
        return False


PROBE = CoverageProbe()
