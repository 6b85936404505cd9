"""The kinds of work that the page may ask for."""

from collections.abc import Mapping

from irkit.inspector_web.jobs.costs import COST, COSTS
from irkit.inspector_web.jobs.guilty_pass import GUILTY
from irkit.inspector_web.jobs.job import JobKind
from irkit.inspector_web.jobs.llvm_passes import LLVM
from irkit.inspector_web.jobs.rerun import RERUN
from irkit.inspector_web.jobs.verdicts import VERDICTS

JOB_KINDS: Mapping[str, JobKind] = {
    "verdicts": VERDICTS,
    "guilty": GUILTY,
    "cost": COST,
    "costs": COSTS,
    "llvm-passes": LLVM,
    "rerun": RERUN,
}
"""By the name that stands in a request."""
