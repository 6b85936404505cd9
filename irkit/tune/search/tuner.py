"""Tune one task: search, then race the best against what nobody had to measure.

The schedule that the rules choose reigns at the start. A candidate takes its place only if it is
faster with confidence. At the end the best are compiled in full and race the default itself; one
that does not win that race is not used, so tuning never makes anything slower beyond noise.
"""

import json
import math
import os
import time as clock
import uuid
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack

import msgspec

from irkit.core import Target
from irkit.tune.cost import Residual, rank_correlation
from irkit.tune.measure import Local, Measure, Session, TrialOutcome, Worth
from irkit.tune.records import (
    SCHEMA,
    Built,
    CandidateOrigin,
    Measured,
    Record,
    RecordFile,
    Records,
    Values,
    key_of,
    record_id,
)
from irkit.tune.records.record import machine_now, plain_target, toolchain
from irkit.tune.search.forecast import Forecast
from irkit.tune.search.population import Population, Proposal
from irkit.tune.search.progress import Callback, TuneProgress
from irkit.tune.space import Task

_BATCH = 16
_FINALISTS = 3
_FINAL_SHARE = 0.3
"""Share of the time that is kept for the last race."""
_FINAL_SECONDS = 1.0
_MOST_FINAL = 4.0
"""Seconds that suffice to compile three finalists in full, and to race them."""
_RACE_SECONDS = 0.06
_LEARNS = 5.0
"""Seconds of a search from which on loading lightgbm, which takes half a second, is worth it."""
_RANKED = 5
_EMPTY = 8
"""Batches without anything measured after which a search ends."""


class TuneResult(msgspec.Struct, frozen=True):
    """What a search found: the winner's decisions (none if the default stays) and how many times
    faster it is, with its confidence interval; every record, and how well candidates were ranked.

    ``correlation`` is Spearman's, between the times expected and measured within a batch; ``built``
    that of the times expected when the assembly was known, 0 if nothing was expected then; and
    ``skipped`` candidates were built, but not raced, because of that.
    """

    task: Task
    values: Values
    speedup: float
    low: float
    high: float
    records: tuple[Record, ...]
    correlation: float
    noise: float
    seconds: float
    winner: Record | None = None
    built: float = 0.0
    skipped: int = 0

    @property
    def improved(self) -> bool:
        """True if a candidate won the last race."""
        return self.winner is not None


def tune(
    task: Task,
    *,
    trials: int | None = None,
    time: float | None = None,
    measure: Measure | None = None,
    records: RecordFile | None = None,
    known: Records | None = None,
    seed: int = 0,
    callbacks: Sequence[Callback] = (),
    residual: Residual | None = None,
    hints: Sequence[Values] = (),
) -> TuneResult:
    """Search the space of a task for so many trials or so long, whichever ends first.

    ``records`` receives a line for each candidate; ``known`` are records to go on from, which count
    as trials; ``hints`` are measured first. Without ``time`` the same outcomes lead to the same
    candidates. Units: seconds. Raises: IRKitError if the default itself cannot be measured.
    """
    if trials is None and time is None:
        trials = 64
    run = _Run(task, trials, time, measure or Local(), records, seed, callbacks, residual, hints)
    return run.finished(known)


