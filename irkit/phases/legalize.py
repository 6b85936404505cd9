"""The legalisation of a target: a place for passes after phase 3, in the same trace."""

from irkit.ir import LOOP_LEVEL
from irkit.phases.default import DEFAULT
from irkit.transform import Phase, Pipeline

# Empty: the emitter takes what phase 3 leaves. A number of its own tells its steps apart.
LEGALIZE = Pipeline(LOOP_LEVEL, (Phase(4, "legalize"),), facts=DEFAULT.gives)
"""What ``build`` and ``compile`` run after the phases; ``LEGALIZE.insert(p, phase=4)`` adds to
it."""
