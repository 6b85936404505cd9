"""Outcomes of a proof."""

from collections.abc import Mapping
from typing import Any

import msgspec

from irkit.ir import Buffer, Var


class Proved(msgspec.Struct, frozen=True):
    """Equal for all values; ``how`` names what showed it."""

    how: str


class Refuted(msgspec.Struct, frozen=True):
    """Different for some values, as the interpreter confirmed.

    ``values`` are those of the variables by name, and of loads by their text; ``before`` and
    ``after`` are what the two expressions give there. ``variables`` and ``elements`` have them by
    symbol, the latter as buffer, indices and value.
    """

    values: Mapping[str, Any]
    before: Any
    after: Any
    variables: Mapping[Var, Any] = {}
    elements: tuple[tuple[Buffer, tuple[int, ...], Any], ...] = ()

    def __str__(self) -> str:
        given = ", ".join(f"{name} = {value}" for name, value in self.values.items())
        return f"{given or 'always'}: {self.before} before, {self.after} after"


class Unknown(msgspec.Struct, frozen=True):
    """Neither shown to be equal nor different; a proof that ran ``out_of_time`` may need longer."""

    reason: str
    out_of_time: bool = False


Outcome = Proved | Refuted | Unknown


class StepProof(msgspec.Struct, frozen=True):
    """Result of the proof of a step.

    If the two versions are not ``proved`` to compute the same for all values, ``message`` gives the
    reason, and ``refuted`` the values, if any, for which two expressions in the same place differ.
    These are a sign of a fault and not a proof: a step may change two expressions that belong
    together, such as the limits of a loop and the indices inside. ``pairs`` counts the claims on
    the way. ``sizes`` are those for which both versions were executed, and are the same for all
    values: of the arguments that a caller leaves open, each by its name.
    """

    proved: bool
    message: str = ""
    refuted: Refuted | None = None
    pairs: int = 0
    sizes: tuple[Mapping[str, int], ...] = ()

    @property
    def sizes_text(self) -> str:
        """Return the sizes in words, or an empty string."""
        if not self.sizes:
            return ""
        names = list(self.sizes[0])
        if len(names) == 1:
            return f"{names[0]} = {', '.join([str(each[names[0]]) for each in self.sizes])}"
        rows = [str(tuple(each.values())) for each in self.sizes]
        return f"({', '.join(names)}) = {', '.join(rows)}"
