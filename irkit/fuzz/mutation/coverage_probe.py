"""What a place in the source would give if it were changed: asked each time that it runs, while it
goes on with what it gave before."""

from collections.abc import Callable
from typing import Any

import numpy as np

PROBE_NAME = "__irkit_probe__"
"""What probed source calls it by."""


class CoverageProbe:
    """Count how often a place is reached, and how often the change would have made another value
    of it."""

    def __init__(self) -> None:
        self.reached = self.other = 0

    def __call__(self, before: Callable[[], Any], after: Callable[[], Any] | None = None) -> Any:
        """Give what stood there before the change; without ``after`` it is reached, no more."""
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
    except Exception:  # What a change raises is another value too.
        return False


PROBE = CoverageProbe()
