"""Progress of a check on standard error: a line on a terminal, a line for each kernel elsewhere."""

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

import click
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from irkit.core import console
from irkit.debug import Verdict


class VerdictProgress:
    """What has been checked so far. ``lines`` prints one for each function that is done."""

    def __init__(self, bar: Progress, lines: bool) -> None:
        self.bar, self.lines = bar, lines
        self.task = bar.add_task("start", total=None)
        self.function = ""
        self.counts: Counter[str] = Counter()
        self.functions = 0

    def __call__(self, verdict: Verdict) -> None:
        """Note a verdict."""
        if verdict.function != self.function:
            self.finish()
            self.function = verdict.function
        if verdict.changed:
            self.counts[verdict.status] += 1
        where = self.function or "the module"
        text = f"{where}: {verdict.pass_text} {verdict.status}, {self.functions} functions done"
        self.bar.update(self.task, description=escape(text))

    def finish(self) -> None:
        """End the function that was worked on."""
        if self.lines and self.counts:
            shown = ", ".join(f"{count} {status}" for status, count in self.counts.items())
            click.echo(f"{self.function or 'the module'}: {shown}", err=True)
        self.functions += bool(self.function)
        self.function = ""
        self.counts.clear()


@contextmanager
def verdict_progress(*, many: bool) -> Generator[VerdictProgress]:
    """Show progress; without a terminal only if there are many functions."""
    screen = console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    silent = not screen.is_terminal
    with Progress(*columns, console=screen, transient=True, disable=silent) as bar:
        shown = VerdictProgress(bar, many and silent)
        yield shown
        shown.finish()
