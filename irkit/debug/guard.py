"""Run passes under guard: within limits, and with a folder about what failed."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import click
import msgspec

from irkit.core import IRKitError
from irkit.debug.crash import failure_traceback, write_crash
from irkit.debug.explain import explain
from irkit.debug.isolate import Isolation, half_of_memory, time_limit
from irkit.debug.primitives import PrimitiveFailed
from irkit.transform import Apply, PassFailed, Step, apply_here

_SHOWN = 12  # Lines of a traceback; the folder has all.


class Guard(msgspec.Struct, frozen=True):
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


def with_guard(command: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of a guard, as one argument ``guard``."""

    @wraps(command)
    def run(**given: Any) -> None:
        isolate = given.pop("isolate") or given["pass_memory"] is not None
        folder = given.pop("crash_dir")
        crash_dir = None if given.pop("no_crash_dir") else folder
        guard = Guard(isolate, given.pop("pass_timeout"), given.pop("pass_memory"), crash_dir)
        command(**given, guard=guard)

    made: Callable[..., None] = run
    for option in reversed(_OPTIONS):
        made = option(made)
    return made


_OPTIONS: tuple[Callable[[Callable[..., None]], Callable[..., None]], ...] = (
    click.option(
        "--isolate",
        is_flag=True,
        help="Run passes in a process of their own, which may crash without harm.",
    ),
    click.option(
        "--pass-timeout",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="Stop a pass that takes longer; with --isolate also in native code.",
    ),
    click.option(
        "--pass-memory",
        type=click.IntRange(min=1),
        metavar="MIB",
        help="Stop a pass that takes more memory; implies --isolate, whose default is half of "
        "the machine's.",
    ),
    click.option(
        "--crash-dir",
        type=click.Path(file_okay=False),
        default=".",
        metavar="DIR",
        help="Where to write a folder about a pass that fails.  [default: here]",
    ),
    click.option("--no-crash-dir", is_flag=True, help="Write no such folder."),
)
