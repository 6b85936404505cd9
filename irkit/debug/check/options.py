"""The options of a check."""

from collections.abc import Mapping

import msgspec
from numpy.typing import ArrayLike

from irkit.debug.execution.executors import MAX_SECONDS, MAX_STEPS


class CheckOptions(msgspec.Struct, frozen=True):
    """Options of a check.

    With ``native`` None, native code runs only where the interpreter would need more than
    ``max_steps``. ``guarded`` runs native code between protected pages in a child process, even
    where the interpreter has accepted the program: it finds errors of code generation. ``prove``
    also looks for a proof of each step of a loop function, for all values (extra ``prove``). With
    ``together``, the steps of a function are judged when its last one is there: the first and the
    last stage run on all sets of inputs, and those between on all of them only if the two differ.
    ``trust`` counts the mutants that the inputs tell from the result of a step, for all steps;
    ``trust_in`` for those of passes of these names.
    """

    inputs: Mapping[str, ArrayLike] = {}
    dims: Mapping[str, int] = {}
    seed: int = 0
    samples: int = 4
    native: bool | None = None
    guarded: bool = False
    prove: bool = False
    max_steps: int = MAX_STEPS
    together: bool = False
    trust: bool = False
    trust_in: frozenset[str] = frozenset()
    seconds: float = MAX_SECONDS  # For each call of untrusted native code.
