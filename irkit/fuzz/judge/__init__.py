"""Say whether a sample is right: run it in several ways, which must agree. Reading order: outcome,
course, agreement, loops, models, files, promises, model_promises, judge."""

from irkit.fuzz.judge.files import DAMAGED
from irkit.fuzz.judge.invariants import INVARIANTS
from irkit.fuzz.judge.judge import explained, judge, primitive_in
from irkit.fuzz.judge.loops import target_of
from irkit.fuzz.judge.models import is_model, module_of
from irkit.fuzz.judge.outcome import Outcome, Status
from irkit.fuzz.judge.progress import tier_and_pass

__all__ = [
    "DAMAGED",
    "INVARIANTS",
    "Outcome",
    "Status",
    "explained",
    "is_model",
    "judge",
    "module_of",
    "primitive_in",
    "target_of",
    "tier_and_pass",
]
