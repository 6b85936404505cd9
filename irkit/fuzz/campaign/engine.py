"""Run a campaign: numbered cases on the workers of an executor, each on disk before it runs.

The main thread keeps the workers busy, counts, keeps findings and reports progress. A case that
crashes, hangs or takes too much memory ends a process of its worker, or the worker: it is a
finding, and the campaign goes on.
"""

import random
import time
import uuid
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from irkit.core import IRKitError
from irkit.fuzz.campaign.case_processes import (
    Runner,
    WorkerSettings,
    look_closer,
    run_apart,
    stop_processes,
)
from irkit.fuzz.campaign.draw import Draw, case_text, draw_of
from irkit.fuzz.campaign.executors import local_executor
from irkit.fuzz.campaign.findings import Finding, Findings
from irkit.fuzz.campaign.interrupts import undisturbed
from irkit.fuzz.campaign.small_case import SECONDS
from irkit.fuzz.campaign.tally import CampaignTally
from irkit.fuzz.campaign.worker import CaseOptions, CaseResult, run_case
from irkit.fuzz.generators.sample import KINDS, LOOP_SAMPLES, Kind
from irkit.fuzz.guidance.branches import WATCHED
from irkit.fuzz.guidance.corpus import CoverageCorpus
from irkit.fuzz.judge.invariants import INVARIANTS, UNDER_TEST
from irkit.fuzz.judge.outcome import Outcome
from irkit.processes import is_lost

THOROUGH_EVERY = 10
ELSEWHERE_EVERY = 50
OPTIMISE_EVERY = 4
CASE_SECONDS = 30.0
_LOOK_EVERY, _SOON = 0.5, 0.1  # seconds


class CampaignPlan(msgspec.Struct, frozen=True):
    """Settings of a campaign, which has a unique ``name``.

    ``kept`` are cases from files, which run first, and ``explored`` those of an earlier corpus,
    which run next; ``jobs`` is how many run at a time. ``guided`` by coverage, cases are made from
    others, as often as that brings something new.

    Units: ``seconds`` of the whole, ``case_seconds`` of a case, ``shrink_seconds`` of each search
    for a smaller one (0 for none), ``memory`` bytes of a process.
    """

    seed: int = 0
    kinds: tuple[Kind, ...] = KINDS
    seconds: float | None = 60.0
    cases: int | None = None
    jobs: int = 1
    passes: tuple[str, ...] = ()
    under_test: tuple[str, ...] = ()
    folder: Path | None = None
    case_seconds: float = CASE_SECONDS
    memory: int | None = 2 << 30
    kept: tuple[Draw, ...] = ()
    explored: tuple[Draw, ...] = ()
    shrink_seconds: float = SECONDS
    guided: bool = True
    name: str = msgspec.field(default_factory=lambda: uuid.uuid4().hex)


class _Task(msgspec.Struct, frozen=True, eq=False):
    """A case to run, or a closer look at its ``finding``; ``alone`` if nothing else may run."""

    draw: Draw
    finding: Finding | None = None
    alone: bool = False


