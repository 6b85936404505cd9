"""Result of the check of one step."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from irkit.debug.check.difference import Difference
from irkit.debug.check.schedule_steps import phase_label

Status = Literal[
    "same", "rounds differently", "differs", "failed", "races", "out of bounds", "not known"
]
Basis = Literal["proved", "tested", "not known"]
WRONG: tuple[Status, ...] = ("differs", "failed", "races", "out of bounds")


class Verdict(msgspec.Struct, frozen=True):
    """Result of the check of one step.

    ``same``: the same bits as before the step; ``rounds differently``: other bits, of a pass that
    declares it, within the bound; ``differs``: other numbers; ``failed``: cannot run or does not
    verify; ``not known``: could not be tried. ``message`` gives the reason. ``error`` holds the
    largest errors and the first wrong element, in ``buffer``; ``inputs`` names the set of inputs,
    ``how`` what ran the program, ``tried`` what it ran on. ``basis`` is what a verdict rests on.
    """

    index: int
    function: str
    phase: int
    name: str
    pass_text: str
    status: Status
    changed: bool = True
    error: Difference = Difference()
    buffer: str = ""
    inputs: str = ""
    how: str = ""
    message: str = ""
    tried: str = ""
    basis: Basis = "not known"

    @property
    def ok(self) -> bool:
        """Return True if the step is known to keep the meaning."""
        return self.status in ("same", "rounds differently")

    @property
    def is_wrong(self) -> bool:
        """Return True if the step changes the meaning, or its result does not run."""
        return self.status in WRONG

    @property
    def wrong_element(self) -> str:
        """Return the first wrong element and what it should be, or an empty string."""
        if self.error.at is None:
            return ""
        at = ", ".join(map(str, self.error.at))
        return f"{self.buffer}[{at}] is {self.error.found}, expected {self.error.expected}"

    def __str__(self) -> str:
        text = f"{phase_label(self.phase)}: '{self.pass_text}' on {self.function!r}: {self.status}"
        return ": ".join(filter(None, (text, self.wrong_element, self.message)))


def is_trusted(found: Iterable[Verdict]) -> bool:
    """Return True if no step is wrong and at least one changed step, if any, was run."""
    known = list(found)
    tried = [each for each in known if each.changed]
    return not any(each.is_wrong for each in known) and (
        not tried or any(each.ok for each in tried)
    )
