"""Passes that may crash, hang or exhaust memory, run without harm to this process.

There are two ways. :class:`Isolation` runs a pass in a child process, which contains every kind of
failure. :func:`time_limit` runs it in this process and interrupts it: native code that does not
return cannot be interrupted, and a crash ends this process.
"""

import os
import pickle
from collections.abc import Callable

from irkit.core import FormatError, IRKitError, Recorder
from irkit.debug.isolation.forked_pass import run_forked_pass
from irkit.debug.isolation.input_digest import CHANGED
from irkit.debug.isolation.pass_worker import PassReply, run_pass
from irkit.debug.isolation.trace_step import LEVELS, trace_step
from irkit.processes import (
    Child,
    ChildDied,
    Limits,
    TimeUp,
    can_interrupt,
    timeout,
    traceback_inside,
)
from irkit.transform import (
    PASS_CALLER,
    AnyPass,
    Apply,
    Attempt,
    PassHalted,
    Step,
    StepChannel,
    apply_here,
)

# Beyond this size both sides drop their tables, and nodes still in use are sent again.
MAX_SHARED_NODES = 1 << 21


class Isolation:
    """Run passes in a child process: ``pipeline.steps(ir, apply=isolation.apply)``.

    ``seconds`` and ``memory`` (bytes) limit each pass. A pass that another process cannot import (a
    closure, or one defined in the main script) is rejected if ``strict``; otherwise it runs here,
    under the time limit alone, and ``refused`` maps its name to the reason. So do irkit's own
    passes unless ``own``. With ``fork``, a pass that cannot be imported runs in a fork of this
    process, where there are forks: if it crashes, that is an error of the pass, too. ``watch``
    wraps what runs passes here. Call ``close`` at the end, or use a ``with`` block.
    """

    def __init__(
        self,
        *,
        seconds: float | None = None,
        memory: int | None = None,
        strict: bool = False,
        own: bool = True,
        fork: bool = False,
        watch: Callable[[Apply], Apply] = lambda apply: apply,
    ) -> None:
        self.limits = Limits(seconds, memory)
        self.strict, self.own, self.watch = strict, own, watch
        self.fork = fork and hasattr(os, "fork")
        self.refused: dict[str, str] = {}
        self._child = Child(self.limits, outer=PASS_CALLER)
        self._channel: tuple[int, StepChannel] | None = None
        self._new_channel = True
        self._unsent = ""

    def apply(self, attempt: Attempt, recorder: Recorder) -> object:
        """Run a pass in the child and return its result.

        Its rewrites and remarks are added to the recorder. Raises: PassHalted if the pass is
        stopped or crashes; otherwise whatever it raises.
        """
        if not self.own and is_own(attempt.p):
            return self._run_here(attempt, recorder)
        reason = why_not_isolated(attempt)
        message = b"" if reason else self._message(attempt)
        if not message:
            name = attempt.p.name
            reason = reason or f"the input of pass {name!r} cannot be sent: {self._unsent}"
            if self.strict:
                raise IRKitError(reason)
            self.refused[attempt.p.name] = reason
            if self.fork and can_interrupt():
                return self.watch(self._run_in_fork)(attempt, recorder)
            return self._run_here(attempt, recorder)
        try:
            return self._run_in_child(attempt, recorder, message)
        except BaseException as error:
            self._channel = None  # The state of the other side is unknown.
            if isinstance(error, ChildDied):
                raise pass_halted(error, self.limits) from None
            raise

    @property
    def starts(self) -> int:
        """Return the number of processes started; more than one means that some were lost."""
        return self._child.starts

    def close(self) -> None:
        """End the child process; the next pass starts another."""
        self._child.close()
        self._channel = None

    def __enter__(self) -> "Isolation":
        return self

    def __exit__(self, *ignored: object) -> None:
        self.close()

    def _run_here(self, attempt: Attempt, recorder: Recorder) -> object:
        limited = self.limits.seconds is not None and can_interrupt()
        apply = time_limit(self.limits.seconds or 0) if limited else apply_here
        return self.watch(apply)(attempt, recorder)

    def _run_in_fork(self, attempt: Attempt, recorder: Recorder) -> object:
        channel = StepChannel(LEVELS)
        try:
            message = channel.send(_step_of(attempt))
        except IRKitError:
            return self._run_here(attempt, recorder)
        try:
            reply = run_forked_pass(attempt, recorder, message, self.limits)
        except ChildDied as error:
            raise pass_halted(error, self.limits) from None
        if reply is not None and reply.modified:
            raise PassHalted("input", CHANGED)
        if reply is None or not reply.message:
            return self._run_here(attempt, recorder)  # It fails, and says how.
        return _taken(channel, reply, recorder)

    def _message(self, attempt: Attempt) -> bytes:
        """Encode the step; return no bytes if something in it cannot be encoded."""
        try:
            return self._open_channel().send(_step_of(attempt))
        except IRKitError as error:
            self._channel, self._unsent = None, error.message
            return b""

    def _run_in_child(self, attempt: Attempt, recorder: Recorder, message: bytes) -> object:
        new_channel, channel = self._new_channel, self._open_channel()
        self._new_channel = False
        reply = self._child.call(
            run_pass,
            new_channel,
            message,
            attempt.p,
            type(recorder),
            recorder.disabled,
            recorder.keep,
            recorder.timed,
        )
        if reply.modified:
            self._child.close()  # Its copy of the input is of no use any more.
            raise PassHalted("input", CHANGED)
        if not reply.message:
            what = f"it returned {reply.other}, not {attempt.p.level.__name__}"
            raise PassHalted("class", what)
        try:
            return _taken(channel, reply, recorder)
        except FormatError as error:
            self._child.close()
            raise PassHalted("crash", f"corrupted its process: {error.message}") from None

    def _open_channel(self) -> StepChannel:
        number = self._child.start()
        known = self._channel
        if known is None or known[0] != number or len(known[1]) > MAX_SHARED_NODES:
            known = self._channel = (number, StepChannel(LEVELS))
            self._new_channel = True
        return known[1]


