"""Many samples in worker processes: `irkit fuzz`.

A campaign runs on any executor of `concurrent.futures`: threads of this process by default, or the
workers of a dask cluster. Whatever calls it, a case runs in a child process with limits, is on disk
before it runs, and reports each tier before it begins it. After a crash the case runs again without
native code: if that is right, code generation is to blame. Findings are grouped by symptom and
pass; three of a group are retried and kept, the rest counted, so that a bug in every case costs no
more. A pass that never fires, too few cases or too few valid ones are exit code 2: a fuzzer that
tests nothing must not look like one that finds nothing.

Reading order: draw, worker (one case in a process of its own), small_case, findings, tally,
case_processes (what an executor calls), executors, interrupts, engine, explored (the corpus on
disk), summary, page.
"""

from irkit.fuzz.campaign.draw import (
    Draw as Draw,
    checked_names as checked_names,
    read_draw as read_draw,
)
from irkit.fuzz.campaign.engine import (
    CASE_SECONDS as CASE_SECONDS,
    Campaign as Campaign,
    CampaignPlan as CampaignPlan,
)
from irkit.fuzz.campaign.executors import (
    DaskExecutor as DaskExecutor,
)
from irkit.fuzz.campaign.explored import (
    read_explored as read_explored,
    write_explored as write_explored,
)
from irkit.fuzz.campaign.interrupts import (
    interruptible as interruptible,
    undisturbed as undisturbed,
)
from irkit.fuzz.campaign.page import as_page as as_page
from irkit.fuzz.campaign.summary import (
    as_junit as as_junit,
    exit_code as exit_code,
    summary as summary,
)
from irkit.fuzz.campaign.worker import (
    CaseOptions as CaseOptions,
    run_case as run_case,
)
