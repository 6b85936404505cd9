"""Make a failing case small: delta debugging over the function, its schedule, the pipeline and
the inputs.

Each family lists moves, in order; many are tried at once, then halves of them, down to single ones.
What still fails becomes the case. Families take turns until none of them finds anything.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import Any

import msgspec
import numpy as np

from irkit.core import IRKitError
from irkit.debug.case import Case, Failure, Size, failed_pass, failure_of, size_of_case
from irkit.debug.running import MAX_STEPS
from irkit.debug.shrink_inputs import values
from irkit.debug.shrink_pipeline import options, passes, starts
from irkit.debug.shrink_schedule import arguments, begun, origins, scheduled
from irkit.debug.shrink_signature import numbers, parameters, shapes
from irkit.debug.shrink_tree import (
    Edit,
    deletions,
    edited,
    expressions,
    hoists,
    loops,
    trimmings,
)
from irkit.debug.sound import is_sound, runs
from irkit.ir import PrimFunc, StepLimit, script
from irkit.transform import Apply, apply_here

SECONDS = 60.0
CANDIDATES = 20_000
StillFails = Callable[[Case], bool]
Progress = Callable[[str, int, Case], None]


class Reduced(msgspec.Struct, frozen=True, eq=False):
    """The smallest case that was found, and what it took; ``finished`` says that nothing simpler is
    left to try."""

    case: Case
    before: Size
    after: Size
    candidates: int
    seconds: float
    finished: bool


class Family(msgspec.Struct, frozen=True):
    """Moves of one kind: ``moves`` lists them for a case, ``apply`` does several at once."""

    name: str
    moves: Callable[[Case], Sequence[Any]]
    apply: Callable[[Case, Sequence[Any]], Case | None]


def _all_moves(case: Case, moves: Sequence[Callable[[Case], Case | None]]) -> Case | None:
    made: Case | None = None
    for move in moves:
        made = move(made or case) or made
    return made


def _all_edits(case: Case, edits: Sequence[Edit]) -> Case | None:
    func = edited(case.func, edits)
    return None if func is case.func else case.replace(func=func)


def _edits_of(list_edits: Callable[[PrimFunc], list[Edit]], case: Case) -> list[Edit]:
    return list_edits(case.func)


def _of_edits(name: str, list_edits: Callable[[PrimFunc], list[Edit]]) -> Family:
    return Family(name, partial(_edits_of, list_edits), _all_edits)


FAMILIES = (
    Family("passes", passes, _all_moves),
    Family("schedule", scheduled, _all_moves),
    Family("schedule start", begun, lambda case, moves: moves[0](case)),
    Family("start", starts, lambda case, moves: moves[0](case)),
    _of_edits("statements", deletions),
    Family("parameters", parameters, _all_moves),
    Family("numbers", numbers, _all_moves),
    _of_edits("loops", loops),
    _of_edits("bodies", hoists),
    Family("shapes", shapes, _all_moves),
    _of_edits("details", trimmings),
    _of_edits("expressions", expressions),
    Family("options", options, _all_moves),
    Family("schedule arguments", arguments, _all_moves),
    Family("schedule lines", origins, _all_moves),
    Family("inputs", values, _all_moves),
)


def reduce(
    case: Case,
    still_fails: StillFails | Failure,
    *,
    seconds: float = SECONDS,
    candidates: int = CANDIDATES,
    progress: Progress | None = None,
    apply: Apply = apply_here,
) -> Reduced:
    """Make a case small while it still fails: in the same way if a failure is given, or as a
    function of the case says.

    Only programs that verify, run and have one meaning are asked about (one meaning only if that
    is so to begin with). The same call tries the same
    candidates, unless time runs out. ``progress`` is told the family, the number of candidates and
    the case;
    ``apply`` says how passes are run. Raises: IRKitError if the case does not fail to begin with.
    """
    search = _Search(still_fails, seconds, candidates, progress, apply)
    started = monotonic()
    smaller = search.run(case)
    return Reduced(
        smaller,
        size_of_case(case),
        size_of_case(smaller),
        search.count,
        monotonic() - started,
        not search.is_over(),
    )


class _Search:
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
        self.is_program: Callable[..., bool] = is_sound

    def run(self, case: Case) -> Case:
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

    def _shortened(self, case: Case) -> Case:
        """Make loops short before all else where they are too long to interpret."""
        for family in FAMILIES:
            if self.too_long and family.name in ("numbers", "loops", "statements"):
                case = self._shrunk(case, family)
        return case

    def is_over(self) -> bool:
        return self.count >= self.most or monotonic() >= self.end

    def _begin(self, case: Case) -> None:
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

    def _choose_steps(self, case: Case) -> None:
        """Wait no longer for candidates than a case needs, by the order of magnitude."""
        for steps in (MAX_STEPS // 50, MAX_STEPS // 5, MAX_STEPS):
            self.max_steps = steps
            try:
                if not is_sound(case.func, case.args, max_steps=steps):
                    self.is_program = runs
            except StepLimit:
                continue
            return
        self.too_long = True

    def _shrunk(self, case: Case, family: Family) -> Case:
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

    def _takes(self, case: Case) -> bool:
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

    def _fails(self, case: Case) -> bool:
        wanted = self.wanted
        if not isinstance(wanted, Failure):
            return wanted(case)
        if wanted.is_of_pass:
            return wanted.is_like(failed_pass(case, self.apply))
        native = None if self.too_long else False
        found = failure_of(case, native=native, max_steps=self.max_steps, apply=self.apply)
        return wanted.is_like(found)


def _digest(case: Case) -> bytes:
    """Say shortly what a candidate is, so that none is tried twice."""
    made = hashlib.blake2b(script(case.func).encode(), digest_size=16)
    made.update(case.pipeline.text().encode())
    made.update(case.schedule.as_json().encode())
    for name, value in case.inputs.items():
        array = np.asarray(value)
        made.update(f"{name}{array.dtype}{array.shape}".encode())
        made.update(array.tobytes())
    return made.digest()
