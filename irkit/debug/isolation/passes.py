"""(keep the docstring of isolate.py)"""

import pickle

from irkit.core import FormatError, IRKitError, Recorder
from irkit.debug.isolation.pass_worker import run_pass
from irkit.debug.isolation.trace_step import LEVELS
from irkit.debug.processes.child import Child, ChildDied, Limits
from irkit.debug.processes.timeout import TimeUp, can_interrupt, timeout
from irkit.debug.processes.traceback_of_pass import traceback_of_pass
from irkit.transform import Apply, Attempt, PassHalted, Step, StepChannel, apply_here

MOST_NODES = 1 << 21  # Then both sides forget, and what they still need goes over once more.


class Isolation:
    """Run passes in a child process: ``pipeline.steps(ir, apply=isolation.apply)``.

    ``seconds`` and ``memory`` (bytes) are for each pass. A pass that another process cannot import
    (a closure, or one of the main script) is refused if ``strict``; otherwise it runs here, under
    the time limit alone, and ``refused`` says why, by name. Close it, or use it in a ``with``.
    """

    def __init__(
        self, *, seconds: float | None = None, memory: int | None = None, strict: bool = False
    ) -> None:
        self.limits = Limits(seconds, memory)
        self.strict = strict
        self.refused: dict[str, str] = {}
        self._child = Child(self.limits)
        self._exchange: tuple[int, StepChannel] | None = None
        self._fresh = True
        self._unsent = ""

    def apply(self, attempt: Attempt, recorder: Recorder) -> object:
        """Run a pass in the child, and bring back what it made, counted and said.

        Raises: PassHalted if it is stopped or crashes; what it raises.
        """
        reason = why_not_isolated(attempt)
        message = b"" if reason else self._message(attempt)
        if not message:
            reason = reason or f"what pass {attempt.p.name!r} takes cannot be sent: {self._unsent}"
            if self.strict:
                raise IRKitError(reason)
            self.refused[attempt.p.name] = reason
            return self._here(attempt, recorder)
        try:
            return self._there(attempt, recorder, message)
        except BaseException as error:
            self._exchange = None  # Who knows how far the other side came.
            if isinstance(error, ChildDied):
                raise halted(error, self.limits) from None
            raise

    @property
    def starts(self) -> int:
        """Count the processes so far; more than one means that some were lost."""
        return self._child.starts

    def close(self) -> None:
        """End the child process; another begins when one is needed."""
        self._child.close()
        self._exchange = None

    def __enter__(self) -> "Isolation":
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()

    def _here(self, attempt: Attempt, recorder: Recorder) -> object:
        limited = self.limits.seconds is not None and can_interrupt()
        apply = time_limit(self.limits.seconds or 0) if limited else apply_here
        return apply(attempt, recorder)

    def _message(self, attempt: Attempt) -> bytes:
        """Tell the step, or nothing where a file has no form for something in it."""
        try:
            return self._conversation().send(_as_step(attempt))
        except IRKitError as error:
            self._exchange, self._unsent = None, error.message
            return b""

    def _there(self, attempt: Attempt, recorder: Recorder, message: bytes) -> object:
        fresh, exchange = self._fresh, self._conversation()
        self._fresh = False
        told = self._child.call(
            run_pass,
            fresh,
            message,
            attempt.p,
            type(recorder),
            recorder.disabled,
            recorder.keep,
        )
        if not told.message:
            what = f"it returned {told.other}, not {attempt.p.level.__name__}"
            raise PassHalted("class", what)
        try:
            step = exchange.receive(told.message)
        except FormatError as error:
            self._child.close()
            raise PassHalted("crash", f"left its process damaged: {error.message}") from None
        recorder.count += step.applications
        recorder.applications.extend(step.kept)
        recorder.remarks.extend(step.remarks)
        return step.after

    def _conversation(self) -> StepChannel:
        number = self._child.start()
        known = self._exchange
        if known is None or known[0] != number or len(known[1]) > MOST_NODES:
            known = self._exchange = (number, StepChannel(LEVELS))
            self._fresh = True
        return known[1]


def why_not_isolated(attempt: Attempt) -> str:
    """Say why a pass cannot run in another process, or nothing."""
    level = attempt.level
    if not any(each.name == level.name and each.nodes == level.nodes for each in LEVELS):
        return f"IR of level {level.name!r} cannot be sent to another process"
    p = attempt.p
    if p.path.startswith("__main__:"):
        return (
            f"pass {p.name!r} cannot be sent to another process: it is defined in the main script"
        )
    try:
        pickle.dumps(p)
    except Exception as error:  # Options may be of any class.
        return error.message if isinstance(error, IRKitError) else f"{p.name!r}: {error}"
    return ""


def halted(error: ChildDied, limits: Limits) -> PassHalted:
    """Say of a pass what was said of the process it ran in."""
    made = PassHalted(error.kind, error.message, error.traceback)
    made.seconds, made.memory = limits.seconds, limits.memory
    return made


def _as_step(attempt: Attempt) -> Step:
    return Step(
        index=attempt.index,
        level=attempt.level,
        phase=attempt.phase,
        phase_name="",
        name=attempt.p.name,
        pass_text="",
        options={},
        function=attempt.function,
        before=attempt.before,
        after=attempt.before,
        seconds=0.0,
    )


def time_limit(seconds: float) -> Apply:
    """Run passes in this process, each for at most ``seconds``; for the main thread only.

    It interrupts Python, not native code that does not come back to it.
    """
    limits = Limits(seconds)

    def apply(attempt: Attempt, recorder: Recorder) -> object:
        if not can_interrupt():
            raise IRKitError(
                "only the main thread can limit the time of a pass that runs in this process",
                hint="Run it in a process of its own.",
            )
        try:
            with timeout(seconds):
                return apply_here(attempt, recorder)
        except TimeUp as error:
            what = f"did not end within {seconds:g} s"
            raise halted(ChildDied("timeout", what, traceback_of_pass(error)), limits) from None

    return apply
