"""The way of one candidate through the phases, which worker processes import by name."""

from irkit.ir import PrimFunc
from irkit.phases.default import DEFAULT
from irkit.phases.legalize import LEGALIZE

_LOWERING = DEFAULT.then(LEGALIZE)


def lower_candidate(func: PrimFunc) -> PrimFunc:
    """Lower scheduled loops until code can be emitted, as ``irkit.build`` does, but without its
    verifier after each pass: results of candidates are compared."""
    return _LOWERING.run(func, verify=False)
