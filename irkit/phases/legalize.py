"""The legalisation for a target: passes after phase 3, in the same trace."""

from irkit.ir import LOOP_LEVEL
from irkit.passes.loop import expand_functions
from irkit.phases.default import DEFAULT
from irkit.transform import Phase, Pipeline

# Its own number tells its steps apart.
LEGALIZE = Pipeline(LOOP_LEVEL, (Phase(4, "legalize", (expand_functions,)),), facts=DEFAULT.gives)
"""The pipeline that ``build`` and ``compile`` run after the phases; ``LEGALIZE.insert(p, phase=4)``
adds a pass. Of its own passes a target gets those that its backend declares
(``irkit/codegen/legalisation.py``), with its options."""
