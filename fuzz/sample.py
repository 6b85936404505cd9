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
    onnx_model,
)
from irkit.fuzz.hostile import hostile_model
from irkit.fuzz.picks import Picks
from irkit.phases import GRAPH

__all__ = ["KINDS", "Kind", "Sample", "Unusable", "draw_case", "draw_sample"]

DAMAGED_MODELS = 6
"""Of so many models one is damaged; they take a third of the time of others."""

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


def draw_case(kind: Kind, picks: Picks) -> Sample:
    """Draw what a campaign tries: a sample, or, among models, a damaged one now and then.

    Raises: what :func:`draw_sample` raises.
    """
    if kind == "onnx" and picks.one_in(DAMAGED_MODELS):
        data, names = hostile_model(picks, lambda: _whole_model(picks))
        features = tuple(f"damage:{name}" for name in names)
        return Sample(kind, data, GRAPH, features=features, damaged=True)
    return draw_sample(kind, picks)


def _whole_model(picks: Picks) -> bytes:
    return onnx_model(picks, whole=True)[0].SerializeToString()
