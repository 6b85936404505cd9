"""Facts: properties of a function that passes need, give and break."""

from collections.abc import Callable
from typing import Any

import msgspec

from irkit.core import Problem


class Fact(msgspec.Struct, frozen=True):
    """A property of functions of one level; ``predicate`` lists what contradicts it.

    ``level`` is the name of the level. Facts are defined beside the verifier of their level.
    """

    name: str
    level: str
    predicate: Callable[[Any], list[Problem]]

    def problems(self, function: object) -> list[Problem]:
        """List what contradicts the fact in one function; empty if it holds."""
        return self.predicate(function)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Fact({self.name!r}, {self.level!r})"
