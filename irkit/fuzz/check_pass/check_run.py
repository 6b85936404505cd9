"""One test of a pass: what `check_pass` makes of a function, and how it runs."""

import functools
import inspect
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import (
    HealthCheck,
    Phase,
    Verbosity,
    errors,
    given,
    reject,
    seed as seeded,
    settings,
    strategies as st,
)

from irkit.core import IRKitError
from irkit.debug import hash_seed_differences
from irkit.fuzz.check_pass.corpus import DEFAULT_FOLDER, Corpus, read_program
from irkit.fuzz.check_pass.examination import (
    Examination,
    ExaminationOptions,
    Violation,
    examine_safely,
)
from irkit.fuzz.check_pass.finding import PassRefuted, report_of, save_finding
from irkit.fuzz.check_pass.pass_case import PassCase
from irkit.fuzz.check_pass.position import PassPosition
from irkit.fuzz.check_pass.profile import Profile, profile_of
from irkit.fuzz.check_pass.programs import DrawnProgram, as_program
from irkit.fuzz.check_pass.settings import PassCheckSettings
from irkit.fuzz.check_pass.tally import CheckTally
from irkit.processes import Child, Limits
from irkit.transform import IR

Body = Callable[..., object]
# What they warn of is counted here: see CheckTally.
_ALL = [
    HealthCheck.data_too_large,
    HealthCheck.filter_too_much,
    HealthCheck.too_slow,
    HealthCheck.large_base_example,
    HealthCheck.differing_executors,
    HealthCheck.function_scoped_fixture,
    HealthCheck.nested_given,
]
_ELSEWHERE = 30  # Programs on which the pass runs once more, in a process with another hash seed.


