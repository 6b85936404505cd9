"""Counts of what a check tried, and whether it tested anything."""

from collections import Counter

import msgspec

VALID = 0.9


class CheckTally(msgspec.Struct):
    """Cases so far; an invalid one could not be tried, and ``why_not`` says why."""

    cases: int = 0
    fired: int = 0
    replayed: int = 0
    seconds: float = 0.0
    why_not: Counter[str] = msgspec.field(default_factory=Counter[str])
    notes: list[str] = msgspec.field(default_factory=list[str])

    @property
    def invalid(self) -> int:
        """Return the number of cases that could not be tried."""
        return self.why_not.total()

    @property
    def valid(self) -> int:
        """Return the number of cases that were tried."""
        return self.cases - self.invalid

    def tested_nothing(self, name: str, least_fired: float) -> str:
        """Return why the check says nothing about the pass, or an empty string."""
        if self.valid < VALID * self.cases or not self.cases:
            reasons = "; ".join(f"{n} times: {why}" for why, n in self.why_not.most_common(3))
            return (
                f"{name!r} was tested on too little: {self.valid} of {self.cases} cases were "
                f"valid, expected at least {VALID:.0%}\n  {reasons or 'nothing was drawn'}"
            )
        if self.fired < least_fired * self.valid:
            return (
                f"this tested nothing: {name!r} changed {self.fired} of {self.valid} programs, "
                f"expected at least {least_fired:.0%}\n"
                "  Draw programs that have what it looks for (kinds=, or strategy= with your own),"
                "\n  run it at another phase, or, if it rarely has anything to do, say fires=0.01."
            )
        return ""
