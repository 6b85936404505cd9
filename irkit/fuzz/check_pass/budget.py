"""The time that one test may take."""

import time

DRAWING = 0.7
"""The share of the time in which programs are drawn; the rest is for shrinking a finding."""


class CheckBudget:
    """Processor time of one test, from its start on. Units: seconds."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.started = time.process_time()

    @property
    def spent(self) -> float:
        """Return how much has been spent."""
        return time.process_time() - self.started

    @property
    def left(self) -> float:
        """Return how much is left."""
        return max(0.0, self.seconds - self.spent)

    @property
    def is_drawn(self) -> bool:
        """Return True if no more programs should be drawn."""
        return self.spent >= DRAWING * self.seconds
