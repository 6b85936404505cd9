"""The kinds of work that the page may ask for."""

from collections.abc import Mapping

from irkit.inspector_web.questions import COST, COSTS, GUILTY, LLVM, VERDICTS
from irkit.inspector_web.rerun import RERUN
from irkit.inspector_web.tasks import Kind

WORK: Mapping[str, Kind] = {
    "verdicts": VERDICTS,
    "guilty": GUILTY,
    "cost": COST,
    "costs": COSTS,
    "llvm-passes": LLVM,
    "rerun": RERUN,
}
"""By the name that stands in a request."""