def _step_of(attempt: Attempt) -> Step:
    return trace_step(
        attempt.level,
        attempt.before,
        index=attempt.index,
        phase=attempt.phase,
        name=attempt.p.name,
        function=attempt.function,
    )


def _taken(channel: StepChannel, reply: PassReply, recorder: Recorder) -> object:
    """Return the IR of a reply; its rewrites and remarks are added to the recorder."""
    step = channel.receive(reply.message)
    recorder.count += step.applications
    recorder.applications.extend(step.kept)
    recorder.remarks.extend(step.remarks)
    recorder.add_reports(step.reports)
    return step.after


def is_own(p: AnyPass) -> bool:
    """Return True if a pass is one of irkit's."""
    return p.path.startswith("irkit.")


def why_not_isolated(attempt: Attempt) -> str:
    """Return the reason why a pass cannot run in another process, or an empty string."""
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
    except Exception as error:  # Options can be of any class.
        return error.message if isinstance(error, IRKitError) else f"{p.name!r}: {error}"
    return ""


def pass_halted(error: ChildDied, limits: Limits) -> PassHalted:
    """Turn the death of a child process into an error about its pass."""
    made = PassHalted(error.kind, error.message, error.traceback)
    made.seconds, made.memory = limits.seconds, limits.memory
    return made


def time_limit(seconds: float) -> Apply:
    """Return a way to run passes in this process, each for at most ``seconds``.

    It works on the main thread only, and interrupts Python, not native code that does not return.
    """
    limits = Limits(seconds)

    def apply(attempt: Attempt, recorder: Recorder) -> object:
        if not can_interrupt():
            raise IRKitError(
                "a pass in this process can have a time limit only on the main thread",
                hint="Use Isolation to run it in a child process.",
            )
        try:
            with timeout(seconds):
                return apply_here(attempt, recorder)
        except TimeUp as error:
            inside = traceback_inside(error, PASS_CALLER)
            raise pass_halted(
                ChildDied("timeout", limits.exceeded("timeout"), inside), limits
            ) from None

    return apply
