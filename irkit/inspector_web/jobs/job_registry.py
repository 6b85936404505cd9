"""The kinds of job that the page can request."""

from collections.abc import Mapping

from irkit.inspector_web.jobs.costs import COST, COSTS
from irkit.inspector_web.jobs.edits import EDITED
from irkit.inspector_web.jobs.guilty_pass import GUILTY
from irkit.inspector_web.jobs.job import JobKind
from irkit.inspector_web.jobs.llvm_passes import LLVM
from irkit.inspector_web.jobs.loop_times import LOOP_TIMES
from irkit.inspector_web.jobs.mismatch import MISMATCH
from irkit.inspector_web.jobs.rerun import RERUN
from irkit.inspector_web.jobs.rewrites import REWRITES
from irkit.inspector_web.jobs.roofline import ROOFLINE
from irkit.inspector_web.jobs.verdicts import VERDICTS

JOB_KINDS: Mapping[str, JobKind] = {
    "verdicts": VERDICTS,
    "guilty": GUILTY,
    "cost": COST,
    "costs": COSTS,
    "llvm-passes": LLVM,
    "rerun": RERUN,
    "rewrites": REWRITES,
    "mismatch": MISMATCH,
    "roofline": ROOFLINE,
    "loop-times": LOOP_TIMES,
    "edit": EDITED,
}
"""By the name that a request uses."""
