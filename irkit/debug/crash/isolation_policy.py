"""How the passes of one command run: isolation, limits, and the crash folder of a failure."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from irkit.core import IRKitError
from irkit.debug.check.schedule_steps import PrimitiveFailed
from irkit.debug.crash.explanation import explain
from irkit.debug.crash.material import failure_traceback
from irkit.debug.crash.writer import write_crash
from irkit.debug.isolation.passes import Isolation, time_limit
from irkit.debug.processes.isolated_call import half_of_memory
from irkit.transform import Apply, PassFailed, Step, apply_here

_SHOWN = 12  # Lines of a traceback; the folder has all.


class IsolationPolicy(msgspec.Struct, frozen=True):
    """How the passes of one command run. Units: ``pass_timeout`` seconds, ``pass_memory`` MiB.

    ``crash_dir`` is where folders about failures go, None for nowhere.
    """

    isolate: bool = False
    pass_timeout: float | None = None
    pass_memory: int | None = None
    crash_dir: str | None = "."

    @contextmanager
    def running(self, say: Callable[[str], object]) -> Generator[Apply]:
        """Give the way to run a pass. A failure of one is explained, with a folder about it."""
        try:
            with self._apply(say) as apply:
                yield apply
        except PassFailed as error:
            self.report(error)
            raise

    def reporting(self, steps: Iterable[Step]) -> Iterator[Step]:
        """Pass steps on; a failure among them is explained, for those who make a verdict of it."""
        try:
            yield from steps
        except PrimitiveFailed:
            raise  # What is needed to run a schedule again is a trace, which the user has.
        except PassFailed as error:
            self.report(error)
            raise

    def report(self, error: PassFailed) -> Path | None:
        """Write the folder, and put into the error what there is to see and where."""
        place, note = None, ""
        if self.crash_dir is not None:
            try:
                place = write_crash(error, self.crash_dir)
                note = f"See {place}{os.sep}; run it again with: irkit replay {place}"
            except (OSError, IRKitError) as problem:
                note = f"No crash folder could be written: {problem}"
        inside = failure_traceback(error).splitlines(keepends=True)
        inside = [line for line in inside if not line.startswith("Traceback (most")]
        first = not inside or inside[0].startswith(("Timeout", "Thread", "Current", "Fatal"))
        shown = inside[:_SHOWN] if first else inside[-_SHOWN:]
        explained = (explain(error) + "".join(shown)).rstrip("\n").replace("\n", "\n  ")
        error.hint = "\n  ".join(part for part in (explained or error.hint, note) if part)
        return place

    @contextmanager
    def _apply(self, say: Callable[[str], object]) -> Generator[Apply]:
        if not self.isolate:
            limit = self.pass_timeout
            yield apply_here if limit is None else time_limit(limit)
            return
        memory = half_of_memory() if self.pass_memory is None else self.pass_memory << 20
        with Isolation(seconds=self.pass_timeout, memory=memory) as isolation:
            try:
                yield isolation.apply
            finally:
                for reason in isolation.refused.values():
                    say(f"it ran in this process: {reason}")
