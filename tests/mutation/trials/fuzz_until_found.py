"""Fuzzing in a child process: draw samples until one shows what is wrong with the irkit of this
process, which was changed."""

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

import msgspec
from msgspec.structs import replace

from irkit.core import IRKitError
from irkit.fuzz.campaign.draw import Draw, draw_of
from irkit.fuzz.campaign.worker import set_up_worker
from irkit.fuzz.generators.draw_sample import draw_case
from irkit.fuzz.generators.sample import Sample, Unusable
from irkit.fuzz.generators.sample_file import sample_text
from irkit.fuzz.generators.schedules.attempt import WrongSchedule
from irkit.fuzz.judge.invariants import INVARIANTS
from irkit.fuzz.judge.judge import describe_exception, judge, primitive_in
from irkit.fuzz.judge.outcome import Outcome
from irkit.fuzz.shrink.choices import record_choices, replay_choices, shrink_choices
from irkit.fuzz.shrink.forked_judge import LIMITS, Judge, judge_in_fork
from irkit.fuzz.shrink.make_small import CANDIDATES, make_small
from irkit.processes import Limits
from tests.mutation.trials.messages import FuzzOrder, FuzzResult

_INVARIANTS = tuple(INVARIANTS)
_SEARCHES, _LEAST = 4, 0.2
_HANGS = Limits(3.0, LIMITS.memory)
_NATIVE = ("O0", "O3", "invariants")
OnCase = Callable[[str], object]


def fuzz_until_found(order: FuzzOrder, on_case: OnCase) -> FuzzResult:
    """Draw and judge cases until one is wrong, and shrink it; ``on_case`` is called with each
    number before the case is drawn."""
    set_up_worker()
    started = perf_counter()
    for number in range(order.first, order.first + order.count):
        if perf_counter() - started > order.within:
            return FuzzResult(number=number, seconds=perf_counter() - started, cut=True)
        on_case(str(number))
        draw = draw_of(order.seed, number, order.kinds, ())
        picks, kept = record_choices(draw.picks)
        try:
            sample = draw_case(draw.kind, picks)
        except Unusable:
            continue
        except Exception as error:  # Whatever a changed primitive raises, it is found.
            found = _result_of(draw, _failed(error), perf_counter() - started)
            return _smaller_draw(order, draw, tuple(kept), found, on_case)
        options: dict[str, Any] = {
            "invariants": (_INVARIANTS[number // len(order.kinds) % len(_INVARIANTS)],),
            "number": number,
        }
        outcome = (judge_in_fork if order.apart else judge)(sample, **options)
        if outcome.is_finding:
            options["native"] = outcome.tier in _NATIVE
            options["about"] = outcome.named if outcome.tier == "invariants" else ""
            seconds = perf_counter() - started
            look = _candidate_judge(options, outcome, partial(on_case, str(number)))
            return _smaller(order, draw, sample, outcome, tuple(kept), look, on_case, seconds)
    return FuzzResult(number=order.first + order.count, seconds=perf_counter() - started)


def _failed(error: Exception) -> Outcome:
    text = str(error) if isinstance(error, IRKitError) else describe_exception(error)
    return Outcome("failed", "draw", primitive_in(error), text)


def _smaller_draw(
    order: FuzzOrder, draw: Draw, choices: tuple[int, ...], found: FuzzResult, on_case: OnCase
) -> FuzzResult:
    """Shrink the choices while drawing fails in the same primitive."""
    started = perf_counter()
    on_case(msgspec.json.encode(found).decode())  # The result is kept in any case.

    def holds(made: tuple[int, ...]) -> bool:
        nonlocal found
        on_case(str(draw.number))
        try:
            draw_case(draw.kind, replay_choices(made))
        except Unusable:
            return False
        except Exception as error:  # Whatever a changed irkit raises is what was searched for.
            outcome = _failed(error)
            if outcome.named != found.named:
                return False
            size = error.size if isinstance(error, WrongSchedule) else (0, 0)
            found = replace(found, message=outcome.message, stages=size[0], steps=size[1])
            return True
        return False

    holds(choices)
    shrink_choices(choices, holds, seconds=order.seconds, candidates=CANDIDATES)
    return replace(found, shrinking=perf_counter() - started)


def _candidate_judge(
    options: dict[str, Any], outcome: Outcome, on_case: Callable[[], object]
) -> Judge:
    """Return a judge of candidates in forks; ``on_case`` is called with each, because together they
    take long."""
    limits = _HANGS if outcome.status == "hang" else LIMITS

    def look(made: Sample) -> Outcome:
        on_case()
        return judge_in_fork(made, limits, **options)

    return look


def _smaller(
    order: FuzzOrder,
    draw: Draw,
    sample: Sample,
    outcome: Outcome,
    choices: tuple[int, ...],
    look: Judge,
    on_case: OnCase,
    seconds: float,
) -> FuzzResult:
    started = perf_counter()
    # The result is kept in any case.
    on_case(msgspec.json.encode(_result_of(draw, outcome, seconds)).decode())
    small = make_small(
        sample,
        outcome,
        look,
        choices=choices,
        redraw=lambda made: draw_case(draw.kind, replay_choices(made)),
        seconds=max(_LEAST, min(order.seconds, (order.whole - seconds) / _SEARCHES)),
    )
    result = _result_of(draw, small.outcome, seconds)
    return replace(
        result,
        stages=small.size.stages,
        steps=small.size.steps,
        passes=small.size.passes,
        text=sample_text(small.sample, {"why": small.outcome.message}),
        shrinking=perf_counter() - started,
    )


def _result_of(draw: Draw, outcome: Outcome, seconds: float) -> FuzzResult:
    return FuzzResult(
        outcome.status,
        draw.number,
        draw.kind,
        outcome.tier,
        outcome.named,
        outcome.message,
        seconds=seconds,
    )
