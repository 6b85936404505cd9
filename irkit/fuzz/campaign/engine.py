"""Run a campaign: numbered cases in worker processes, each on disk before it runs.

A thread for each worker takes the next number, has the case run, and puts the report into a queue;
the main thread counts, keeps findings and reports progress. A worker that crashes, hangs or takes
too much memory is a finding with its case, and a new worker replaces it.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from irkit.core import IRKitError
from irkit.fuzz.campaign.draw import Draw, case_text, draw_of
from irkit.fuzz.campaign.findings import Finding, Findings, Group
from irkit.fuzz.campaign.interrupts import undisturbed
from irkit.fuzz.campaign.small_case import SECONDS, SmallCase, small_case
from irkit.fuzz.campaign.tally import CampaignTally
from irkit.fuzz.campaign.worker import (
    CaseOptions,
    CaseResult,
    digest_of,
    drawn_data,
    drawn_text,
    run_case,
)
from irkit.fuzz.generators.sample import KINDS, Kind
from irkit.fuzz.judge.invariants import INVARIANTS
from irkit.fuzz.judge.outcome import DEATHS, Outcome
from irkit.fuzz.judge.progress import tier_and_pass
from irkit.processes import ONE_THREAD, Child, ChildDied, Limits
from irkit.transform import PASS_CALLER

THOROUGH_EVERY = 10
ELSEWHERE_EVERY = 50
RETRIES = 3
CASE_SECONDS = 30.0
_CASES_OF_A_WORKER = 2000
_SHRINKING = 5.0  # There are three searches, with other work before and after.
_MODELS: tuple[Kind, ...] = ("graphs", "onnx", "text")

Runner = Callable[[Draw, CaseOptions], CaseResult]
_T = TypeVar("_T")


class CaseReport(msgspec.Struct, frozen=True):
    """Report of one case. ``finding`` is present if the case was looked at; ``group`` is the group
    it had before."""

    draw: Draw
    ran: CaseResult
    group: Group | None = None
    finding: Finding | None = None


class CampaignPlan(msgspec.Struct, frozen=True):
    """Settings of a campaign. ``kept`` are cases from files, which run first.

    Units: ``seconds`` of the whole, ``case_seconds`` of a case, ``shrink_seconds`` of each search
    for a smaller one (0 for none), ``memory`` bytes of a worker.
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
    shrink_seconds: float = SECONDS


class Campaign:
    """A campaign in progress. ``runner`` is what a worker calls for a case."""

    def __init__(self, plan: CampaignPlan, runner: Runner = run_case) -> None:
        self.plan, self.runner = plan, runner
        self.tally = CampaignTally(plan.under_test)
        self.findings = Findings(plan.folder)
        self.begun = datetime.now(UTC)
        self.seconds = 0.0
        self.interrupted = False
        self._next = 0
        self._kept = list(plan.kept)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._done: queue.SimpleQueue[CaseReport | BaseException | None] = queue.SimpleQueue()
        self._workers: list[_Worker] = []
        self._ends = float("inf")

    def run(self, tell: Callable[["Campaign"], object] = lambda campaign: None) -> None:
        """Run to the end, or until interrupted; call ``tell`` now and then."""
        if self.plan.folder is not None:
            self.plan.folder.mkdir(parents=True, exist_ok=True)
        self.begun = datetime.now(UTC)
        started = time.monotonic()
        self._ends = started + (self.plan.seconds or float("inf"))
        self._workers = [_Worker(self, number) for number in range(self.plan.jobs)]
        threads = [threading.Thread(target=each.work, daemon=True) for each in self._workers]
        try:
            for thread in threads:
                thread.start()
            for _ in self._collected():
                self.seconds = time.monotonic() - started
                tell(self)
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            with undisturbed():
                self._end(threads)
            self.seconds = time.monotonic() - started

    def _collected(self) -> Iterator[None]:
        working = len(self._workers)
        while working:
            try:
                found = self._done.get(timeout=0.5)
            except queue.Empty:
                yield
                continue
            if found is None:
                working -= 1
            elif isinstance(found, BaseException):
                raise found
            else:
                self._count(found)
            yield

    def _count(self, done: CaseReport) -> None:
        self.tally.add(done.draw, done.ran, is_loop=done.draw.kind not in _MODELS)
        with self._lock:
            if done.finding is not None and done.group is not None:
                self.findings.add(done.finding, done.group)
            elif done.group is not None:
                self.findings.count(done.group)

    def _end(self, threads: list[threading.Thread]) -> None:
        self._stop.set()
        while any(thread.is_alive() for thread in threads):
            for worker in self._workers:
                worker.close()
            for thread in threads:
                if thread.ident is not None:
                    thread.join(0.1)
        for worker in self._workers:
            worker.close()
            worker.forget()

    def next_draw(self) -> Draw | None:
        """Return the next case, or None when the campaign is over."""
        plan = self.plan
        with self._lock:
            if self._kept and not self._stop.is_set():
                return self._kept.pop(0)
            over = plan.cases is not None and self._next >= plan.cases
            if over or self._stop.is_set() or time.monotonic() >= self._ends:
                return None
            self._next += 1
            return draw_of(plan.seed, self._next - 1, plan.kinds, plan.passes)

    def put(self, done: CaseReport | BaseException | None) -> None:
        """Report one case, or that a worker has ended."""
        self._done.put(done)

    @property
    def is_stopping(self) -> bool:
        """Return True if failures of workers no longer count, because the campaign is ending."""
        return self._stop.is_set()

    def wants_look(self, finding: Finding) -> bool:
        """Return True if a finding is worth trying again."""
        with self._lock:
            return self.findings.wants_look(finding.group, finding.digest)

    def wants_small(self, finding: Finding) -> bool:
        """Return True if a finding is worth shrinking."""
        with self._lock:
            return not self.is_stopping and self.findings.wants_small(finding.group)

    def lost_worker(self) -> None:
        """Count a worker that a case killed."""
        with self._lock:
            self.tally.workers_lost += 1


