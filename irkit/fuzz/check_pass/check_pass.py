"""The decorator that tests a pass on random programs."""

import functools
import inspect
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

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
from irkit.debug import Child, Limits, differing_elsewhere
from irkit.fuzz.check_pass.corpus import DEFAULT_FOLDER, Corpus, read_program
from irkit.fuzz.check_pass.examination import Demands, Examined, Refuted, examine_safely
from irkit.fuzz.check_pass.finding import PassRefuted, keep, told
from irkit.fuzz.check_pass.pass_case import PassCase
from irkit.fuzz.check_pass.position import PassPosition
from irkit.fuzz.check_pass.profile import Profile, profile_of
from irkit.fuzz.check_pass.programs import DrawnProgram, checked_kinds, drawn, programs_of
from irkit.fuzz.check_pass.tally import CheckTally
from irkit.transform import IR, AnyPass, Pass

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
    reads ``tally`` and ``files`` afterwards."""

    def __init__(
        self,
        place: PassPosition,
        body: Body,
        strategy: st.SearchStrategy[Any],
        demands: Demands,
        *,
        examples: int,
        fires: float,
        seed: int | None,
        hash_seeds: Sequence[int],
    ) -> None:
        self.place, self.body, self.strategy, self.demands = place, body, strategy, demands
        self.examples, self.fires, self.seed, self.hash_seeds = examples, fires, seed, hash_seeds
        self.profile = ""
        self.folder: Path | None = None
        self.tally = CheckTally()
        self.kept: Path | None = None
        module = (body.__module__ or "").rpartition(".")[2]
        self.test = f"{module}.{body.__qualname__}"
        self.argument = _argument(body)

    @property
    def name(self) -> str:
        """Return the name of the pass with its options and position."""
        return f"{self.place.p} ({self.place.told})"

    def run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Run the test. Raises: PassRefuted, or what the body raises."""
        self.tally, self.kept = CheckTally(), None
        started = time.perf_counter()
        running = _CheckRun(self, profile_of(self.profile), args, kwargs)
        try:
            running.all()
        finally:
            running.close()
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
        self.last: tuple[DrawnProgram, Examined] | None = None
        self.hung: dict[str, Refuted] = {}
        self.child: Child | None = None
        self.demands = check.demands
        if profile.native or check.demands.native:
            self.child = Child(Limits(profile.seconds))

    def all(self) -> None:
        """Run everything."""
        self._replay()
        self._draw()
        self._elsewhere()
        why = self.tally.tested_nothing(self.check.place.p.name, self.check.fires)
        if why:
            raise PassRefuted(why)

    def close(self) -> None:
        """End the child, and remove the record of what runs."""
        self.corpus.end()
        if self.child is not None:
            self.child.close()

    def _replay(self) -> None:
        for path in self.corpus.left_over():
            what = read_program(path)
            found = self._after_a_crash(what)
            path.unlink()
            if found is not None:
                raise self._refuted(found, "which the last run ended on")
        for path in self.corpus.findings():
            self.tally.replayed += 1
            try:
                what = read_program(path)
                found = self._after_a_crash(what) if _crashed(path) else self._examined(what)
            except IRKitError as error:  # For example, a pass that works on graphs by now.
                self.tally.notes.append(f"{path} cannot be tried: {error.message}")
                continue
            if found is not None and found.refuted is not None:
                raise self._refuted(found, "kept from an earlier run")
            if found is not None and not found.invalid:
                self._replay_body(what, found)

    def _replay_body(self, what: DrawnProgram, found: Examined) -> None:
        self.last = what, found
        try:
            self._call(found)
        except Exception as error:
            self._explain(error)
            raise
        self.last = None

    def _after_a_crash(self, what: DrawnProgram) -> Examined | None:
        """Examine, in another process, a program that killed an earlier process."""
        with Child(Limits(self.profile.seconds)) as child:
            try:
                found = examine_safely(
                    self.check.place, what, self.demands, self.profile.seconds, child
                )
            except IRKitError as error:
                self.tally.notes.append(f"not tried in another process: {error.message}")
                assert what.ir is not None
                message = "the last run ended, without a word, while this program ran"
                return Examined(what.ir, refuted=Refuted("crash", message))
        return found if found.refuted is not None else None

    def _draw(self) -> None:
        test = self._hypothesis_test()
        try:
            test()
        except errors.Unsatisfiable:
            return  # Reported with the counts.
        except PassRefuted:
            assert self.last is not None
            raise self._refuted(self.last[1], self._counted()) from None
        except errors.Flaky:
            if self.last is None or self.last[1].refuted is None:
                raise
            again = ", which does not fail each time"
            raise self._refuted(self.last[1], self._counted() + again) from None
        except Exception as error:
            if self.last is None:
                raise
            self._explain(error)
            raise

    def _hypothesis_test(self) -> Callable[[], None]:
        @functools.wraps(self.check.body)
        def one(what: Any) -> None:
            self._one(drawn(what))

        # Not the signature of the body, which has other parameters.
        del one.__wrapped__
        made = given(what=self.check.strategy)(one)
        if self.check.seed is not None:
            made = seeded(self.check.seed)(made)
        return settings(
            max_examples=self.check.examples * self.profile.times,
            derandomize=self.profile.derandomize and self.check.seed is None,
            database=None,
            deadline=None,
            phases=(Phase.generate, Phase.target, Phase.shrink),
            suppress_health_check=_ALL,
            report_multiple_bugs=False,
            verbosity=Verbosity.quiet,
        )(made)

    def _one(self, what: DrawnProgram) -> None:
        counting = self.last is None
        self.tally.cases += counting
        if what.ir is None:
            self._invalid(what.why_not, counting)
        found = self._examined(what)
        if found.invalid:
            self._invalid(found.invalid, counting)
        if found.refuted is not None:
            if self.last is not None and not _alike(self.last[1].refuted, found.refuted):
                return  # Shrinking must not end at another fault.
            self.last = what, found
            raise PassRefuted(str(found.refuted))
        if counting:
            self.tally.fired += found.fired
            self._remember(found)
        try:
            self._call(found)
        except BaseException:
            self.last = what, found
            raise

    def _invalid(self, why: str, counting: bool) -> None:
        if counting:
            self.tally.why_not[why] += 1
        reject()

    def _examined(self, what: DrawnProgram) -> Examined:
        assert what.ir is not None
        text = what.ir.script()
        if text in self.hung:  # Waiting for it again would take as long.
            return Examined(what.ir, refuted=self.hung[text])
        if self.hung:
            return Examined(what.ir, invalid="not tried, since another one did not come back")
        self.corpus.begin(what)
        place, seconds = self.check.place, self.profile.seconds
        try:
            found = examine_safely(place, what, self.demands, seconds, self.child)
        except IRKitError as error:
            if self.child is None:
                raise
            # A pass that only this process can find.
            self.tally.notes.append(f"not run in another process: {error.message}")
            self.child.close()
            self.child = None
            found = examine_safely(place, what, self.demands, seconds)
        if found.refuted is not None and found.refuted.promise in ("hang", "crash"):
            self.hung[text] = found.refuted
        return found

    def _remember(self, found: Examined) -> None:
        changed = [step.before for step in found.own if step.changed]
        if changed and len(self.seen) < _ELSEWHERE:
            self.seen.append(changed[0])

    def _call(self, found: Examined) -> None:
        case = PassCase(self.check.place.p, found, self.demands.samples)
        self.check.body(*self.args, **self.kwargs, **{self.check.argument: case})

    def _elsewhere(self) -> None:
        """Run the pass in processes with other hash seeds, on some of the programs it changed."""
        p = self.check.place.p
        for seed in self.check.hash_seeds if self.seen else ():
            try:
                apart = differing_elsewhere([(p, self.seen)], seed)[0]
            except IRKitError as error:
                self.tally.notes.append(f"not tried under other hash seeds: {error.message}")
                return
            if apart:
                ir = self.seen[apart[0]]
                broken = Refuted("deterministic", f"another result with hash seed {seed}")
                found = Examined(ir, refuted=broken, given=ir)
                raise self._refuted(found, self._counted())

    def _counted(self) -> str:
        how = f"profile {self.profile.name}"
        return f"after {self.tally.cases} of {self.check.examples * self.profile.times} ({how})"

    def _refuted(self, found: Examined, counted: str) -> PassRefuted:
        folder = self.corpus.folder_for(found.program.script())
        self.check.kept = folder
        kept = keep(
            self.check.place,
            found,
            folder,
            seconds=self.profile.reducing,
            idempotent=self.demands.idempotent,
        )
        return PassRefuted(told(self.check.place, found, kept, counted), folder)

    def _explain(self, error: Exception) -> None:
        """Add the program to what the body raised."""
        assert self.last is not None
        found = self.last[1]
        asked = Refuted("body", f"{type(error).__name__}: {error}".partition("\n")[0])
        shown = Examined(found.program, found.steps, found.own, found.lowered, asked, _given(found))
        error.add_note("\n" + str(self._refuted(shown, self._counted())))


