"""What tuning needs of the phases: the tasks of a model, and one candidate's way to a target."""

from irkit.phases.candidates.lower_candidate import (
    lower_candidate as lower_candidate,
    lowering_trace as lowering_trace,
)
from irkit.phases.candidates.model_tasks import (
    model_tasks as model_tasks,
)
