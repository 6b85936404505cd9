"""What is found out about a sample: is it right, and if not, who says so and which pass is to
blame."""

from typing import Any, Literal

import msgspec

Status = Literal["ok", "invalid", "mismatch", "failed", "broken", "crash", "hang", "memory"]
Tier = Literal[
    "draw", "interpreter", "lower", "lowered", "O0", "O3", "each pass", "promises", "damaged file"
]


class Outcome(msgspec.Struct, frozen=True):
    """What judging a sample gave.

    ``status`` is ``ok``; ``invalid`` (nothing that could be run was drawn); ``mismatch`` (other
    numbers); ``failed`` (a pass, the verifier, or code that was accepted does not run); ``broken``
    (a promise, such as that text reads back as what was printed); ``crash``, ``hang`` and
    ``memory`` are of the process. ``tier`` says where it was seen, ``named`` which pass or
    primitive is guilty, ``tiers`` what was run, ``checks`` which promises were asked for, ``fired``
    the passes that changed something, ``fate`` what became of a damaged file: refused, read, right,
    or why nothing can be said. ``digest`` is that of the lowered text, where it was asked
    for. Units: ``seconds`` by tier.
    """

    status: Status
    tier: str = ""
    named: str = ""
    message: str = ""
    tiers: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    fired: tuple[str, ...] = ()
    digest: str = ""
    fate: str = ""
    seconds: dict[str, float] = {}

    @property
    def ok(self) -> bool:
        """Say whether the sample was run and is right."""
        return self.status == "ok"

    @property
    def is_finding(self) -> bool:
        """Say whether something is wrong with irkit, or with a pass of the user's."""
        return self.status not in ("ok", "invalid")

    @property
    def symptom(self) -> str:
        """Say in a few words what is seen; the same fault mostly has the same symptom."""
        return f"{self.status} at {self.tier}" if self.tier else self.status

    def replace(self, **changes: Any) -> "Outcome":
        """Copy with some fields changed."""
        return msgspec.structs.replace(self, **changes)


class WrongSample(Exception):
    """What ends the judging of a sample."""

    def __init__(self, status: Status, message: str, named: str = "") -> None:
        self.status: Status = status
        self.message, self.named = message, named
        super().__init__(message)
