"""The work on one program of a check: examine it, call the body of the test, and count."""

from collections.abc import Callable

import msgspec
from hypothesis import errors

from irkit.core import IRKitError
from irkit.fuzz.check_pass.budget import CheckBudget
from irkit.fuzz.check_pass.corpus import Corpus
from irkit.fuzz.check_pass.examination import (
    Examination,
    ExaminationOptions,
    Violation,
    examine_safely,
)
from irkit.fuzz.check_pass.finding import PassRefuted
from irkit.fuzz.check_pass.pass_case import PassCase
from irkit.fuzz.check_pass.position import PassPosition
from irkit.fuzz.check_pass.profile import Profile
from irkit.fuzz.check_pass.programs import DrawnProgram
from irkit.fuzz.check_pass.settings import PassCheckSettings
from irkit.fuzz.check_pass.tally import CheckTally
from irkit.processes import Child, Limits
from irkit.transform import IR

MOST_DRAWS = 30
"""How many programs are drawn for each that was asked for, where the pass changes few."""
_LEFT_ALONE = 6  # Programs that the pass leaves alone, examined beyond as many as it changes.
_ELSEWHERE = 30  # Programs on which the pass runs once more, in a process with another hash seed.


class CaseRunner:
    """Tries programs one after the other. ``last`` is the program that failed, which others must
    then fail like; ``seen`` are some of those that the pass changed."""

    def __init__(
        self,
        position: PassPosition,
        settings: PassCheckSettings,
        profile: Profile,
        corpus: Corpus,
        tally: CheckTally,
        call: Callable[[PassCase], object],
    ) -> None:
        self.position, self.profile, self.corpus = position, profile, corpus
        self.tally, self.call_body = tally, call
        self.examples = settings.examples * profile.times
        self.fires = settings.fires
        self.budget = CheckBudget(settings.seconds * profile.times)
        self.options = ExaminationOptions(
            settings.samples,
            settings.idempotent,
            native=settings.native,
            without=tuple(settings.without),
        )
        self.seen: list[IR] = []
        self.last: tuple[DrawnProgram, Examination] | None = None
        self.hung: dict[str, Violation] = {}
        self.child: Child | None = None
        if profile.native or settings.native:
            self.child = Child(Limits(profile.seconds))

    def close(self) -> None:
        """End the child, and remove the record of what runs."""
        self.corpus.end()
        if self.child is not None:
            self.child.close()

    @property
    def least_fired(self) -> int:
        """Return how many programs the pass must have changed: as many as were asked for, or a
        tenth of the examples, of which a strategy can have fewer than were asked for."""
        if self.fires is not None:
            return self.fires
        return max(1, min(self.examples, self.tally.drawn) // 10)

    def is_enough(self) -> bool:
        """Return True if nothing more should be drawn, and note why, unless all is well."""
        tally = self.tally
        if tally.valid >= self.examples:
            return True
        if tally.drawn >= self.examples * MOST_DRAWS:
            return True
        if self.budget.is_drawn:
            tally.stopped = f"stopped after {self.budget.spent:.0f} s"
            tally.notes.append(
                f"{tally.stopped} of processor time: the pass changed {tally.fired} of "
                f"{tally.drawn} programs, {tally.cases} of {self.examples} were examined"
            )
            return True
        return False

    def one(self, drawn: DrawnProgram) -> None:
        """Try one program, and count it, unless something was found before.

        Raises: PassRefuted, or what the body raises.
        """
        counting = self.last is None
        self.tally.drawn += counting
        if drawn.ir is None:
            self._invalid(drawn.why_not, counting)
            return
        found = self.examine(drawn, enough_left_alone=counting and self._enough_left_alone)
        if found.left_out:
            return
        if found.invalid:
            self._invalid(found.invalid, counting)
            return
        if found.violation is not None:
            if self.last is not None and not _alike(self.last[1].violation, found.violation):
                return  # Shrinking must not end at another fault.
            self.tally.cases += counting
            self.last = drawn, found
            raise PassRefuted(str(found.violation))
        if self.last is not None and self.last[1].violation is not None:
            return
        if counting:
            self._count(found)
        try:
            self.call(found)
        except errors.UnsatisfiedAssumption:
            raise
        except BaseException:
            self.last = drawn, found
            raise

    @property
    def _enough_left_alone(self) -> bool:
        """Return True if programs that the pass leaves alone need no more examination."""
        most = min(self.examples // 2, _LEFT_ALONE + self.tally.fired)
        return self.fires != 0 and self.tally.left_alone >= most

    def _count(self, found: Examination) -> None:
        self.tally.cases += 1
        if found.fired and found.unknown:
            self.tally.unknown[found.unknown.partition("\n")[0]] += 1
        else:
            self.tally.fired += found.fired
        self._remember(found)

    def _invalid(self, why: str, counting: bool) -> None:
        if counting:
            self.tally.cases += 1
            self.tally.why_not[why] += 1

    def examine(self, drawn: DrawnProgram, *, enough_left_alone: bool = False) -> Examination:
        """Examine a program, which is on disk meanwhile."""
        assert drawn.ir is not None
        text = drawn.ir.script()
        if text in self.hung:  # Waiting for it again would take as long.
            return Examination(drawn.ir, violation=self.hung[text])
        if self.hung:
            return Examination(drawn.ir, invalid="not tried, because another program did not end")
        self.corpus.begin(drawn)
        position, seconds = self.position, self.profile.seconds
        options = msgspec.structs.replace(self.options, only_changed=enough_left_alone)
        try:
            found = examine_safely(position, drawn, options, seconds, self.child)
        except IRKitError as error:
            if self.child is None:
                raise
            # A pass that only this process can find.
            self.tally.notes.append(f"not run in another process: {error.message}")
            self.child.close()
            self.child = None
            found = examine_safely(position, drawn, options, seconds)
        if found.violation is not None and found.violation.contract in ("hang", "crash"):
            self.hung[text] = found.violation
        return found

    def _remember(self, found: Examination) -> None:
        changed = [step.before for step in found.own if step.changed]
        if changed and len(self.seen) < _ELSEWHERE:
            self.seen.append(changed[0])

    def call(self, found: Examination) -> None:
        """Call the body of the test."""
        self.call_body(PassCase(self.position.p, found, self.options.samples))

    def after_a_crash(self, drawn: DrawnProgram) -> Examination | None:
        """Examine, in another process, a program that killed an earlier process."""
        with Child(Limits(self.profile.seconds)) as child:
            try:
                found = examine_safely(
                    self.position, drawn, self.options, self.profile.seconds, child
                )
            except IRKitError as error:
                self.tally.notes.append(f"not tried in another process: {error.message}")
                assert drawn.ir is not None
                message = "the last run ended without a message while this program ran"
                return Examination(drawn.ir, violation=Violation("crash", message))
        return found if found.violation is not None else None


def _alike(known: Violation | None, new: Violation) -> bool:
    return known is not None and known.contract == new.contract
