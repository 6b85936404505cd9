"""Judge a loop function: NumPy, the interpreter before and after lowering, and native code twice.

The fast way verifies once, at the end. The thorough way runs the IR after each pass, which names
the guilty one.
"""

from functools import cache

import msgspec

from irkit.codegen import compile_object, emit, host_target, runnable_target
from irkit.core import IRKitError, Target, count_nodes
from irkit.debug import (
    MAX_SLOWDOWN,
    MAX_STEPS,
    SCHEDULE,
    CheckOptions,
    Flush,
    GuardedKernel,
    GuardedMemory,
    RaceSearch,
    is_concurrent,
    schedule_steps,
    scheduled_steps,
    verdicts,
)
from irkit.fuzz.generators.sample import Sample
from irkit.fuzz.judge.agreement import ExpectedResults
from irkit.fuzz.judge.outcome import WrongSample
from irkit.fuzz.judge.progress import Optimise, TierProgress, always
from irkit.ir import InterpretedFunction, MemoryLimit, PrimFunc, StepLimit, parse, script, verify
from irkit.transform import Step

# Unrolled loops inside each other can become so large that LLVM takes minutes.
_MOST_NODES = 30_000
# Without SSE4.1, LLVM 22 itself is wrong: widening 8 16-bit numbers to 64 bits takes 4 of them
# twice.
_LEFT_OUT = ("avx",)
_MOST_BYTES = 1 << 26
"""Memory for the buffers of a sample in the interpreter, which fills all of it."""
_FLUSH: tuple[Flush, Flush] = ("end", "start")


