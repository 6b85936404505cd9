"""Failed jobs in folders, from which they run again."""

from irkit.inspector_web.jobs.kept.job_folder import (
    bug_text as bug_text,
    failed_pass as failed_pass,
    failed_pass_text as failed_pass_text,
    is_job_folder as is_job_folder,
    keep_job as keep_job,
    replay_job as replay_job,
)
