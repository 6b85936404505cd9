"""Draw samples until one shows what is wrong with the irkit of this process, which was changed."""

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import msgspec

from irkit.core import IRKitError
from irkit.fuzz.campaign.draws import Draw, draw_of
from irkit.fuzz.campaign.worker import settle
from irkit.fuzz.generators import Sample, Unusable
from irkit.fuzz.judging import PROMISES, Outcome, explained, judge, primitive_in
from irkit.fuzz.quarry import Caught, Hunt
from irkit.fuzz.sample import draw_case
from irkit.fuzz.shrinking import judged_apart, make_small, recorded, replayed, sample_text

_PROMISES = tuple(PROMISES)
_NATIVE = ("O0", "O3", "promises")
Told = Callable[[str], object]


def hunted(hunt: Hunt, told: Told) -> Caught:
    """Draw and judge cases until one is wrong, and make it small; ``told`` hears of each number
    before the case is drawn."""
    settle()
    started = perf_counter()
    for number in range(hunt.first, hunt.first + hunt.count):
        told(str(number))
        draw = draw_of(hunt.seed, number, hunt.kinds, ())
        picks, kept = recorded(draw.picks)
        try:
            sample = draw_case(draw.kind, picks)
        except Unusable:
            continue
        except Exception as error:  # Whatever a changed primitive raises, it is found.
            text = str(error) if isinstance(error, IRKitError) else explained(error)
            found = Outcome("failed", "draw", primitive_in(error), text)
            return _caught(draw, found, perf_counter() - started)
        asked: dict[str, Any] = {
            "promises": (_PROMISES[number // len(hunt.kinds) % len(_PROMISES)],),
            "number": number,
        }
        outcome = (judged_apart if hunt.apart else judge)(sample, **asked)
        if outcome.is_finding:
            asked["native"] = outcome.tier in _NATIVE
            seconds = perf_counter() - started
            return _smaller(hunt, draw, sample, outcome, tuple(kept), asked, seconds)
    return Caught(seconds=perf_counter() - started)


def _smaller(
    hunt: Hunt,
    draw: Draw,
    sample: Sample,
    outcome: Outcome,
    choices: tuple[int, ...],
    asked: dict[str, Any],
    seconds: float,
) -> Caught:
    started = perf_counter()
    small = make_small(
        sample,
        outcome,
        partial(judged_apart, **asked),
        choices=choices,
        redraw=lambda made: draw_case(draw.kind, replayed(made)),
        seconds=hunt.seconds,
    )
    caught = _caught(draw, small.outcome, seconds)
    return msgspec.structs.replace(
        caught,
        stages=small.stages,
        steps=small.steps,
        passes=small.passes,
        text=sample_text(small.sample, {"why": small.outcome.message}),
        shrinking=perf_counter() - started,
    )


def _caught(draw: Draw, outcome: Outcome, seconds: float) -> Caught:
    return Caught(
        outcome.status,
        draw.number,
        draw.kind,
        outcome.tier,
        outcome.named,
        outcome.message,
        seconds=seconds,
    )
