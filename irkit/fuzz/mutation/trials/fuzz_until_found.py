"""Fuzzing in a child process: draw samples until one shows what is wrong with the irkit of this
process, which was changed."""

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import msgspec
from msgspec.structs import replace

from irkit.core import IRKitError
from irkit.debug import Limits
from irkit.fuzz.campaign.draw import Draw, draw_of
from irkit.fuzz.campaign.worker import settle
from irkit.fuzz.generators.draw_sample import draw_case
from irkit.fuzz.generators.sample import Sample, Unusable
from irkit.fuzz.generators.sample_file import sample_text
from irkit.fuzz.generators.schedules.attempt import size_of
from irkit.fuzz.judge.invariants import INVARIANTS
from irkit.fuzz.judge.judge import explained, judge, primitive_in
from irkit.fuzz.judge.outcome import Outcome
from irkit.fuzz.mutation.trials.messages import FuzzOrder, FuzzResult
from irkit.fuzz.shrink.choices import recorded, replayed, shrink_choices
from irkit.fuzz.shrink.forked_judge import LIMITS, Judge, judge_in_fork
from irkit.fuzz.shrink.make_small import CANDIDATES, make_small

_PROMISES = tuple(INVARIANTS)
_SEARCHES, _LEAST = 4, 0.2
_HANGS = Limits(3.0, LIMITS.memory)
_NATIVE = ("O0", "O3", "promises")
OnCase = Callable[[str], object]


def fuzz_until_found(hunt: FuzzOrder, told: OnCase) -> FuzzResult:
    """Draw and judge cases until one is wrong, and shrink it; ``told`` is called with each number
    before the case is drawn."""
    settle()
    started = perf_counter()
    for number in range(hunt.first, hunt.first + hunt.count):
        if perf_counter() - started > hunt.within:
            return FuzzResult(number=number, seconds=perf_counter() - started, cut=True)
        told(str(number))
        draw = draw_of(hunt.seed, number, hunt.kinds, ())
        picks, kept = recorded(draw.picks)
        try:
            sample = draw_case(draw.kind, picks)
        except Unusable:
            continue
        except Exception as error:  # Whatever a changed primitive raises, it is found.
            found = _caught(draw, _failed(error), perf_counter() - started)
            return _smaller_draw(hunt, draw, tuple(kept), found, told)
        asked: dict[str, Any] = {
            "promises": (_PROMISES[number // len(hunt.kinds) % len(_PROMISES)],),
            "number": number,
        }
        outcome = (judge_in_fork if hunt.apart else judge)(sample, **asked)
        if outcome.is_finding:
            asked["native"] = outcome.tier in _NATIVE
            asked["about"] = outcome.named if outcome.tier == "promises" else ""
            seconds = perf_counter() - started
            look = _looking(asked, outcome, partial(told, str(number)))
            return _smaller(hunt, draw, sample, outcome, tuple(kept), look, told, seconds)
    return FuzzResult(number=hunt.first + hunt.count, seconds=perf_counter() - started)


def _failed(error: Exception) -> Outcome:
    text = str(error) if isinstance(error, IRKitError) else explained(error)
    return Outcome("failed", "draw", primitive_in(error), text)


def _smaller_draw(
    hunt: FuzzOrder, draw: Draw, choices: tuple[int, ...], found: FuzzResult, told: OnCase
) -> FuzzResult:
    """Shrink the choices while drawing fails in the same primitive."""
    started = perf_counter()
    told(msgspec.json.encode(found).decode())  # The result is kept in any case.

    def holds(made: tuple[int, ...]) -> bool:
        nonlocal found
        told(str(draw.number))
        try:
            draw_case(draw.kind, replayed(made))
        except Unusable:
            return False
        except Exception as error:
            outcome = _failed(error)
            if outcome.named != found.named:
                return False
            size = size_of(error)
            found = replace(found, message=outcome.message, stages=size[0], steps=size[1])
            return True
        return False

    holds(choices)
    shrink_choices(choices, holds, seconds=hunt.seconds, candidates=CANDIDATES)
    return replace(found, shrinking=perf_counter() - started)


def _looking(asked: dict[str, Any], outcome: Outcome, told: Callable[[], object]) -> Judge:
    """Return a judge of candidates in forks; ``told`` is called with each, because together they
    take long."""
    limits = _HANGS if outcome.status == "hang" else LIMITS

    def look(made: Sample) -> Outcome:
        told()
        return judge_in_fork(made, limits, **asked)

    return look


def _smaller(
    hunt: FuzzOrder,
    draw: Draw,
    sample: Sample,
    outcome: Outcome,
    choices: tuple[int, ...],
    look: Judge,
    told: OnCase,
    seconds: float,
) -> FuzzResult:
    started = perf_counter()
    told(
        msgspec.json.encode(_caught(draw, outcome, seconds)).decode()
    )  # The result is kept in any case.
    small = make_small(
        sample,
        outcome,
        look,
        choices=choices,
        redraw=lambda made: draw_case(draw.kind, replayed(made)),
        seconds=max(_LEAST, min(hunt.seconds, (hunt.whole - seconds) / _SEARCHES)),
    )
    caught = _caught(draw, small.outcome, seconds)
    return replace(
        caught,
        stages=small.stages,
        steps=small.steps,
        passes=small.passes,
        text=sample_text(small.sample, {"why": small.outcome.message}),
        shrinking=perf_counter() - started,
    )


def _caught(draw: Draw, outcome: Outcome, seconds: float) -> FuzzResult:
    return FuzzResult(
        outcome.status,
        draw.number,
        draw.kind,
        outcome.tier,
        outcome.named,
        outcome.message,
        seconds=seconds,
    )
