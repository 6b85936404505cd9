"""Tune several tasks that share their time: each gets its share of a model's."""

import time as clock
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext

from irkit.tune.cost import Residual
from irkit.tune.measure import Local, Measure
from irkit.tune.records import RecordFile, Records, Values
from irkit.tune.search.progress import Callback
from irkit.tune.search.tuner import TuneResult, tune
from irkit.tune.space import Task

_LEAST = 0.6
"""Seconds below which a search is not worth starting."""


def tune_all(
    tasks: Sequence[Task],
    *,
    trials: int | None = None,
    time: float | None = None,
    measure: Measure | None = None,
    records: RecordFile | None = None,
    known: Records | None = None,
    seed: int = 0,
    callbacks: Sequence[Callback] = (),
    residual: Residual | None = None,
    finished: Callable[[TuneResult], object] | None = None,
    hints: Mapping[str, Sequence[Values]] | None = None,
) -> list[TuneResult]:
    """Tune tasks one after the other, the weightiest first; what one teaches the next one knows.

    ``time`` is for all of them: each gets the part of what is left that is its part of the weight
    that is left. ``trials`` are for each. ``hints`` are candidates to measure first, by the hash of
    a task. Units: seconds.
    """
    shared = residual or Residual()
    way = measure or Local()
    with way if isinstance(way, Local) else nullcontext():
        return _tuned(
            tasks, trials, time, way, records, known, seed, callbacks, shared, finished, hints or {}
        )


def _tuned(
    tasks: Sequence[Task],
    trials: int | None,
    time: float | None,
    measure: Measure,
    records: RecordFile | None,
    known: Records | None,
    seed: int,
    callbacks: Sequence[Callback],
    residual: Residual,
    finished: Callable[[TuneResult], object] | None,
    hints: Mapping[str, Sequence[Values]],
) -> list[TuneResult]:
    started = clock.monotonic()
    made: list[TuneResult] = []
    order = sorted(tasks, key=lambda each: -each.weight)
    for at, task in enumerate(order):
        seconds = None
        if time is not None:
            left = started + time - clock.monotonic()
            weight = sum(each.weight for each in order[at:]) or 1.0
            seconds = left * task.weight / weight
            if left < _LEAST:
                break
            seconds = min(max(seconds, _LEAST), left)
        result = tune(
            task,
            trials=trials,
            time=seconds,
            measure=measure,
            records=records,
            known=known,
            seed=seed,
            callbacks=callbacks,
            residual=residual,
            hints=hints.get(task.hash, ()),
        )
        made.append(result)
        if finished is not None:
            finished(result)
    return made