class PassCheck:
    """The work of a decorated test; the plugin sets ``profile`` and ``folder`` before it runs, and
    reads ``tally`` and ``finding`` afterwards."""

    def __init__(
        self,
        position: PassPosition,
        body: Body,
        strategy: st.SearchStrategy[Any],
        settings: PassCheckSettings,
    ) -> None:
        self.position, self.body, self.strategy = position, body, strategy
        self.settings = settings
        self.profile = ""
        self.folder: Path | None = None
        self.tally = CheckTally()
        self.finding: Path | None = None
        module = (body.__module__ or "").rpartition(".")[2]
        self.test = f"{module}.{body.__qualname__}"
        self.argument = _argument(body)

    @property
    def name(self) -> str:
        """Return the name of the pass with its options and position."""
        return f"{self.position.p} ({self.position.text})"

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Run the test. Raises: PassRefuted, or what the body raises."""
        self.tally, self.finding = CheckTally(), None
        started = time.perf_counter()
        run = _CheckRun(self, profile_of(self.profile), args, kwargs)
        try:
            run.all()
        finally:
            run.close()
            self.tally.seconds = time.perf_counter() - started

    def __repr__(self) -> str:
        return f"<check of {self.name}>"


class _CheckRun:
    """One run of a test: earlier findings first, then what Hypothesis draws."""

    def __init__(
        self, check: PassCheck, profile: Profile, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.check, self.profile = check, profile
        self.args, self.kwargs = args, kwargs
        self.tally = check.tally
        folder = DEFAULT_FOLDER if check.folder is None else check.folder
        self.corpus = Corpus(folder.absolute(), check.test)
        self.seen: list[IR] = []
        self.last: tuple[DrawnProgram, Examination] | None = None
        self.hung: dict[str, Violation] = {}
        self.child: Child | None = None
        chosen = check.settings
        self.options = ExaminationOptions(
            chosen.samples, chosen.idempotent, chosen.native, tuple(chosen.without)
        )
        if profile.native or chosen.native:
            self.child = Child(Limits(profile.seconds))

    def all(self) -> None:
        """Run everything."""
        self._replay()
        self._draw()
        self._elsewhere()
        why = self.tally.tested_nothing(self.check.position.p.name, self.check.settings.fires)
        if why:
            raise PassRefuted(why)

    def close(self) -> None:
        """End the child, and remove the record of what runs."""
        self.corpus.end()
        if self.child is not None:
            self.child.close()

    def _replay(self) -> None:
        for path in self.corpus.left_over():
            drawn = read_program(path)
            found = self._after_a_crash(drawn)
            path.unlink()
            if found is not None:
                raise self._report(found, "on which the last run ended")
        for path in self.corpus.findings():
            self.tally.replayed += 1
            try:
                drawn = read_program(path)
                found = self._after_a_crash(drawn) if _crashed(path) else self._examine(drawn)
            except IRKitError as error:  # For example, a pass that works on graphs by now.
                self.tally.notes.append(f"{path} cannot be tried: {error.message}")
                continue
            if found is not None and found.violation is not None:
                raise self._report(found, "kept from an earlier run")
            if found is not None and not found.invalid:
                self._replay_body(drawn, found)

    def _replay_body(self, drawn: DrawnProgram, found: Examination) -> None:
        self.last = drawn, found
        try:
            self._call(found)
        except Exception as error:
            self._explain(error)
            raise
        self.last = None

    def _after_a_crash(self, drawn: DrawnProgram) -> Examination | None:
        """Examine, in another process, a program that killed an earlier process."""
        with Child(Limits(self.profile.seconds)) as child:
            try:
                found = examine_safely(
                    self.check.position, drawn, self.options, self.profile.seconds, child
                )
            except IRKitError as error:
                self.tally.notes.append(f"not tried in another process: {error.message}")
                assert drawn.ir is not None
                message = "the last run ended without a message while this program ran"
                return Examination(drawn.ir, violation=Violation("crash", message))
        return found if found.violation is not None else None

    def _draw(self) -> None:
        test = self._hypothesis_test()
        try:
            test()
        except errors.Unsatisfiable:
            return  # Reported with the counts.
        except PassRefuted:
            assert self.last is not None
            raise self._report(self.last[1], self._counted()) from None
        except errors.Flaky:
            if self.last is None or self.last[1].violation is None:
                raise
            again = ", which does not fail each time"
            raise self._report(self.last[1], self._counted() + again) from None
        except Exception as error:
            if self.last is None:
                raise
            self._explain(error)
            raise

    def _hypothesis_test(self) -> Callable[[], None]:
        @functools.wraps(self.check.body)
        def one(drawn: Any) -> None:
            self._one(as_program(drawn))

        # Not the signature of the body, which has other parameters.
        del one.__wrapped__
        made = given(drawn=self.check.strategy)(one)
        if self.check.settings.seed is not None:
            made = seeded(self.check.settings.seed)(made)
        return settings(
            max_examples=self.check.settings.examples * self.profile.times,
            derandomize=self.profile.derandomize and self.check.settings.seed is None,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.target, Phase.shrink),
            suppress_health_check=_ALL,
            report_multiple_bugs=False,
            verbosity=Verbosity.quiet,
        )(made)

    def _one(self, drawn: DrawnProgram) -> None:
        counting = self.last is None
        self.tally.cases += counting
        if drawn.ir is None:
            self._invalid(drawn.why_not, counting)
        found = self._examine(drawn)
        if found.invalid:
            self._invalid(found.invalid, counting)
        if found.violation is not None:
            if self.last is not None and not _alike(self.last[1].violation, found.violation):
                return  # Shrinking must not end at another fault.
            self.last = drawn, found
            raise PassRefuted(str(found.violation))
        if counting:
            self.tally.fired += found.fired
            self._remember(found)
        try:
            self._call(found)
        except BaseException:
            self.last = drawn, found
            raise

    def _invalid(self, why: str, counting: bool) -> None:
        if counting:
            self.tally.why_not[why] += 1
        reject()

    def _examine(self, drawn: DrawnProgram) -> Examination:
        assert drawn.ir is not None
        text = drawn.ir.script()
        if text in self.hung:  # Waiting for it again would take as long.
            return Examination(drawn.ir, violation=self.hung[text])
        if self.hung:
            return Examination(drawn.ir, invalid="not tried, because another program did not end")
        self.corpus.begin(drawn)
        position, seconds = self.check.position, self.profile.seconds
        try:
            found = examine_safely(position, drawn, self.options, seconds, self.child)
        except IRKitError as error:
            if self.child is None:
                raise
            # A pass that only this process can find.
            self.tally.notes.append(f"not run in another process: {error.message}")
            self.child.close()
            self.child = None
            found = examine_safely(position, drawn, self.options, seconds)
        if found.violation is not None and found.violation.contract in ("hang", "crash"):
            self.hung[text] = found.violation
        return found

    def _remember(self, found: Examination) -> None:
        changed = [step.before for step in found.own if step.changed]
        if changed and len(self.seen) < _ELSEWHERE:
            self.seen.append(changed[0])

    def _call(self, found: Examination) -> None:
        case = PassCase(self.check.position.p, found, self.options.samples)
        self.check.body(*self.args, **self.kwargs, **{self.check.argument: case})

    def _elsewhere(self) -> None:
        """Run the pass in processes with other hash seeds, on some of the programs it changed."""
        p = self.check.position.p
        for seed in self.check.settings.hash_seeds if self.seen else ():
            try:
                apart = hash_seed_differences([(p, self.seen)], seed)[0]
            except IRKitError as error:
                self.tally.notes.append(f"not tried under other hash seeds: {error.message}")
                return
            if apart:
                ir = self.seen[apart[0]]
                broken = Violation("deterministic", f"another result with hash seed {seed}")
                found = Examination(ir, violation=broken, before=ir)
                raise self._report(found, self._counted())

    def _counted(self) -> str:
        examples = self.check.settings.examples * self.profile.times
        return f"after {self.tally.cases} of {examples} (profile {self.profile.name})"

    def _report(self, found: Examination, counted: str) -> PassRefuted:
        folder = self.corpus.folder_for(found.program.script())
        self.check.finding = folder
        files = save_finding(
            self.check.position,
            found,
            folder,
            seconds=self.profile.reducing,
            idempotent=self.options.idempotent,
        )
        return PassRefuted(report_of(self.check.position, found, files, counted), folder)

    def _explain(self, error: Exception) -> None:
        """Add the program to what the body raised."""
        assert self.last is not None
        found = self.last[1]
        violation = Violation("body", f"{type(error).__name__}: {error}".partition("\n")[0])
        shown = Examination(
            found.program, found.steps, found.own, found.lowered, violation, _first_input(found)
        )
        error.add_note("\n" + str(self._report(shown, self._counted())))


def _first_input(found: Examination) -> IR | None:
    return next((step.before for step in found.own if step.changed), None)


def _alike(known: Violation | None, new: Violation) -> bool:
    return known is not None and known.contract == new.contract


def _crashed(program: Path) -> bool:
    title = program.with_name("finding.txt")
    return title.exists() and "takes its process with it" in title.read_text(encoding="utf-8")


def _argument(body: Body) -> str:
    names = [name for name in inspect.signature(body).parameters if name != "self"]
    if not names:
        raise IRKitError(
            f"{body.__name__} takes no case",
            hint=f"Write def {body.__name__}(case): ..., even if it asks for nothing more.",
        )
    return "case" if "case" in names else names[0]
