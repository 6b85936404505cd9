"""Run irkit's checks over the catalogue, and tell what they find."""

import importlib
import importlib.util
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Literal, NamedTuple

import numpy as np

from irkit.debug import IsolationPolicy, Verdict, check, contracts
from irkit.transform import Apply, apply_here
from tests.catalogue.entries import Entry
from tests.catalogue.third import CLASSES as THIRD, load as third_set

GROUPS = (
    "integers",
    "division",
    "rounding",
    "declared",
    "choice",
    "extents",
    "races",
    "storage",
    "loops",
    "modules",
    "behaviour",
    "rare",
)
SECOND = ("peepholes", "floats", "nests", "threads", "memory", "models", "conduct", "hard")
"""Classes of the second set."""
SETS = {"first": GROUPS, "second": SECOND, "third": THIRD}
MODULES = {"storage": ("storage", "views"), "loops": ("loops", "bodies")}
"""Classes whose entries are in more than one file."""
SECONDS = 4.0
"""How long a pass that runs in a process of its own may take."""
Answer = Literal["found", "same", "not known", "error"]


class Result(NamedTuple):
    """What the checks say about one entry. ``error`` is an exception of the checks themselves."""

    entry: Entry
    answer: Answer
    said: str
    seconds: float

    @property
    def right(self) -> bool:
        """True if a bad pass was found, or a legal one raised no alarm."""
        if self.entry.legal:
            return self.answer in ("same", "not known")
        return self.answer == "found"


def entries(
    only: str = "", *, legal: bool | None = None, groups: tuple[str, ...] = GROUPS
) -> list[Entry]:
    """Return the entries of a class, or all, in order; ``legal`` restricts them to one side."""
    found: list[Entry] = []
    for side in ("bad", "legal"):
        if legal is not None and legal is not (side == "legal"):
            continue
        for group in groups:
            if only not in ("", group):
                continue
            if group in THIRD:
                found += third_set(group, legal=side == "legal")
            else:
                folder = "second." * (group in SECOND) + side
                for stem in MODULES.get(group, (group,)):
                    name = f"tests.catalogue.{folder}.{stem}"
                    if importlib.util.find_spec(name) is not None:
                        found += importlib.import_module(name).entry
    return found


def judge(entry: Entry, *, seed: int = 0, native: bool | None = None) -> Result:
    """Check one entry by ``irkit.debug.check``, and by the contracts of a pass if it says so."""
    begin = time.perf_counter()
    try:
        answer, said = _judged(entry, seed, native)
    except Exception as error:  # The checks must not end so, whatever a pass does.
        answer, said = "error", f"{type(error).__name__}: {error}"
    return Result(entry, answer, said, time.perf_counter() - begin)


@contextmanager
def _state_restored() -> Iterator[None]:
    """Undo what a pass changes in this process, so that the next check begins as this one did."""
    limit, state = sys.getrecursionlimit(), np.geterr()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        np.seterr(**state)


def _judged(entry: Entry, seed: int, native: bool | None) -> tuple[Answer, str]:
    with _state_restored(), _apply(entry) as apply:
        steps = entry.pipeline().steps(entry.subject(), apply=apply)
        rows = check(steps, seed=seed, native=native)
    wrong = [row for row in rows if row.is_wrong]
    if wrong:
        return "found", f"{wrong[0].status}: {wrong[0].message or wrong[0].wrong_element}"
    if entry.contracts:
        with _state_restored():
            breaches = contracts(entry.p, [entry.subject()], fires=0, hash_seeds=_seeds(entry))
        if breaches:
            return "found", f"{breaches[0].contract}: {breaches[0].message}"
    unknown = [row for row in rows if row.status == "not known"]
    if unknown:
        return "not known", unknown[0].message
    return "same", "; ".join(_row(row) for row in rows if row.changed) or "nothing changed"


def _apply(entry: Entry) -> AbstractContextManager[Apply]:
    """Return what runs the pass: here, or in a process of its own for at most some seconds."""
    if not entry.isolated:
        return nullcontext(apply_here)
    policy = IsolationPolicy("all", pass_timeout=SECONDS, crash_dir=None)
    return policy.running(lambda name, reason: None)


def _row(row: Verdict) -> str:
    return (
        f"{row.status} ({row.basis}{', ' + row.tried if row.tried else ''}) {row.message}".strip()
    )


def _seeds(entry: Entry) -> tuple[int, ...]:
    """Return the hash seeds to try; a pass made from a rule here cannot be imported elsewhere."""
    return () if "<" in entry.p.function.__qualname__ else (1, 2)


def run(chosen: Iterable[Entry], *, seed: int = 0, native: bool | None = None) -> Iterator[Result]:
    """Judge entries one after the other."""
    # Processes that the checks start import the passes from here.
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = os.environ.get("PYTHONPATH", "")
    if root not in path.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (root, path)))
    for entry in chosen:
        yield judge(entry, seed=seed, native=native)


def table(results: list[Result]) -> str:
    """Return a table by class, and the names of the entries that were judged wrongly."""
    head = f"{'class':<11}{'bad':>5}{'found':>7}{'same':>6}{'not known':>11}{'error':>7}"
    lines = [head + f"{'legal':>8}{'alarms':>8}{'not known':>11}{'error':>7}{'seconds':>9}"]
    for group in (*GROUPS, *SECOND, *THIRD, "all"):
        own = [r for r in results if group in (r.entry.group, "all")]
        if not own:
            continue
        line = f"{group:<11}"
        for legal in (False, True):
            side = [r.answer for r in own if r.entry.legal is legal]
            answers = [side.count(a) for a in ("found", "same", "not known", "error")]
            # A legal pass that is "same" is as it should be.
            shown = (len(side), answers[0], *answers[2:]) if legal else (len(side), *answers)
            widths = (8, 8, 11, 7) if legal else (5, 7, 6, 11, 7)
            line += "".join(f"{n:>{w}}" for n, w in zip(shown, widths, strict=True))
        lines.append(line + f"{sum(r.seconds for r in own):>9.1f}")
    for title, legal in (("missed", False), ("false alarms and errors", True)):
        wrong = [r for r in results if r.entry.legal is legal and not r.right]
        if wrong:
            lines += ["", f"{title}:"]
            lines += [_line(r) for r in wrong]
    return "\n".join(lines)


def _line(result: Result) -> str:
    entry = result.entry
    said = " ".join(result.said.split())[:200]
    return f"  {entry.group}: {entry.name} [{result.answer}] {said}"