class LoopCase:
    """A loop function on its way through the tiers; ``about`` names the pass whose contracts are
    checked, if given."""

    def __init__(self, sample: Sample, progress: TierProgress) -> None:
        assert isinstance(sample.ir, PrimFunc)
        self.sample, self.progress = sample, progress
        self.func: PrimFunc = sample.ir
        self.scheduled: PrimFunc = sample.ir
        self.lowered: PrimFunc = sample.ir
        self.made: PrimFunc = sample.ir
        """What the pipeline made; ``lowered`` is that, without contraction if bits are compared."""
        self.steps: list[Step] = []
        self.rounds = False
        self.about = ""
        self.pipeline = sample.pipeline
        self.reference = ExpectedResults(sample, sample.ir)
        self.refused: set[int] = set()
        """Sets of arguments for which the function as drawn needs more memory than there is."""

    @property
    def functions(self) -> tuple[PrimFunc, ...]:
        """Return the function as drawn and as lowered."""
        return self.func, self.lowered

    def read_again(self) -> PrimFunc:
        """Return the scheduled function read back from its text."""
        return parse(script(self.scheduled))

    def run(self, *, native: bool = True, optimise: Optimise = always) -> None:
        """Run all tiers, or all but native code. Raises: WrongSample."""
        with self.progress.running("interpreter"):
            self._interpret_as_drawn()
        with self.progress.running("lower"):
            self._lower()
        with self.progress.running("lowered"):
            if any(step.changed and step.changes_rounding for step in self.steps):
                self._expect_other_rounding()
            self.interpret(self.lowered)
        last = self._last_concurrent()
        if last:
            with self.progress.running("races"):
                self._look_for_races(last)
        if not native:
            return
        with self.progress.running("O0"):
            text = emit([self.lowered], target_of(3))
            self.run_native(text, target_of(0))
        if optimise(text):
            with self.progress.running("O3"):
                self.run_native(text, target_of(3))

    def _interpret_as_drawn(self) -> None:
        engine = InterpretedFunction(self.func)
        for number, inputs in enumerate(self.sample.inputs):
            args = inputs.copied()
            try:
                engine(*args, max_steps=MAX_STEPS, max_bytes=_MOST_BYTES)
            except MemoryLimit as error:
                if not self.sample.may_lack_memory:
                    raise WrongSample("invalid", str(error)) from None
                self.refused.add(number)
                self.reference.expect(number, inputs.args)
                continue
            except StepLimit as error:
                raise WrongSample("invalid", f"it takes too long to interpret: {error}") from None
            except IRKitError as error:
                known = self.sample.sound or self.sample.expected[number] is not None
                raise WrongSample("failed" if known else "invalid", str(error)) from None
            why = self.reference.learn(number, args)
            if why:
                raise WrongSample("mismatch", f"the interpreter disagrees with NumPy: {why}")

    def _lower(self) -> None:
        schedule = self.sample.schedule
        made = list(schedule_steps(self.func, schedule)) if schedule.steps else []
        self.scheduled = _last(made, self.func)
        apply = self.progress.apply
        self.steps = list(self.pipeline.steps(self.scheduled, verify=False, apply=apply))
        self.progress.fired = [step.name for step in self.steps if step.changed]
        self.made = self.lowered = _last(self.steps, self.scheduled)
        if count_nodes(self.lowered) > _MOST_NODES:
            raise WrongSample("invalid", "it became too large to be run in time")
        problems = verify(self.lowered)
        if problems:
            raise WrongSample("failed", f"the lowered program does not verify: {problems[0]}")
        for fact in self.pipeline.gives:
            for problem in fact.problems(self.lowered):
                raise WrongSample(
                    "failed", f"the lowered program does not hold {fact.name}: {problem}"
                )

    def _expect_other_rounding(self) -> None:
        """Compare each step with the one before it, as `irkit check` does; from here on, what the
        lowered function computes is expected. Raises: WrongSample."""
        options = CheckOptions(native=False)
        for verdict in verdicts(self.steps, options):
            if verdict.is_wrong:
                why = verdict.wrong_element or verdict.message
                raise WrongSample("mismatch", f"{why} ({verdict.inputs})", verdict.name)
        self.rounds = True
        attrs = tuple(pair for pair in self.lowered.attrs if pair[0] != "contract")
        self.lowered = self.lowered.replace(attrs=(*attrs, ("contract", False)))
        engine = InterpretedFunction(self.lowered)
        for number, inputs in enumerate(self.sample.inputs):
            args = inputs.copied()
            try:
                engine(*args, max_steps=MAX_SLOWDOWN * MAX_STEPS)
            except IRKitError as error:
                raise WrongSample("failed", str(error)) from None
            self.reference.adopt(number, args)

    def interpret(self, func: PrimFunc, named: str = "") -> None:
        """Interpret a lowered form of the function. Raises: WrongSample."""
        engine = InterpretedFunction(func)
        for number, inputs in enumerate(self.sample.inputs):
            args = inputs.copied()
            try:
                engine(*args, max_steps=MAX_SLOWDOWN * MAX_STEPS, max_bytes=_MOST_BYTES)
            except MemoryLimit as error:
                if number in self.refused:
                    continue
                raise WrongSample("failed", str(error), named) from None
            except StepLimit as error:
                raise WrongSample("failed", f"it does not end: {error}", named) from None
            except IRKitError as error:
                raise WrongSample("failed", str(error), named) from None
            why = self.reference.disagreement(number, args)
            if why:
                raise WrongSample("mismatch", why, named)

    def _last_concurrent(self) -> list[PrimFunc]:
        """Return the last forms with parallel loops or threads: the lowered one, and those from
        which a pass removed them."""
        found = [self.lowered]
        for step in self.steps:
            assert isinstance(step.before, PrimFunc)
            assert isinstance(step.after, PrimFunc)
            if step.changed and not is_concurrent(step.after):
                found.append(step.before)
        return list(filter(is_concurrent, found))

    def _look_for_races(self, last: list[PrimFunc]) -> None:
        """Find the step that brings a race, if any of the last forms races. Raises: WrongSample."""
        search = RaceSearch(self.sample.inputs)
        if not any(map(search.has_race, last)):
            return
        schedule = self.sample.schedule
        steps = [*(schedule_steps(self.func, schedule) if schedule.steps else ()), *self.steps]
        for step in steps:
            assert isinstance(step.before, PrimFunc)
            assert isinstance(step.after, PrimFunc)
            scheduling = step.phase == SCHEDULE
            race = search.new_race(step.before, step.after, scheduling=scheduling)
            if step.changed and race is not None:
                raise WrongSample("races", str(race), step.name)

    def run_native(self, text: str, target: Target, func: PrimFunc | None = None) -> None:
        """Compile LLVM IR, of the lowered function or another, and run it between guard pages.
        Raises: WrongSample."""
        kernel = GuardedKernel(func or self.lowered, compile_object(text, target))
        for number, inputs in enumerate(self.sample.inputs):
            for flush in _FLUSH:
                try:
                    found = kernel(yard(), inputs.args, flush)
                except MemoryLimit as error:
                    if number in self.refused:
                        continue
                    raise WrongSample("failed", str(error)) from None
                except IRKitError as error:
                    raise WrongSample("failed", str(error)) from None
                why = self.reference.disagreement(number, found)
                if why:
                    raise WrongSample("mismatch", f"native code: {why}")

    def after_each_pass(self) -> None:
        """Verify and interpret after each primitive and each pass. Raises: WrongSample, with the
        name."""
        if self.rounds:
            return  # Each step was compared with the one before it.
        steps = scheduled_steps(self.func, self.sample.schedule, self.sample.pipeline)
        for step in steps:
            if not step.changed:
                continue
            if step.phase != SCHEDULE:  # A primitive makes a new function, even if it is equal.
                before, after = step.scripts()
                if before == after:
                    said = "it reports a change, but the text is the same"
                    raise WrongSample("broken", said, step.name)
            assert isinstance(step.after, PrimFunc)
            self.interpret(step.after, step.name)


def _last(steps: list[Step], func: PrimFunc) -> PrimFunc:
    after = steps[-1].after if steps else func
    assert isinstance(after, PrimFunc)
    return after


@cache
def target_of(level: int) -> Target:
    return msgspec.structs.replace(runnable_target(Target()), opt_level=level)


@cache
def lesser_target() -> Target:
    """Return this processor with fewer features."""
    have = host_target().features
    features = tuple(f"-{name}" for name in _LEFT_OUT if f"+{name}" in have)
    return runnable_target(Target(features=features, opt_level=0))


@cache
def yard() -> GuardedMemory:
    return GuardedMemory()
