"""How a command runs passes: isolation, limits, and the crash folder of a failure."""

import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from irkit.core import IRKitError
from irkit.debug.check.schedule_steps import PrimitiveFailed
from irkit.debug.crash.death_watch import death_watch
from irkit.debug.crash.explanation import explain
from irkit.debug.crash.material import failure_traceback
from irkit.debug.crash.writer import write_crash
from irkit.debug.isolation.passes import Isolation, time_limit
from irkit.processes import half_of_memory
from irkit.transform import Apply, PassFailed, Step, apply_here

Isolated = Literal["all", "users", "none"]
"""Which passes run in another process: all, those that are not irkit's, or none."""

_SHOWN = 12  # Lines of the traceback; the folder has all of it.


class IsolationPolicy(msgspec.Struct, frozen=True):
    """How a command runs passes. Units: ``pass_timeout`` seconds, ``pass_memory`` MiB.

    ``isolate`` says which passes run in another process. ``crash_dir`` is the folder for crash
    folders; None writes none.
    """

    isolate: Isolated = "none"
    pass_timeout: float | None = None
    pass_memory: int | None = None
    crash_dir: str | None = "."

    @contextmanager
    def running(self, say: Callable[[str, str], object]) -> Generator[Apply]:
        """Yield the function that runs a pass; a failed pass is reported.

        ``say`` is called at the end, with the name of each pass that ran in this process because it
        could not run in another one, and with the reason.
        """
        try:
            with self._apply(say) as apply:
                yield apply
        except PassFailed as error:
            self.report(error)
            raise

    def reporting(self, steps: Iterable[Step]) -> Iterator[Step]:
        """Pass steps on; a failed pass is reported, then raised."""
        try:
            yield from steps
        except PrimitiveFailed:
            raise  # Reproduced by the trace of the schedule, which the user has.
        except PassFailed as error:
            self.report(error)
            raise

    def report(self, error: PassFailed) -> Path | None:
        """Write the crash folder, and add the explanation and the folder's path to the error."""
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
    def _apply(self, say: Callable[[str, str], object]) -> Generator[Apply]:
        def death(error: PassFailed) -> None:
            self.report(error)
            sys.stderr.write(f"Error: {error}\n")

        watch, limit = death_watch(death), self.pass_timeout
        if self.isolate == "none":
            yield watch(apply_here if limit is None else time_limit(limit))
            return
        memory = half_of_memory() if self.pass_memory is None else self.pass_memory << 20
        own = self.isolate == "all"
        with Isolation(seconds=limit, memory=memory, own=own, watch=watch) as isolation:
            try:
                yield isolation.apply
            finally:
                for name, reason in isolation.refused.items():
                    say(name, reason)
