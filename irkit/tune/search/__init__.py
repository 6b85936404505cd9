"""The search: what to measure next, until the time is up; then the last race.

Reading order: population (candidates to measure next), progress (what callbacks see), tuner (one
task), model_tuner (several tasks that share their time).
"""

from irkit.tune.search.model_tuner import (
    tune_all as tune_all,
)
from irkit.tune.search.progress import (
    Callback as Callback,
    Progress as Progress,
)
from irkit.tune.search.tuner import (
    TuneResult as TuneResult,
    tune as tune,
)
