"""Say whether a sample is right: run it in several ways, which must agree. Reading order: outcome,
course, agreement, loops, models, files, promises, model_promises, judge."""

from irkit.fuzz.judge.files import (
    DAMAGED as DAMAGED,
)
from irkit.fuzz.judge.invariants import (
    INVARIANTS as INVARIANTS,
)
from irkit.fuzz.judge.judge import (
    explained as explained,
    judge as judge,
    primitive_in as primitive_in,
)
from irkit.fuzz.judge.loops import (
    target_of as target_of,
)
from irkit.fuzz.judge.models import (
    is_model as is_model,
    module_of as module_of,
)
from irkit.fuzz.judge.outcome import (
    Outcome as Outcome,
    Status as Status,
)
from irkit.fuzz.judge.progress import (
    tier_and_pass as tier_and_pass,
)
