"""One test of a pass: what `check_pass` makes of a function, and how it runs."""

import inspect
import random
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import errors, strategies as st

from irkit.core import IRKitError
from irkit.debug import ProcessState, hash_seed_differences
from irkit.fuzz.check_pass.case_runner import CaseRunner
from irkit.fuzz.check_pass.corpus import DEFAULT_FOLDER, Corpus, read_program
from irkit.fuzz.check_pass.draw_programs import draw_by_number, draw_from_strategy, source_of
from irkit.fuzz.check_pass.examination import Examination, Violation
from irkit.fuzz.check_pass.finding import PassRefuted, report_of, save_finding
from irkit.fuzz.check_pass.pass_case import PassCase
from irkit.fuzz.check_pass.position import PassPosition
from irkit.fuzz.check_pass.profile import Profile, profile_of
from irkit.fuzz.check_pass.programs import DrawnProgram
from irkit.fuzz.check_pass.settings import PassCheckSettings
from irkit.fuzz.check_pass.tally import CheckTally
from irkit.transform import IR

Body = Callable[..., object]
LEAST_REDUCING = 1.0
_OF_RESULT = ("verifies", "signature", "same numbers", "no new race", "lowering")


class PassCheck:
    """The work of a decorated test; the plugin sets ``profile`` and ``folder`` before it runs, and
    reads ``tally`` and ``finding`` afterwards."""

    def __init__(self, position: PassPosition, body: Body, settings: PassCheckSettings) -> None:
        self.position, self.body, self.settings = position, body, settings
        self.source = source_of(settings, position)
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
        """Run the test. Raises: PassRefuted, or what the body raises.

        What a refuted pass has changed in this process is set as it was.
        """
        self.tally, self.finding = CheckTally(), None
        state, started = ProcessState(), time.perf_counter()
        run = _CheckRun(self, profile_of(self.profile), args, kwargs)
        try:
            run.all()
        except PassRefuted:
            state.restore()
            raise
        finally:
            run.close()
            self.tally.seconds = time.perf_counter() - started

    def __repr__(self) -> str:
        return f"<check of {self.name}>"


class _CheckRun:
    """One run of a test: earlier findings first, then programs that are drawn."""

    def __init__(
        self, check: PassCheck, profile: Profile, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.check, self.profile = check, profile
        self.tally = check.tally
        folder = DEFAULT_FOLDER if check.folder is None else check.folder
        self.corpus = Corpus(folder.absolute(), check.test)

        def call(case: PassCase) -> object:
            return check.body(*args, **kwargs, **{check.argument: case})

        self.cases = CaseRunner(
            check.position, check.settings, profile, self.corpus, check.tally, call
        )

    def all(self) -> None:
        """Run everything."""
        self._replay()
        self._draw()
        self._elsewhere()
        why = self.tally.tested_nothing(
            self.check.position.p.name, self.cases.least_fired, out_of_time=bool(self.tally.stopped)
        )
        if why:
            raise PassRefuted(why)

    def close(self) -> None:
        """End what was started."""
        self.cases.close()

    def _replay(self) -> None:
        for path in self.corpus.left_over():
            drawn = read_program(path)
            found = self.cases.after_a_crash(drawn)
            path.unlink()
            if found is not None:
                raise self._report(found, "on which the last run ended")
        for path in self.corpus.findings():
            self.tally.replayed += 1
            try:
                drawn = read_program(path)
                found = (
                    self.cases.after_a_crash(drawn) if _crashed(path) else self.cases.examine(drawn)
                )
            except IRKitError as error:  # For example, a pass that works on graphs by now.
                self.tally.notes.append(f"{path} cannot be tried: {error.message}")
                continue
            if found is not None and found.violation is not None:
                raise self._report(found, "kept from an earlier run")
            if found is not None and not found.invalid:
                self._replay_body(drawn, found)

    def _replay_body(self, drawn: DrawnProgram, found: Examination) -> None:
        self.cases.last = drawn, found
        try:
            self.cases.call(found)
        except Exception as error:
            self._explain(error)
            raise
        self.cases.last = None

    def _draw(self) -> None:
        try:
            if isinstance(self.check.source, st.SearchStrategy):
                draw_from_strategy(self.cases, self.check.source, self.seed)
            else:
                draw_by_number(self.cases, self.check.source, self.seed)
        except PassRefuted:
            assert self.cases.last is not None
            raise self._report(self.cases.last[1], self._counted()) from None
        except errors.Flaky:
            if self.cases.last is None or self.cases.last[1].violation is None:
                raise
            again = ", which does not fail each time"
            raise self._report(self.cases.last[1], self._counted() + again) from None
        except Exception as error:
            if self.cases.last is None:
                raise
            self._explain(error)
            raise

    @property
    def seed(self) -> object:
        """What the programs follow from."""
        if self.check.settings.seed is not None:
            return self.check.settings.seed
        return self.check.test if self.profile.derandomize else random.randrange(1 << 32)

    def _elsewhere(self) -> None:
        """Run the pass in processes with other hash seeds, on some of the programs it changed."""
        p = self.check.position.p
        for seed in self.check.settings.hash_seeds if self.cases.seen else ():
            try:
                apart = hash_seed_differences([(p, self.cases.seen)], seed)[0]
            except IRKitError as error:
                self.tally.notes.append(f"not tried under other hash seeds: {error.message}")
                return
            if apart:
                ir = self.cases.seen[apart[0]]
                broken = Violation("deterministic", f"another result with hash seed {seed}")
                found = Examination(ir, violation=broken, before=ir)
                raise self._report(found, self._counted())

    def _with_hash_seeds(self, found: Examination) -> Examination:
        """Add to a finding that the pass gives another result in a process with another hash seed,
        if it does."""
        violation, before = found.violation, found.before
        assert violation is not None
        if before is None or violation.contract not in _OF_RESULT:
            return found
        for seed in self.check.settings.hash_seeds:
            with suppress(IRKitError):  # No other process can find the pass.
                if hash_seed_differences([(self.check.position.p, [before])], seed)[0]:
                    message = f"{violation.message}\n  Its result depends on the hash seed."
                    violation = Violation(violation.contract, message)
                    return msgspec.structs.replace(found, violation=violation)
        return found

    def _counted(self) -> str:
        return f"after {self.tally.cases} of {self.cases.examples} (profile {self.profile.name})"

    def _report(self, found: Examination, counted: str) -> PassRefuted:
        found = self._with_hash_seeds(found)
        folder = self.corpus.folder_for(found.program.script())
        self.check.finding = folder
        files = save_finding(
            self.check.position,
            found,
            folder,
            seconds=max(self.cases.budget.left, LEAST_REDUCING),
            idempotent=self.cases.options.idempotent,
        )
        return PassRefuted(report_of(self.check.position, found, files, counted), folder)

    def _explain(self, error: Exception) -> None:
        """Add the program to what the body raised."""
        assert self.cases.last is not None
        found = self.cases.last[1]
        violation = Violation("body", f"{type(error).__name__}: {error}".partition("\n")[0])
        shown = Examination(
            found.program, found.steps, found.own, found.lowered, violation, _first_input(found)
        )
        error.add_note("\n" + str(self._report(shown, self._counted())))


def _first_input(found: Examination) -> IR | None:
    return next((step.before for step in found.own if step.changed), None)


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
