"""(keep the docstring of reduce.py)"""

import hashlib
from collections.abc import Callable
from time import monotonic

import msgspec
import numpy as np

from irkit.core import IRKitError
from irkit.debug.execution.executors import MAX_STEPS
from irkit.debug.reduce.case import CaseSize, FailingCase, size_of_case
from irkit.debug.reduce.failure import Failure, failed_pass, failure_of
from irkit.debug.reduce.families import FAMILIES, Family
from irkit.debug.reduce.well_defined import is_well_defined, runs
from irkit.ir import StepLimit, script
from irkit.transform import Apply, apply_here

SECONDS = 60.0
CANDIDATES = 20_000
StillFails = Callable[[FailingCase], bool]
Progress = Callable[[str, int, FailingCase], None]


class ReduceResult(msgspec.Struct, frozen=True, eq=False):
    """The smallest case that was found, and what it took; ``finished`` says that nothing simpler is
    left to try."""

    case: FailingCase
    before: CaseSize
    after: CaseSize
    candidates: int
    seconds: float
    finished: bool


def reduce(
    case: FailingCase,
    still_fails: StillFails | Failure,
    *,
    seconds: float = SECONDS,
    candidates: int = CANDIDATES,
    progress: Progress | None = None,
    apply: Apply = apply_here,
) -> ReduceResult:
    """Make a case small while it still fails: in the same way if a failure is given, or as a
    function of the case says.

    Only programs that verify, run and have one meaning are asked about (one meaning only if that
    is so to begin with). The same call tries the same
    candidates, unless time runs out. ``progress`` is told the family, the number of candidates and
    the case;
    ``apply`` says how passes are run. Raises: IRKitError if the case does not fail to begin with.
    """
    search = _CaseSearch(still_fails, seconds, candidates, progress, apply)
    started = monotonic()
    smaller = search.run(case)
    return ReduceResult(
        smaller,
        size_of_case(case),
        size_of_case(smaller),
        search.count,
        monotonic() - started,
        not search.is_over(),
    )


class _CaseSearch:
    def __init__(
        self,
        still_fails: StillFails | Failure,
        seconds: float,
        candidates: int,
        progress: Progress | None,
        apply: Apply,
    ) -> None:
        self.wanted = still_fails
        self.end = monotonic() + seconds
        self.most = candidates
        self.progress = progress
        self.apply = apply
        self.count = 0
        self.too_long = False  # The case so far takes the interpreter too long.
        self.max_steps = 0
        self.known: set[bytes] = set()
        self.program: tuple[object, object] = (None, None)  # That of the case so far.
        self.is_program: Callable[..., bool] = is_well_defined

    def run(self, case: FailingCase) -> FailingCase:
        self._begin(case)
        case = self._shortened(case)
        changed = True
        while changed and not self.is_over():
            changed = False
            for family in FAMILIES:
                smaller = self._shrunk(case, family)
                changed = changed or smaller is not case
                case = smaller
        return case

    def _shortened(self, case: FailingCase) -> FailingCase:
        """Make loops short before all else where they are too long to interpret."""
        for family in FAMILIES:
            if self.too_long and family.name in ("numbers", "loops", "statements"):
                case = self._shrunk(case, family)
        return case

    def is_over(self) -> bool:
        return self.count >= self.most or monotonic() >= self.end

    def _begin(self, case: FailingCase) -> None:
        """Hold candidates to what the case itself fulfils: one that leaves something to chance may
        go on doing so."""
        self._choose_steps(case)
        if not self.too_long and not self.is_program(case.func, case.args):
            raise IRKitError(
                f"cannot reduce {case.func.name!r}: it cannot run even before any pass",
                span=case.func.span,
            )
        if not self._fails(case):
            raise IRKitError(
                f"cannot reduce {case.func.name!r}: it does not fail", span=case.func.span
            )

    def _choose_steps(self, case: FailingCase) -> None:
        """Wait no longer for candidates than a case needs, by the order of magnitude."""
        for steps in (MAX_STEPS // 50, MAX_STEPS // 5, MAX_STEPS):
            self.max_steps = steps
            try:
                if not is_well_defined(case.func, case.args, max_steps=steps):
                    self.is_program = runs
            except StepLimit:
                continue
            return
        self.too_long = True

    def _shrunk(self, case: FailingCase, family: Family) -> FailingCase:
        """Do as many moves of a family as leave the failure there."""
        moves = family.moves(case)
        size = len(moves)
        while size and not self.is_over():
            at = 0
            while at < len(moves) and not self.is_over():
                made = family.apply(case, moves[at : at + size])
                if made is not None and self._takes(made):
                    case = made
                    moves = family.moves(case)  # What came next is at the same place now, or near.
                    if self.progress is not None:
                        self.progress(family.name, self.count, case)
                else:
                    at += size
            size = min(size, len(moves)) // 2
        return case

    def _takes(self, case: FailingCase) -> bool:
        """Say whether a candidate is a program that still fails."""
        key = _digest(case)
        if key in self.known:
            return False
        self.known.add(key)
        self.count += 1
        program = (case.func, case.inputs)
        if any(old is not new for old, new in zip(self.program, program, strict=True)):
            try:
                if not self.is_program(case.func, case.args, max_steps=self.max_steps):
                    return False
                short = True
            except StepLimit:
                short = False
        else:  # Passes or schedule have changed, and no program.
            short = not self.too_long
        if not (short or self.too_long) or not self._fails(case):
            return False
        self.program, self.too_long = program, not short
        return True

    def _fails(self, case: FailingCase) -> bool:
        wanted = self.wanted
        if not isinstance(wanted, Failure):
            return wanted(case)
        if wanted.is_of_pass:
            return wanted.is_like(failed_pass(case, self.apply))
        native = None if self.too_long else False
        found = failure_of(case, native=native, max_steps=self.max_steps, apply=self.apply)
        return wanted.is_like(found)


def _digest(case: FailingCase) -> bytes:
    """Say shortly what a candidate is, so that none is tried twice."""
    made = hashlib.blake2b(script(case.func).encode(), digest_size=16)
    made.update(case.pipeline.text().encode())
    made.update(case.schedule.as_json().encode())
    for name, value in case.inputs.items():
        array = np.asarray(value)
        made.update(f"{name}{array.dtype}{array.shape}".encode())
        made.update(array.tobytes())
    return made.digest()
