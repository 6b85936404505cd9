"""Draw samples of each kind; the same for the same choices."""

from collections.abc import Callable

from irkit.fuzz.generators import (
    KINDS,
    Kind,
    Sample,
    Unusable,
    draw_graph,
    draw_model,
    draw_pipeline,
    draw_program,
    draw_scheduled,
    draw_text,
)
from irkit.fuzz.picks import Picks

__all__ = ["KINDS", "Kind", "Sample", "Unusable", "draw_sample"]

_DRAWN: dict[Kind, Callable[[Picks], Sample]] = {
    "programs": draw_program,
    "schedules": draw_scheduled,
    "pipelines": draw_pipeline,
    "graphs": draw_graph,
    "onnx": draw_model,
    "text": draw_text,
}


def draw_sample(kind: Kind, picks: Picks) -> Sample:
    """Draw a sample.

    Raises: Unusable, with the reason, if the choices lead to nothing that is legal; Wrong, an
    AssertionError, where a schedule primitive was refused and changed something, or crashed: a
    finding.
    """
    return _DRAWN[kind](picks)
