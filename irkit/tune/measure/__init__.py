"""Measuring: candidates become code in worker processes, and race in another one.

A crash, a hang or a leak of a candidate ends a worker and is a result like any other. Whatever is
timed is timed in turn with the schedule that reigns, so that a slow minute of the machine slows
both. While anything is timed, nothing is built.

Reading order: pair_times (pairs, and what they say), inputs (what kernels run on, and what must
come out), compiled (a candidate as code: the builder's side), trial (the runner's side), bench (the
processes), session (what a search asks), local, replay, distributed.
"""

from irkit.tune.measure.bench import (
    Bench as Bench,
    BenchSettings as BenchSettings,
)
from irkit.tune.measure.distributed import (
    Distributed as Distributed,
)
from irkit.tune.measure.local import (
    Local as Local,
)
from irkit.tune.measure.pair_times import (
    RatioInterval as RatioInterval,
    interval as interval,
)
from irkit.tune.measure.replay import (
    Replay as Replay,
)
from irkit.tune.measure.session import (
    Measure as Measure,
    Session as Session,
    TrialOutcome as TrialOutcome,
    Worth as Worth,
)
