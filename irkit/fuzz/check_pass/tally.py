"""Counts of what a check tried, and whether it tested anything."""

from collections import Counter

import msgspec

VALID = 0.9


class CheckTally(msgspec.Struct):
    """Programs so far.

    ``drawn`` are all; ``cases`` those examined, of which the pass ``fired`` on some. An invalid one
    could not be tried, and ``why_not`` says why; ``unknown`` says why the numbers of a program that
    the pass changed could not be compared, which does not count as fired. ``stopped`` says why
    drawing ended early.
    """

    drawn: int = 0
    cases: int = 0
    fired: int = 0
    replayed: int = 0
    seconds: float = 0.0
    stopped: str = ""
    why_not: Counter[str] = msgspec.field(default_factory=Counter[str])
    unknown: Counter[str] = msgspec.field(default_factory=Counter[str])
    notes: list[str] = msgspec.field(default_factory=list[str])

    @property
    def invalid(self) -> int:
        """Return the number of cases that could not be tried."""
        return self.why_not.total()

    @property
    def valid(self) -> int:
        """Return the number of cases that were tried."""
        return self.cases - self.invalid

    @property
    def left_alone(self) -> int:
        """Return the number of cases examined that the pass did not change."""
        return self.valid - self.fired - self.unknown.total()

    def tested_nothing(self, name: str, least_fired: int, *, out_of_time: bool) -> str:
        """Return why the check says nothing about the pass, or an empty string.

        How many programs the time is enough for is chance, so then one that it changed is enough.
        """
        if self.valid < VALID * self.cases or not self.cases:
            return (
                f"{name!r} was tested on too little: {self.valid} of {self.cases} cases were "
                f"valid, expected at least {VALID:.0%}\n  "
                f"{_most_common(self.why_not) or 'nothing was drawn'}"
            )
        wanted = min(1, least_fired) if out_of_time else least_fired
        if self.fired >= wanted:
            return ""
        unknown = ""
        if self.unknown:
            unknown = f"\n  On {self.unknown.total()} more its numbers could not be compared: "
            unknown += _most_common(self.unknown)
        stopped = f" ({self.stopped})" if self.stopped else ""
        return (
            f"this tested nothing: {name!r} changed {self.fired} of {self.drawn} programs that "
            f"were drawn{stopped}, expected at least {wanted}{unknown}\n"
            "  Draw programs that have what it looks for: strategy= takes a Hypothesis strategy, "
            "or a function\n  of Picks, that returns functions or IR text; kinds= chooses kinds. "
            "Or run it at another phase;\n  if it rarely has anything to do, say fires=1."
        )


def _most_common(reasons: Counter[str]) -> str:
    return "; ".join(f"{n} times: {why}" for why, n in reasons.most_common(3))
