"""The outcome of judging a sample: is it right, and if not, which tier saw it and which pass is to
blame."""

from typing import Any, Literal

import msgspec

from irkit.processes import Death

Status = Literal[
    "ok", "invalid", "mismatch", "races", "failed", "broken", "crash", "hang", "memory"
]


DEATHS: dict[Death, Status] = {"timeout": "hang", "memory": "memory", "crash": "crash"}
"""Status of a sample that ended its process."""


class Outcome(msgspec.Struct, frozen=True):
    """Result of judging a sample.

    ``status`` is ``ok``; ``invalid`` (nothing that could be run was drawn); ``mismatch`` (other
    numbers); ``races`` (a step lets two iterations or threads meet); ``failed`` (a pass or the
    verifier fails, or accepted code does not run); ``broken`` (an invariant, such as that text
    reads back as what was printed); ``crash``, ``hang`` and ``memory`` concern the process.
    ``tier`` is where it was seen, ``named`` the guilty pass or primitive, ``tiers`` those that ran,
    ``checks`` the invariants checked, ``fired`` the passes that changed something, ``fate`` what
    became of a damaged file: refused, read, right, or why nothing is known. Units: ``seconds`` by
    tier.
    """

    status: Status
    tier: str = ""
    named: str = ""
    message: str = ""
    tiers: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    fired: tuple[str, ...] = ()
    fate: str = ""
    seconds: dict[str, float] = {}

    @property
    def ok(self) -> bool:
        """Return True if the sample was run and is right."""
        return self.status == "ok"

    @property
    def is_finding(self) -> bool:
        """Return True if something is wrong with irkit, or with a pass of the user's."""
        return self.status not in ("ok", "invalid")

    @property
    def symptom(self) -> str:
        """Return the symptom in a few words; the same fault mostly has the same symptom."""
        return f"{self.status} at {self.tier}" if self.tier else self.status

    def replace(self, **changes: Any) -> "Outcome":
        """Copy with some fields changed."""
        return msgspec.structs.replace(self, **changes)


def fault_text(symptom: str, named: str) -> str:
    """Return a symptom and the guilty pass, if known, in words."""
    return f"{symptom} after {named}" if named else symptom


class WrongSample(Exception):
    """Raised to end the judging of a sample that is wrong."""

    def __init__(self, status: Status, message: str, named: str = "") -> None:
        self.status: Status = status
        self.message, self.named = message, named
        super().__init__(message)
