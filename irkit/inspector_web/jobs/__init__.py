"""Jobs: work that takes a while, runs in a child process, and whose result is kept.

Reading order: job (what a kind of job is), queue, kept (failed jobs that run again), chosen_steps
(the steps that a job is about); then one kind of job a file: verdicts, guilty_pass, rewrites,
mismatch, costs, loop_times, roofline, llvm_passes, rerun, edits, uploads.
job_registry lists them by name; run_function is for programs that read traces.
"""

from irkit.inspector_web.jobs.guilty_pass import (
    bisect_run as bisect_run,
)
from irkit.inspector_web.jobs.job_registry import (
    JOB_KINDS as JOB_KINDS,
)
from irkit.inspector_web.jobs.kept import (
    is_job_folder as is_job_folder,
    replay_job as replay_job,
)
from irkit.inspector_web.jobs.loop_times import (
    time_loops_of as time_loops_of,
)
from irkit.inspector_web.jobs.run_function import (
    run_function as run_function,
)
from irkit.inspector_web.jobs.verdicts import (
    WRONG as WRONG,
    StepVerdicts as StepVerdicts,
    check_run as check_run,
)
