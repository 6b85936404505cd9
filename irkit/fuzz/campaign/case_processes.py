"""The processes of one worker, and what an executor calls there: run a case, look at it closer.

Whatever executor a campaign runs on, a case runs in a child process with limits. So it can crash,
hang or fill memory, and the worker of the executor lives on to say so. The processes belong to the
thread that asked for the first case, and serve all further ones.
"""

import threading
from collections.abc import Callable
from itertools import count
from typing import TypeVar

import msgspec

from irkit.core import IRKitError
from irkit.fuzz.campaign.draw import Draw
from irkit.fuzz.campaign.findings import Finding
from irkit.fuzz.campaign.small_case import SmallCase, small_case
from irkit.fuzz.campaign.worker import (
    CaseOptions,
    CaseResult,
    digest_of,
    drawn_data,
    drawn_text,
    run_case,
)
from irkit.fuzz.judge.outcome import DEATHS, Outcome
from irkit.fuzz.judge.progress import tier_and_pass
from irkit.processes import ONE_THREAD, Child, ChildDied, Limits
from irkit.transform import PASS_CALLER

RETRIES = 3
_CASES_OF_A_WORKER = 2000
_SHRINKING = 5.0  # There are three searches, with other work before and after.

Runner = Callable[[Draw, CaseOptions], CaseResult]
_T = TypeVar("_T")


class WorkerSettings(msgspec.Struct, frozen=True):
    """What a worker has to know of a campaign, which has a unique ``campaign`` name; ``runner`` is
    called for a case.

    Units: ``case_seconds`` of a case, ``shrink_seconds`` of each search for a smaller one (0 for
    none), ``memory`` bytes of a process.
    """

    campaign: str
    case_seconds: float
    memory: int | None
    shrink_seconds: float
    runner: Runner = run_case


def run_apart(
    draw: Draw, options: CaseOptions, settings: WorkerSettings, *, elsewhere: bool = False
) -> CaseResult:
    """Run a case in the child process of this thread; ``elsewhere`` compares what is drawn with the
    same in a process with another hash seed.

    Raises: IRKitError if no process can be run; whatever the runner raises.
    """
    processes = _processes_here(settings)
    ran = processes.run(draw, options)
    if elsewhere and not ran.outcome.is_finding:
        ran = processes.same_elsewhere(draw, ran)
    return ran


def look_closer(
    finding: Finding, options: CaseOptions, settings: WorkerSettings, *, shrink: bool
) -> Finding:
    """Run the case of a finding again, find out which pass is guilty, and shrink it if asked.

    Raises: IRKitError if no process can be run.
    """
    processes = _processes_here(settings)
    finding = processes.tried_again(finding, options)
    finding.data = processes.data(finding.draw)
    if shrink and finding.again and settings.shrink_seconds:
        finding.small = processes.made_small(finding, options)
    return finding


