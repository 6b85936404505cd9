"""Try many changes and report the score.

Reading order: blame (which pass may be named), server_pool, seeded_bug_runs, mutant_runs,
check_score; fuzz_runs, fuzz_score, all_changes.
"""

from irkit.fuzz.mutation.runner.all_changes import (
    fuzz_all_changes as fuzz_all_changes,
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
