"""Reduction of a failing case by delta debugging of function, schedule, pipeline and inputs."""

import hashlib
from collections.abc import Callable
from time import monotonic

import msgspec
import numpy as np

from irkit.core import IRKitError
from irkit.debug.check.well_defined import is_well_defined, runs
from irkit.debug.execution.executors import MAX_STEPS
from irkit.debug.reduce.case import CaseSize, FailingCase, size_of_case
from irkit.debug.reduce.failure import Failure, failed_pass, failure_of
from irkit.debug.reduce.families import FAMILIES, SHORTENING
from irkit.debug.reduce.search import Search
from irkit.ir import StepLimit, script
from irkit.transform import Apply, apply_here

SECONDS = 60.0
CANDIDATES = 20_000
StillFails = Callable[[FailingCase], bool]
Progress = Callable[[str, int, FailingCase], None]


class ReduceResult(msgspec.Struct, frozen=True, eq=False):
    """The smallest case found, and the cost of finding it.

    ``finished`` means that no candidate is left to try.
    """

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
    """Make a case small while it still fails.

    ``still_fails`` is a failure, which must stay the same, or a predicate. Candidates verify, run
    and, if the original does, have one meaning. The same call tries the same candidates unless time
    runs out. ``progress`` is called with the family, the number of candidates so far and the case;
    ``apply`` runs the passes. Raises: IRKitError if the original case does not fail.
    """
    fails = _CaseFails(still_fails, apply)
    started = monotonic()

    def tell(family: str, case: FailingCase) -> None:
        if progress is not None:
            progress(family, search.count, case)

    search = Search(fails, _digest, seconds=seconds, candidates=candidates, progress=tell)
    fails.begin(case)
    smaller = case
    for family in SHORTENING:
        smaller = search.shrink(smaller, family) if fails.too_long else smaller
    smaller = search.run(smaller, FAMILIES)
    return ReduceResult(
        smaller,
        size_of_case(case),
        size_of_case(smaller),
        search.count,
        monotonic() - started,
        not search.is_over,
    )


class _CaseFails:
    """Whether a candidate is a valid program that still fails."""

    def __init__(self, still_fails: StillFails | Failure, apply: Apply) -> None:
        self.wanted = still_fails
        self.apply = apply
        self.too_long = False  # The current case takes too long to interpret.
        self.max_steps = 0
        self.program: tuple[object, object] = (None, None)  # Of the current case.
        self.is_program: Callable[..., bool] = is_well_defined

    def begin(self, case: FailingCase) -> None:
        """Check the original case, and choose the requirements that candidates must meet.

        If the original depends on chance, candidates may depend on it too.
        """
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
        """Choose the step limit for candidates: the order of magnitude that the case needs."""
        for steps in (MAX_STEPS // 50, MAX_STEPS // 5, MAX_STEPS):
            self.max_steps = steps
            try:
                if not is_well_defined(case.func, case.args, max_steps=steps):
                    self.is_program = runs
            except StepLimit:
                continue
            return
        self.too_long = True

    def __call__(self, case: FailingCase) -> bool:
        """Return True if a candidate is a valid program that still fails."""
        program = (case.func, case.inputs)
        if any(old is not new for old, new in zip(self.program, program, strict=True)):
            try:
                if not self.is_program(case.func, case.args, max_steps=self.max_steps):
                    return False
                short = True
            except StepLimit:
                short = False
        else:  # Only passes or schedule have changed.
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
        code = wanted.is_of_code
        found = failure_of(
            case,
            native=None if self.too_long or code else False,
            code=code,
            max_steps=self.max_steps,
            apply=self.apply,
        )
        return wanted.is_like(found)


def _digest(case: FailingCase) -> bytes:
    """Return a digest of a candidate, so that none is tried twice."""
    made = hashlib.blake2b(script(case.func).encode(), digest_size=16)
    made.update(case.pipeline.text().encode())
    made.update(case.schedule.as_json().encode())
    for name, value in case.inputs.items():
        array = np.asarray(value)
        made.update(f"{name}{array.dtype}{array.shape}".encode())
        made.update(array.tobytes())
    return made.digest()