def options_for(draw: Draw, kinds: int) -> CaseOptions:
    """Return how to judge a case, where so many kinds take turns; a case from a file is judged in
    every way.

    The extra checks take turns after each round of kinds: otherwise some kinds would never meet
    some of them.
    """
    turn, names = draw.number // kinds, tuple(INVARIANTS)
    invariants = (names[turn // 2 % len(names)],) if turn % 2 else ()
    if draw.file:
        invariants = names
    thorough = turn % THOROUGH_EVERY == 0
    return CaseOptions(thorough=thorough, invariants=invariants)


class _Worker:
    """A process that runs cases, another with a different hash seed, and the thread that drives
    them."""

    def __init__(self, campaign: Campaign, number: int) -> None:
        plan = campaign.plan
        self.campaign = campaign
        limits = Limits(plan.case_seconds, plan.memory)
        self.child = Child(limits, env=ONE_THREAD, outer=PASS_CALLER)
        elsewhere = {**ONE_THREAD, "PYTHONHASHSEED": str(number + 1)}
        self.elsewhere = Child(limits, env=elsewhere)
        # The process judges in forks, each with limits of its own.
        self.shrinker = Child(Limits(_SHRINKING * max(plan.shrink_seconds, 1.0)), env=ONE_THREAD)
        self.case_file = None if plan.folder is None else plan.folder / f"running-{number}.toml"
        self.left = _CASES_OF_A_WORKER

    def work(self) -> None:
        """Run cases until there are no more."""
        try:
            while (draw := self.campaign.next_draw()) is not None:
                found = self._case(draw)
                if found is None:
                    break
                self.campaign.put(found)
        except BaseException as error:  # Reported in the main thread, which ends the campaign.
            self.campaign.put(error)
        else:
            self.campaign.put(None)

    def close(self) -> None:
        """End the processes."""
        self.child.close()
        self.elsewhere.close()
        self.shrinker.close()

    def forget(self) -> None:
        """Remove the file that records what is running."""
        if self.case_file is not None:
            with suppress(OSError):
                self.case_file.unlink()

    def _case(self, draw: Draw) -> CaseReport | None:
        """Run a case; return None if the campaign ends meanwhile."""
        if self.case_file is not None:
            # Written before the case runs: if this process dies, the case can be recovered.
            try:
                self.case_file.write_text(case_text(draw), "utf-8")
            except OSError as error:  # A full disk is no reason to stop.
                self.campaign.findings.unwritten = str(error)
        self._renew()
        plan = self.campaign.plan
        options = options_for(draw, len(plan.kinds))
        ran = self._ran(draw, options)
        elsewhere = draw.number % ELSEWHERE_EVERY == ELSEWHERE_EVERY // 2
        if elsewhere and ran is not None and not ran.outcome.is_finding:
            ran = self._same_elsewhere(draw, ran)
        if ran is None or not ran.outcome.is_finding:
            return None if ran is None else CaseReport(draw, ran)
        finding = Finding(draw, ran.outcome, ran.text, ran.digest)
        if not self.campaign.wants_look(finding):
            return CaseReport(draw, ran, finding.group)
        first = finding.group
        finding = self._tried_again(finding, options)
        finding.data = self._data(draw)
        new = bool(finding.again and plan.shrink_seconds and not draw.file)
        if new and self.campaign.wants_small(finding):
            finding.small = self._made_small(finding, options)
        return CaseReport(draw, ran, first, finding)

    def _made_small(self, finding: Finding, options: CaseOptions) -> SmallCase | None:
        folder = self.campaign.plan.folder
        trace = "" if folder is None else str(folder / f"{finding.stem}.trace")
        name = finding.stem.replace("-", "_")
        seconds = self.campaign.plan.shrink_seconds
        args = finding.draw, options.invariants, name, trace, seconds
        return _optional(None, self.shrinker, small_case, *args)

    def _renew(self) -> None:
        """Replace the process after many cases: what they leave behind adds up."""
        self.left -= 1
        if self.left <= 0:
            self.child.close()
            self.left = _CASES_OF_A_WORKER

    def _ran(self, draw: Draw, options: CaseOptions) -> CaseResult | None:
        try:
            return self.child.call(self.campaign.runner, draw, options)
        except ChildDied as died:
            if self.campaign.is_stopping:
                return None
            self.campaign.lost_worker()
            said = "\n".join(filter(None, (died.message, died.traceback)))
            place = tier_and_pass(died.report)
            return CaseResult(Outcome(DEATHS[died.kind], *place, message=said))
        except (OSError, ValueError) as error:
            if self.campaign.is_stopping:
                return None
            raise IRKitError(f"a worker cannot be run: {error}") from error

    def _data(self, draw: Draw) -> bytes:
        """Return the text or model of a case, drawn again, to be kept as a file."""
        if draw.kind not in ("text", "onnx") or self.campaign.is_stopping:
            return b""
        return _optional(b"", self.child, drawn_data, draw)

    def _same_elsewhere(self, draw: Draw, ran: CaseResult) -> CaseResult | None:
        """Compare what is drawn and lowered with the same in a process with another hash seed."""
        try:
            here, there = (each.call(digest_of, draw) for each in (self.child, self.elsewhere))
        except (ChildDied, OSError, ValueError):
            return None if self.campaign.is_stopping else ran
        checks = (*ran.outcome.checks, "other hash seed")
        outcome = ran.outcome.replace(checks=checks)
        if here != there:
            message = "a process with another hash seed draws or lowers something else"
            outcome = outcome.replace(status="broken", tier="invariants", message=message)
        return msgspec.structs.replace(ran, outcome=outcome, digest=here)

    def _tried_again(self, finding: Finding, options: CaseOptions) -> Finding:
        """Run a case again, to find out whether it always fails, and which pass is guilty."""
        died = finding.outcome.status in DEATHS.values()
        hangs = finding.outcome.status == "hang"
        for _ in range(min(RETRIES, 1) if hangs else RETRIES):
            ran = self._ran(finding.draw, options)
            if ran is None:
                break
            finding.tries += 1
            finding.again += ran.outcome.is_finding
        if died and not self.campaign.is_stopping:
            # Without native code, the passes can be examined one by one.
            calm = msgspec.structs.replace(options, thorough=True, native=False, invariants=())
            ran = self._ran(finding.draw, calm)
            if ran is not None:
                by_code = finding.outcome.tier in ("O0", "O3") and ran.outcome.ok
                named = "code" if by_code else ran.outcome.named
                outcome = finding.outcome.replace(named=named)
                text = ran.text or _optional("", self.child, drawn_text, finding.draw)
                finding = msgspec.structs.replace(
                    finding, outcome=outcome, text=text, digest=ran.digest
                )
        return finding


def _optional(default: _T, child: Child, function: Callable[..., _T], *args: object) -> _T:
    """Call a function whose result a finding can do without."""
    try:
        return child.call(function, *args)
    except (IRKitError, OSError, ValueError):
        return default