class CaseProcesses:
    """A process that runs cases, another with a different hash seed, and one that shrinks."""

    def __init__(self, settings: WorkerSettings, number: int) -> None:
        self.settings = settings
        limits = Limits(settings.case_seconds, settings.memory)
        self.child = Child(limits, env=ONE_THREAD, outer=PASS_CALLER)
        self.elsewhere = Child(limits, env={**ONE_THREAD, "PYTHONHASHSEED": str(number + 1)})
        # The process judges in forks, each with limits of its own.
        shrinking = Limits(_SHRINKING * max(settings.shrink_seconds, 1.0))
        self.shrinker = Child(shrinking, env=ONE_THREAD)
        self._left = _CASES_OF_A_WORKER

    def stop(self) -> None:
        """End the processes for good, also during a call of another thread."""
        for each in (self.child, self.elsewhere, self.shrinker):
            each.stop()

    def run(self, draw: Draw, options: CaseOptions) -> CaseResult:
        """Run a case. What ends its process is the outcome."""
        self._left -= 1
        if self._left <= 0:  # What many cases leave behind adds up.
            self.child.close()
            self._left = _CASES_OF_A_WORKER
        try:
            return self.child.call(self.settings.runner, draw, options)
        except ChildDied as died:
            said = "\n".join(filter(None, (died.message, died.traceback)))
            outcome = Outcome(DEATHS[died.kind], *tier_and_pass(died.report), message=said)
            return CaseResult(outcome, lost=True)
        except (OSError, ValueError) as error:
            raise IRKitError(f"a worker cannot be run: {error}") from error

    def same_elsewhere(self, draw: Draw, ran: CaseResult) -> CaseResult:
        """Compare what is drawn and lowered with the same in a process with another hash seed."""
        try:
            here, there = (each.call(digest_of, draw) for each in (self.child, self.elsewhere))
        except (ChildDied, OSError, ValueError):
            return ran
        checks = (*ran.outcome.checks, "other hash seed")
        outcome = ran.outcome.replace(checks=checks)
        if here != there:
            message = "a process with another hash seed draws or lowers something else"
            outcome = outcome.replace(status="broken", tier="invariants", message=message)
        return msgspec.structs.replace(ran, outcome=outcome, digest=here)

    def tried_again(self, finding: Finding, options: CaseOptions) -> Finding:
        """Run a case again, to find out whether it always fails, and which pass is guilty."""
        options = msgspec.structs.replace(options, watch=False, optimise=True)
        died = finding.outcome.status in DEATHS.values()
        hangs = finding.outcome.status == "hang"
        for _ in range(min(RETRIES, 1) if hangs else RETRIES):
            finding.tries += 1
            finding.again += self.run(finding.draw, options).outcome.is_finding
        if not died:
            return finding
        # Without native code, the passes can be examined one by one.
        calm = msgspec.structs.replace(options, thorough=True, native=False, invariants=())
        ran = self.run(finding.draw, calm)
        by_code = finding.outcome.tier in ("O0", "O3") and ran.outcome.ok
        outcome = finding.outcome.replace(named="code" if by_code else ran.outcome.named)
        text = ran.text or _optional("", self.child, drawn_text, finding.draw)
        return msgspec.structs.replace(finding, outcome=outcome, text=text, digest=ran.digest)

    def made_small(self, finding: Finding, options: CaseOptions) -> SmallCase | None:
        """Shrink the case of a finding, if it fails here too."""
        name, seconds = finding.stem.replace("-", "_"), self.settings.shrink_seconds
        args = finding.draw, options.invariants, name, seconds
        return _optional(None, self.shrinker, small_case, *args)

    def data(self, draw: Draw) -> bytes:
        """Return the text or model of a case, drawn again, to be kept as a file."""
        if draw.kind not in ("text", "onnx"):
            return b""
        return _optional(b"", self.child, drawn_data, draw)


_HERE = threading.local()
_NUMBERS = count()
_RUNNING: dict[str, list[CaseProcesses]] = {}
"""The processes of this process, by campaign."""


def _processes_here(settings: WorkerSettings) -> CaseProcesses:
    """Return the processes of this thread, new ones for another campaign."""
    found: CaseProcesses | None = getattr(_HERE, "processes", None)
    if found is None or found.settings != settings:
        if found is not None:
            found.stop()
        found = _HERE.processes = CaseProcesses(settings, next(_NUMBERS))
        _RUNNING.setdefault(settings.campaign, []).append(found)
    return found


def stop_processes(campaign: str) -> None:
    """End all processes that threads of this process started for a campaign, which is over."""
    for processes in _RUNNING.pop(campaign, ()):
        processes.stop()


def _optional(default: _T, child: Child, function: Callable[..., _T], *args: object) -> _T:
    """Call a function whose result a finding can do without."""
    try:
        return child.call(function, *args)
    except (IRKitError, OSError, ValueError):
        return default
