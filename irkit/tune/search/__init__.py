"""The search: what to measure next, until the time is up; then the last race.

Reading order: population (candidates to measure next), progress (what callbacks see), tuner (one
task), model_tuner (several tasks that share their time),
verify (records, replayed and checked), importance (which decisions matter), page (a report).
"""

from irkit.tune.search.model_tuner import (
    tune_all as tune_all,
)
from irkit.tune.search.page import (
    tuning_page as tuning_page,
)
from irkit.tune.search.progress import (
    Callback as Callback,
    TuneProgress as TuneProgress,
)
from irkit.tune.search.tuner import (
    TuneResult as TuneResult,
    tune as tune,
)
from irkit.tune.search.verify import (
    Verified as Verified,
    loops_of_task as loops_of_task,
    verify_records as verify_records,
)
