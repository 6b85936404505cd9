"""Find planted bugs by drawing samples, as a campaign does: how soon, and how small what is found
becomes. Reading order: hunt and survey (in the child), hunter, places, changes."""

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
