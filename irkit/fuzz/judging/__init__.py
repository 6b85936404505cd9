"""Say whether a sample is right: run it in several ways, which must agree. Reading order: outcome,
course, agreement, loops, models, files, promises, model_promises, judge."""

from irkit.fuzz.judging.course import place_told
from irkit.fuzz.judging.files import DAMAGED
from irkit.fuzz.judging.judge import explained, judge, primitive_in
from irkit.fuzz.judging.loops import target_of
from irkit.fuzz.judging.models import is_model, module_of
from irkit.fuzz.judging.outcome import Outcome, Status
from irkit.fuzz.judging.promises import PROMISES

__all__ = [
    "DAMAGED",
    "PROMISES",
    "Outcome",
    "Status",
    "explained",
    "is_model",
    "judge",
    "module_of",
    "place_told",
    "primitive_in",
    "target_of",
]
