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
