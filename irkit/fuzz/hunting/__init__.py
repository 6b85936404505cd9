"""Find planted bugs by drawing samples, as a campaign does: how soon, and how small what is found
becomes. Reading order: hunt and survey (in the child), hunter, places, changes."""

from irkit.fuzz.hunting.changes import hunt_changes
from irkit.fuzz.hunting.hunter import Result, hunting_score, hunting_table, hunts
from irkit.fuzz.quarry import Caught, Hunt

__all__ = [
    "Caught",
    "Hunt",
    "Result",
    "hunt_changes",
    "hunting_score",
    "hunting_table",
    "hunts",
]