class _Run:
    """The state of one search."""

    def __init__(
        self,
        task: Task,
        trials: int | None,
        seconds: float | None,
        measure: Measure,
        file: RecordFile | None,
        seed: int,
        callbacks: Sequence[Callback],
        residual: Residual | None,
        hints: Sequence[Values],
    ) -> None:
        self.task, self.trials, self.seconds = task, trials, seconds
        self.measure, self.file, self.callbacks = measure, file, callbacks
        self.run, self.seed = uuid.uuid4().hex[:12], seed
        self.hash = task.hash
        self.started = clock.monotonic()
        self.residual = residual or Residual()
        self.population = Population(task.space, seed, self.residual, hints)
        self.records: list[Record] = []
        self.forecast = Forecast(task.space, self.population, self.residual)
        self.usual, self.skipped = 0.0, 0
        self.scores: dict[str, tuple[float, Values]] = {}
        self.reigning: tuple[float, Values] = (1.0, {})
        self.ranked: list[tuple[float, int]] = []
        self.count = 0
        self.progress = TuneProgress(task.name, failures=Counter())
        flop = task.flop
        self.flop = flop if flop > 0 else 0

    def finished(self, known: Records | None) -> TuneResult:
        """Search, race, and return the result."""
        if known is not None:
            self._resume(known)
        with ExitStack() as opened:
            session = opened.enter_context(self.measure.session(self.task))
            self._search(session)
            winner = self._winner(session)
        found = None if winner is None else winner.measure
        return TuneResult(
            self.task,
            {} if winner is None else winner.values,
            1.0 if found is None else found.ratio,
            1.0 if found is None else found.low,
            1.0 if found is None else found.high,
            tuple(self.records),
            self._correlation(),
            self.progress.noise,
            clock.monotonic() - self.started,
            winner,
            self.forecast.correlation,
            self.skipped,
        )

    def _resume(self, known: Records) -> None:
        here = machine_now(_cores()).fingerprint
        for each in known.of(self.hash):
            if each.stage != "search" or each.space != self.task.space.name:
                continue
            if each.machine.fingerprint != here:
                continue
            self.count += 1
            self.population.skip(each.values)
            if each.verdict == "ok" and each.measure is not None:
                self._score(each.values, each.score, each.measure, each.build)
            elif each.verdict not in ("time-out", "skipped"):
                self.population.refused(each.values)

    def _search(self, session: Session) -> None:
        deadline = None
        if self.seconds is not None:
            kept = min(self.seconds * _FINAL_SHARE, _MOST_FINAL)
            deadline = self.started + self.seconds - kept
        empty = 0
        while self._goes_on(deadline) and empty < _EMPTY:
            if self._learns:
                self.residual.learn()
            left = _BATCH if self.trials is None else min(_BATCH, self.trials - self.count)
            batch = self.population.batch(left)
            if not batch:
                break
            before = len(self.scores)
            reigning, against = self.reigning
            values = [each.values for each in batch]
            outcomes = session.run(
                values,
                against,
                seconds=_RACE_SECONDS,
                deadline=deadline,
                counted=self._learns and self.residual.available,
                worth=self._worth({each.key for each in batch if each.by_chance}),
            )
            best = self.reigning
            for proposal, outcome in zip(batch, outcomes, strict=True):
                best = max(best, self._take(proposal, outcome, reigning), key=_score)
            self.reigning = best
            self._rank(batch)
            empty = 0 if len(self.scores) > before else empty + 1

    @property
    def _learns(self) -> bool:
        return self.seconds is None or self.seconds >= _LEARNS

    def _worth(self, always: set[str]) -> Worth:
        """Return what decides whether to race a candidate that was built: those by chance are, so
        that the model is found out when it is wrong."""

        def worth(values: Values, built: Built) -> bool:
            can = self.forecast.can_win(values, built, self.usual / self.reigning[0])
            raced = can or key_of(values) in always
            self.skipped += not raced
            return raced

        return worth

    def _rank(self, batch: Sequence[Proposal]) -> None:
        """Note how well what was expected of a batch ranked it: the model is another one by then,
        and so may be the unit."""
        found = [each for each in batch if each.key in self.scores and each.predicted < math.inf]
        if len(found) >= _RANKED:
            measured = [-self.scores[each.key][0] for each in found]
            expected = [each.predicted for each in found]
            self.ranked.append((rank_correlation(expected, measured), len(found)))

    def _correlation(self) -> float:
        """Return the rank correlation of all batches on average, each by its size."""
        total = sum(count for _, count in self.ranked)
        return sum(each * count for each, count in self.ranked) / total if total else 0.0

    def _goes_on(self, deadline: float | None) -> bool:
        if self.trials is not None and self.count >= self.trials:
            return False
        return deadline is None or clock.monotonic() < deadline

    def _take(
        self, proposal: Proposal, outcome: TrialOutcome, reigning: float
    ) -> tuple[float, Values]:
        """Record an outcome; return the candidate with its score if it beats what reigns."""
        if outcome.verdict == "skipped":
            return self.reigning
        self.count += 1
        found = outcome.measure
        score = 0.0 if found is None else found.best_ratio * reigning
        origin = CandidateOrigin(
            self.run,
            self.seed,
            self.count,
            proposal.origin,
            record_id(self.hash, self.task.space.name, _values(proposal.parent))
            if proposal.parent
            else "",
            proposal.predicted if math.isfinite(proposal.predicted) else None,
        )
        self._write(proposal.values, "search", outcome, score, origin)
        if found is None or outcome.verdict != "ok":
            self.progress.failures[outcome.verdict] += 1
            if outcome.verdict != "time-out":
                self.population.refused(proposal.values)
            self._tell(self.records[-1])
            return self.reigning
        self._score(proposal.values, score, found, outcome.build)
        self.progress.noise = found.noise
        self._tell(self.records[-1])
        return (score, proposal.values) if found.low > 1 else self.reigning

    def _score(self, values: Values, score: float, found: Measured, built: Built) -> None:
        """Add what was measured. Models learn times by the score, which was measured in turn with
        the reigning schedule: the seconds themselves depend on what else the machine does."""
        self.scores[key_of(values)] = (score, values)
        self.usual = self.usual or found.seconds * score
        seconds = self.usual / score if score > 0 else found.seconds
        self.forecast.note(values, seconds)
        self.population.add(values, score, seconds, built)
        if score > self.progress.score:
            self.progress.score, self.progress.seconds = score, found.seconds
            self.progress.gflops = self.flop / found.seconds / 1e9

    def _winner(self, session: Session) -> Record | None:
        """Return the best that wins two races against the default, as the race tells that it won by
        less: one of three may win the first by chance, and memory that lies elsewhere, as in
        another process, can be faster for one schedule alone."""
        finals = [each for each in self._final(session) if each.wins]
        left = 2.0 if self.seconds is None else self.started + self.seconds - clock.monotonic()
        seconds = min(max(left / 2, 0.1), _FINAL_SECONDS)
        for each in sorted(finals, key=_low, reverse=True):
            again = self._raced(session, [each.values], seconds, None)  # Seldom beyond the time.
            if again and again[0].wins:
                return min(each, again[0], key=_low)
        return None

    def _final(self, session: Session) -> list[Record]:
        """Race the best against the default, in code compiled in full."""
        ranked = sorted(self.scores.values(), key=lambda each: (-each[0], key_of(each[1])))
        best = [values for score, values in ranked if score > 1][:_FINALISTS]
        if not best:
            return []
        self.progress.phase = "final"
        self._tell(None)
        left = 2.0 if self.seconds is None else self.started + self.seconds - clock.monotonic()
        each_seconds = min(max(left / (len(best) + 1) * 0.5, 0.05), _FINAL_SECONDS)
        end = None if self.seconds is None else self.started + self.seconds
        return self._raced(session, best, each_seconds, end)

    def _raced(
        self, session: Session, best: Sequence[Values], seconds: float, end: float | None
    ) -> list[Record]:
        """Race candidates against the default, and record how that ends."""
        outcomes = session.run(best, {}, full=True, seconds=seconds, deadline=end)
        finals: list[Record] = []
        for values, outcome in zip(best, outcomes, strict=True):
            if outcome.verdict == "skipped":
                continue
            score = 0.0 if outcome.measure is None else outcome.measure.ratio
            self._write(
                values, "final", outcome, score, CandidateOrigin(self.run, self.seed, self.count)
            )
            finals.append(self.records[-1])
            self._tell(self.records[-1])
        return finals

    def _write(
        self,
        values: Values,
        stage: str,
        outcome: TrialOutcome,
        score: float,
        origin: CandidateOrigin,
    ) -> None:
        machine = outcome.machine or machine_now(_cores())
        record = Record(
            SCHEMA,
            record_id(self.hash, self.task.space.name, values, stage),
            self.hash,
            self.task.name,
            self.task.space.name,
            values,
            "final" if stage == "final" else "search",
            plain_target(Target()),
            machine,
            toolchain(),
            outcome.verdict,
            outcome.build,
            outcome.checked,
            outcome.message,
            outcome.measure,
            round(score, 5),
            origin,
            round(clock.time(), 3),
            outcome.worker,
            json.loads(outcome.trace) if outcome.trace else None,
        )
        self.records.append(record)
        if self.file is not None:
            if len(self.records) == 1:
                self.file.append(self.task.line())
            self.file.append(record)

    def _tell(self, record: Record | None) -> None:
        progress = self.progress
        progress.trials = self.count
        progress.elapsed = clock.monotonic() - self.started
        progress.roof = machine_now(_cores()).roof
        if self.seconds is not None:
            progress.remaining = max(0.0, self.seconds - progress.elapsed)
        for callback in self.callbacks:
            callback(progress, record)


def _values(key: str) -> Values:
    return msgspec.json.decode(key)


def _score(pair: tuple[float, Values]) -> float:
    return pair[0]


def _low(record: Record) -> float:
    return 0.0 if record.measure is None else record.measure.low


def _cores() -> int:
    return os.cpu_count() or 1