def _given(found: Examined) -> IR | None:
    return next((step.before for step in found.own if step.changed), None)


def _alike(known: Refuted | None, new: Refuted) -> bool:
    return known is not None and known.promise == new.promise


def _crashed(program: Path) -> bool:
    told = program.with_name("finding.txt")
    return told.exists() and "takes its process with it" in told.read_text(encoding="utf-8")


def _argument(body: Body) -> str:
    names = [name for name in inspect.signature(body).parameters if name != "self"]
    if not names:
        raise IRKitError(
            f"{body.__name__} takes no case",
            hint=f"Write def {body.__name__}(case): ..., even if it asks for nothing more.",
        )
    return "case" if "case" in names else names[0]


def check_pass(
    p: object,
    *,
    phase: int | None = None,
    before: str = "",
    after: str = "",
    examples: int = 100,
    kinds: Sequence[str] = (),
    strategy: st.SearchStrategy[Any] | None = None,
    graph: bool | None = None,
    idempotent: bool = True,
    without: Sequence[str] = (),
    fires: float = 0.1,
    samples: int = 2,
    native: bool = False,
    seed: int | None = None,
    hash_seeds: Sequence[int] = (1,),
) -> Callable[[Body], Callable[..., None]]:
    """Make a test of a function of a case: on each of many programs, lowered with a pass in its
    place, the pass keeps what every pass promises, and the function finds nothing to object to.

    The pass goes to the end of ``phase``, or ``before`` or ``after`` another; options are those of
    ``p.using(...)``. Programs are of ``kinds``, or what a Hypothesis ``strategy`` draws (functions,
    modules, samples, or IR text). Checked are, on the program as it reaches the pass, the promises
    of :func:`irkit.debug.contracts` but those named in ``without`` (``idempotent=False`` for a pass
    that is not), and the numbers of the whole lowering. The test fails too where the pass changed
    fewer than ``fires`` of the programs, or fewer than 90 % of them could be tried. ``native`` runs
    each in a process of its own first, and as native code too, as profile ``long`` does.
    ``seed`` draws the same programs in every run.
    Raises: IRKitError if the pass cannot stand there.
    """
    if not isinstance(p, Pass):
        raise IRKitError(
            f"check_pass takes a pass, found {type(p).__name__}",
            hint="Decorate the function with @define_pass.",
        )
    place = PassPosition(cast(AnyPass, p), phase=phase, before=before, after=after, graph=graph)
    chosen = checked_kinds(kinds, place.on_graphs)
    demands = Demands(samples, idempotent, native, tuple(without))

    def decorate(body: Body) -> Callable[..., None]:
        check = PassCheck(
            place,
            body,
            programs_of(chosen, place.fits) if strategy is None else strategy,
            demands,
            examples=examples,
            fires=fires,
            seed=seed,
            hash_seeds=tuple(hash_seeds),
        )

        @functools.wraps(body)
        def test(*args: Any, **kwargs: Any) -> None:
            __tracebackhide__ = True
            check.run(args, kwargs)

        signature = inspect.signature(body)
        others = [each for name, each in signature.parameters.items() if name != check.argument]
        setattr(test, "__signature__", signature.replace(parameters=others))
        setattr(test, "irkit_check", check)
        return test

    return decorate
