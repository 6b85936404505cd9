"""The options of a check."""

from collections.abc import Mapping
from typing import Literal

import msgspec
from numpy.typing import ArrayLike

from irkit.debug.execution.executors import MAX_SECONDS, MAX_STEPS


class CheckOptions(msgspec.Struct, frozen=True):
    """Options of a check.

    With ``code``, the last stage of each function is also compiled as ``irkit.build`` compiles it,
    and run; with ``native`` True every stage is, with False none. False also leaves out what takes
    more than ``max_steps`` to interpret, which native code runs otherwise. ``prove`` also looks for
    a proof of each step of a loop function, for all values (extra ``prove``). With ``together``,
    the steps of a function are judged when its last one is there: the first and the last stage run
    on all sets of inputs, and those between on all of them only if the two differ.
    ``trust`` counts the mutants that the inputs tell from the result of a step, for all steps;
    ``trust_in`` for those of passes of these names.
    """

    inputs: Mapping[str, ArrayLike] = {}
    dims: Mapping[str, int] = {}
    seed: int = 0
    samples: int = 4
    native: bool | None = None
    code: bool = False
    prove: bool = False
    max_steps: int = MAX_STEPS
    together: bool = False
    trust: bool = False
    trust_in: frozenset[str] = frozenset()
    seconds: float = MAX_SECONDS  # For each call of untrusted native code.

    def trusts(self, name: str) -> bool:
        """Return True if the number of trust of the steps of a pass is asked for."""
        return self.trust or name in self.trust_in

    @property
    def compiled(self) -> Literal["none", "last", "every"]:
        """Return which stages are compiled as they ship."""
        if self.native is None and self.code:
            return "last"
        return "every" if self.native else "none"
