"""What tuning needs of the phases: the tasks of a model, and one candidate's way to a target."""

from irkit.phases.candidates.lower_candidate import (
    lower_candidate as lower_candidate,
)
