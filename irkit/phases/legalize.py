"""The legalisation for a target: passes after phase 3, in the same trace."""

from irkit.ir import LOOP_LEVEL
from irkit.phases.default import DEFAULT
from irkit.transform import Phase, Pipeline

# Empty: code generation takes the result of phase 3. Its own number tells its steps apart.
LEGALIZE = Pipeline(LOOP_LEVEL, (Phase(4, "legalize"),), facts=DEFAULT.gives)
"""The pipeline that ``build`` and ``compile`` run after the phases; ``LEGALIZE.insert(p, phase=4)``
adds a pass."""
