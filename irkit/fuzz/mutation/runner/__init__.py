"""Try many changes and report the score.

Reading order: blame (which pass may be named), server_pool, seeded_bug_runs, mutant_runs,
check_score; fuzz_runs, fuzz_score, all_changes.
"""

from irkit.fuzz.mutation.runner.all_changes import (
    fuzz_all_changes as fuzz_all_changes,
)
from irkit.fuzz.mutation.runner.check_score import (
    RANDOM_PROGRAMS as RANDOM_PROGRAMS,
    mutant_results as mutant_results,
    mutant_score as mutant_score,
    mutant_table as mutant_table,
    seeded_bug_results as seeded_bug_results,
    seeded_bug_score as seeded_bug_score,
    seeded_bug_table as seeded_bug_table,
)
from irkit.fuzz.mutation.runner.fuzz_runs import (
    FuzzedChange as FuzzedChange,
    fuzz_changes as fuzz_changes,
)
from irkit.fuzz.mutation.runner.fuzz_score import (
    fuzz_score as fuzz_score,
    fuzz_table as fuzz_table,
)
from irkit.fuzz.mutation.trials.messages import (
    FuzzOrder as FuzzOrder,
    FuzzResult as FuzzResult,
)
