"""The generator of each kind of samples; the same choices draw the same sample."""

from collections.abc import Callable, Sequence
from itertools import count
from math import isqrt

from irkit.fuzz.generators.graphs.graph_samples import draw_graph
from irkit.fuzz.generators.onnx_models.model_samples import draw_model, onnx_model
from irkit.fuzz.generators.pipelines import draw_pipeline
from irkit.fuzz.generators.programs.program_samples import choices_of_functions, draw_program
from irkit.fuzz.generators.sample import (
    KINDS as KINDS,
    Kind as Kind,
    Sample as Sample,
    Unusable as Unusable,
)
from irkit.fuzz.generators.schedules.schedule_samples import choices_of_schedules, draw_scheduled
from irkit.fuzz.generators.texts import draw_text
from irkit.fuzz.malformed.inputs.onnx_cases import malformed_model
from irkit.fuzz.picks import Picks
from irkit.phases import GRAPH

DAMAGED_MODELS = 6
"""One model in this many is damaged; those take a third of the time of others."""

_LED_EVERY = 7
"""One case in this many starts from the seed corpus; prime to the number of kinds, which take
turns."""

_LEADS: dict[Kind, Callable[[], Sequence[Sequence[int]]]] = {
    "programs": choices_of_functions,
    "schedules": choices_of_schedules,
}

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

    Raises: Unusable, with the reason, if the choices lead to nothing legal; WrongSchedule, an
    AssertionError, if a schedule primitive was refused but changed something, or crashed: a
    finding.
    """
    return _DRAWN[kind](picks)


def draw_case(kind: Kind, picks: Picks) -> Sample:
    """Draw a case of a campaign: a sample, or a damaged file now and then.

    Raises: what :func:`draw_sample` raises.
    """
    if kind == "onnx" and picks.one_in(DAMAGED_MODELS):
        data, names = malformed_model(picks, lambda: _whole_model(picks))
        features = tuple(f"damage:{name}" for name in names)
        return Sample(kind, data, GRAPH, features=features, damaged=True)
    return draw_sample(kind, picks)


def seed_choices(kind: Kind, seed: int, number: int) -> Sequence[int]:
    """Return the first choices of a case of a campaign.

    One case in seven starts from the seed corpus, in turn, so that all of it is tried: chance would
    leave a third out.
    """
    if kind not in _LEADS or number % _LED_EVERY:
        return ()
    leads = _LEADS[kind]()
    # The numbers of a kind go up by a fixed step, so a prime modulus reaches every entry.
    turn = (number // _LED_EVERY + seed) % _prime(len(leads))
    return leads[turn] if turn < len(leads) else ()


def _prime(least: int) -> int:
    """Return the first prime from a number on, at least 11."""
    return next(
        n for n in count(max(least, 11)) if all(n % factor for factor in range(2, isqrt(n) + 1))
    )


def _whole_model(picks: Picks) -> bytes:
    return onnx_model(picks, whole=True)[0].SerializeToString()