class Campaign:
    """A campaign in progress. ``runner`` is what a worker calls for a case.

    Cases run on what ``executor`` makes, which is made anew if it breaks; by default these are
    threads of this process, each of which drives child processes.
    """

    def __init__(
        self,
        plan: CampaignPlan,
        runner: Runner = run_case,
        executor: Callable[[], Executor] | None = None,
    ) -> None:
        self.plan = plan
        self.tally = CampaignTally(plan.under_test)
        self.findings = Findings(plan.folder)
        self.begun = datetime.now(UTC)
        self.seconds = 0.0
        self.interrupted = False
        self.corpus = CoverageCorpus()
        self._settings = WorkerSettings(
            plan.name, plan.case_seconds, plan.memory, plan.shrink_seconds, runner
        )
        self._make_executor = executor or partial(local_executor, plan.jobs)
        self._next = 0
        self._kept = [*plan.kept, *plan.explored]
        self._urgent: list[_Task] = []
        self._running: dict[Future[Any], tuple[int, _Task]] = {}
        self._ends = float("inf")

    def run(self, tell: Callable[["Campaign"], object] = lambda campaign: None) -> None:
        """Run to the end, or until interrupted; call ``tell`` now and then.

        Raises: IRKitError if no worker can run anything; whatever the runner raises.
        """
        if self.plan.folder is not None:
            self.plan.folder.mkdir(parents=True, exist_ok=True)
        self.begun = datetime.now(UTC)
        started = time.monotonic()
        self._ends = started + (self.plan.seconds or float("inf"))
        executor = self._make_executor()
        try:
            while self._fill(executor):
                done, _ = wait(self._running, _LOOK_EVERY, return_when=FIRST_COMPLETED)
                if any(isinstance(each.exception(), BrokenExecutor) for each in done):
                    done, _ = wait(self._running)  # They all end with it.
                    executor.shutdown(wait=False)
                    executor = self._make_executor()
                crowded = len(self._running) > 1
                for future in sorted(done, key=lambda each: self._running[each][0]):
                    self._take(future, crowded=crowded)
                self.seconds = time.monotonic() - started
                tell(self)
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            with undisturbed():
                self._end(executor)
            self.seconds = time.monotonic() - started

    def _fill(self, executor: Executor) -> bool:
        """Start calls while workers are free; return False if none is in progress."""
        while len(self._running) < self.plan.jobs:
            alone = any(task.alone for _, task in self._running.values())
            if alone or (self._urgent and self._urgent[0].alone and self._running):
                break
            task = self._urgent.pop(0) if self._urgent else self._next_case()
            if task is None:
                break
            used = {slot for slot, _ in self._running.values()}
            slot = next(slot for slot in range(self.plan.jobs) if slot not in used)
            self._note(slot, task.draw)
            try:
                self._running[self._submitted(executor, task)] = slot, task
            except BrokenExecutor:  # Idle workers can die too.
                self._urgent.insert(0, task)
                if not self._running:
                    raise
                break
        return bool(self._running)

    def _submitted(self, executor: Executor, task: _Task) -> Future[Any]:
        options = options_for(task.draw, len(self.plan.kinds), guided=self.plan.guided)
        if task.finding is None:
            number = task.draw.number
            elsewhere = number % ELSEWHERE_EVERY == ELSEWHERE_EVERY // 2
            rest = task.draw, options, self._settings
            return executor.submit(run_apart, *rest, elsewhere=elsewhere)
        new = self.plan.shrink_seconds > 0 and not task.draw.file
        shrink = new and self.findings.wants_small(task.finding.group)
        rest = task.finding, options, self._settings
        return executor.submit(look_closer, *rest, shrink=shrink)

    def _next_case(self) -> _Task | None:
        """Return the next case, or None when the campaign is over."""
        plan = self.plan
        if self._kept:
            return _Task(self._kept.pop(0))
        over = plan.cases is not None and self._next >= plan.cases
        if over or time.monotonic() >= self._ends:
            return None
        self._next += 1
        return _Task(self._draw(self._next - 1))

    def _draw(self, number: int) -> Draw:
        """Return the case that has a number, if guided often one made from others."""
        plan = self.plan
        draw = draw_of(plan.seed, number, plan.kinds, plan.passes, swarm=plan.guided)
        rng = random.Random(f"{plan.seed} {number}")
        if not plan.guided or rng.random() >= self.corpus.share:
            return draw
        made = self.corpus.derived(draw.kind, number, rng)
        if made is None:
            return draw
        return msgspec.structs.replace(draw, swarm=0, choices=made.choices, changes=made.changes)

    def _take(self, future: Future[Any], *, crowded: bool) -> None:
        """Take the result of a call, which was one of several in progress if ``crowded``."""
        _, task = self._running.pop(future)
        if future.cancelled():
            raise IRKitError("the executor cancelled a case: does what it runs on still run?")
        error = future.exception()
        if isinstance(error, BrokenExecutor) and crowded:
            # Which of the cases broke the executor shows when each runs alone.
            self._urgent.append(msgspec.structs.replace(task, alone=True))
        elif error is not None and is_lost(error):
            self._lost(task, str(error))
        elif error is not None:
            raise error
        elif task.finding is None:
            self._count(task.draw, future.result())
        else:
            self.findings.add(future.result(), task.finding.group)

    def _lost(self, task: _Task, message: str) -> None:
        """Keep a case whose worker died: trying it again would cost another one."""
        self.tally.workers_lost += 1
        outcome = Outcome("crash", "worker", message=message)
        if task.finding is not None:
            task.finding.tries, task.finding.again = 1, 1
            self.findings.add(task.finding, task.finding.group)
            return
        self.tally.add(task.draw, CaseResult(outcome), is_loop=task.draw.kind in LOOP_SAMPLES)
        finding = Finding(task.draw, outcome)
        if self.findings.wants_look(finding.group, finding.digest):
            self.findings.add(finding, finding.group)
        else:
            self.findings.count(finding.group)

    def _count(self, draw: Draw, ran: CaseResult) -> None:
        self.tally.add(draw, ran, is_loop=draw.kind in LOOP_SAMPLES)
        if not ran.watched or draw.file:
            self.corpus.forget(draw.number)
        else:
            known = draw.kind, draw.number, ran.choices, draw.changes
            self.corpus.learn(*known, ran.branches)
        if not ran.outcome.is_finding:
            return
        finding = Finding(draw, ran.outcome, ran.text, ran.digest)
        if self.findings.wants_look(finding.group, finding.digest):
            self._urgent.append(_Task(draw, finding))
        else:
            self.findings.count(finding.group)

    def _end(self, executor: Executor) -> None:
        """End what still runs. A finding that nobody looked at closely is kept as it is."""
        executor.shutdown(wait=False, cancel_futures=True)
        until = time.monotonic() + self.plan.case_seconds
        while wait(self._running, _SOON).not_done and time.monotonic() < until:
            stop_processes(self.plan.name)
        stop_processes(self.plan.name)
        left = [*self._urgent, *(task for _, task in self._running.values())]
        for finding in (task.finding for task in left if task.finding is not None):
            self.findings.add(finding, finding.group)
        for slot in range(self.plan.jobs):
            with suppress(OSError):
                self._note_path(slot).unlink()

    def _note(self, slot: int, draw: Draw) -> None:
        """Write a case to disk before it runs: if this process dies, it can be recovered."""
        if self.plan.folder is not None:
            try:
                self._note_path(slot).write_text(case_text(draw), "utf-8")
            except OSError as error:  # A full disk is no reason to stop.
                self.findings.unwritten = str(error)

    def _note_path(self, slot: int) -> Path:
        return (self.plan.folder or Path()) / f"running-{slot}.toml"


def options_for(draw: Draw, kinds: int, *, guided: bool = False) -> CaseOptions:
    """Return how to judge a case, where so many kinds take turns; a case from a file is judged in
    every way.

    The extra checks take turns after each round of kinds: otherwise some kinds would never meet
    some of them. If ``guided``, the case is watched, and LLVM optimises it if it is new, or one in
    a few.
    """
    turn, names = draw.number // kinds, tuple(INVARIANTS)
    invariants = (names[turn // 2 % len(names)],) if turn % 2 else ()
    if draw.file:
        invariants = names
    if draw.passes:
        invariants = tuple(dict.fromkeys((*invariants, UNDER_TEST)))
    thorough = turn % THOROUGH_EVERY == 0
    optimise = bool(not guided or draw.file or turn % OPTIMISE_EVERY == 0)
    watch = guided and turn % WATCHED == 0
    return CaseOptions(thorough, True, invariants, watch=watch, optimise=optimise)
