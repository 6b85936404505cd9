"""The legalisation for a target: passes after phase 3, in the same trace."""

from irkit.ir import LOOP_LEVEL
from irkit.passes.loop import (
    expand_conversions,
    expand_functions,
    narrow_addresses,
    split_vectors,
    widen_floats,
    widen_shifts,
)
from irkit.phases.default import DEFAULT
from irkit.transform import Phase, Pipeline

# Its own number tells its steps apart.
PLACED = Pipeline(LOOP_LEVEL, (Phase(4, "legalize"),), facts=DEFAULT.gives)
"""The legalisation without irkit's own passes, for what users place there: ``irkit opt`` and the
like show what the phases give, not what a target makes of it."""
_PASSES = (
    widen_floats,
    expand_functions,
    expand_conversions,
    split_vectors,
    widen_shifts,
    narrow_addresses,
)
LEGALIZE = Pipeline(LOOP_LEVEL, (Phase(4, "legalize", _PASSES),), facts=DEFAULT.gives)
"""The pipeline that ``build`` and ``compile`` run after the phases; ``LEGALIZE.insert(p, phase=4)``
adds a pass. Of its own passes a target gets those that its backend declares
(``irkit/codegen/legalisation.py``), with its options."""
