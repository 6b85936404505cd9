"""Reduction of a failing case, and its files: what bisect and reduce have in common."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.markup import escape
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from irkit.core import IRKitError, console
from irkit.debug import (
    CheckOptions,
    FailingCase,
    Failure,
    GuiltyStep,
    ModuleCase,
    case_of_guilty_step,
    failure_of,
    module_case_of,
    reduce,
    reduce_module,
    seeded_passes,
    size_of_case,
    write_case,
    write_module_case,
)
from irkit.ir import PrimFunc
from irkit.passes import installed_passes
from irkit.phases import pipeline_for
from irkit.processes import Limits
from irkit.transform import Apply


def write_reduced(
    case: FailingCase,
    failure: Failure,
    output: str,
    *,
    seconds: float,
    limits: Limits,
    apply: Apply,
) -> None:
    """Make a case small, write it to a folder, all files or none, and print what it is.

    Raises: IRKitError if the case does not fail when it is read back from its text.
    """
    click.echo(f"before: {size_of_case(case)}")
    with _progress() as progress:

        def show(family: str, count: int, smaller: FailingCase) -> None:
            progress(f"{family}: {size_of_case(smaller)}, {count} candidates")

        reduced = reduce(case, failure, seconds=seconds, progress=show, apply=apply)
    smaller, failure = _as_text(reduced.case, failure, apply)
    known = installed_passes()
    seeded = () if failure.needs_isolation else seeded_passes(smaller, known)
    test = write_case(Path(output), smaller, failure, known, limits, seeded=seeded)
    click.echo(f"after:  {reduced.after}")
    ended = "" if reduced.finished else ", and could go on: give it more --seconds"
    click.echo(f"{reduced.candidates} candidates in {reduced.seconds:.1f} s{ended}")
    click.echo(f"\n{smaller.func.script()}\n{failure.text}\n\nRun it with: python -m pytest {test}")


def write_reduced_module(
    case: ModuleCase,
    options: CheckOptions,
    output: str,
    *,
    seconds: float,
    apply: Apply,
) -> None:
    """Make a module small that a pass over graphs or modules breaks, write it to a folder, all
    files or none, and print what it is."""
    click.echo(f"before: {case}")
    with _progress() as progress:

        def show(family: str, smaller: ModuleCase) -> None:
            progress(f"{family}: {smaller}")

        reduced = reduce_module(case, options, seconds=seconds, progress=show, apply=apply)
    test = write_module_case(Path(output), reduced.case, reduced.failure, installed_passes())
    click.echo(f"after:  {reduced.case}")
    ended = "" if reduced.finished else ", and could go on: give it more --seconds"
    click.echo(f"{reduced.candidates} candidates{ended}")
    click.echo(f"\n{reduced.case.module.script()}\n{reduced.failure.text}\n")
    click.echo(f"Run it with: python -m pytest {test}")


def write_guilty_step(
    found: GuiltyStep,
    options: dict[str, Any],
    output: str,
    *,
    seconds: float,
    limits: Limits,
    apply: Apply,
) -> None:
    """Make a small case of a guilty pass and write it to a folder; ``options`` are those of
    :func:`irkit.debug.find_case`."""
    if isinstance(found.before, PrimFunc):
        case, failure = case_of_guilty_step(found, options, apply)
        write_reduced(case, failure, output, seconds=seconds, limits=limits, apply=apply)
        return
    checked = CheckOptions(**options)
    case = module_case_of(found)
    write_reduced_module(case, checked, output, seconds=seconds, apply=apply)


def _as_text(case: FailingCase, failure: Failure, apply: Apply) -> tuple[FailingCase, Failure]:
    """Read the case back from its text, as the test will, and check that it fails again."""
    reread = case.reread()
    pipeline = pipeline_for(case.pipeline.text(installed_passes()), reread.func)
    reread = reread.replace(pipeline=pipeline)
    again = failure_of(reread, code=failure.is_of_code, apply=apply)
    if again is None or not again.is_like(failure):
        raise IRKitError(
            f"cannot write {case.func.name!r} as a test: read back from its text it does not fail",
            hint="The pass depends on something that is not in the text, such as a span.",
        )
    return reread, again


@contextmanager
def _progress() -> Generator[Callable[[str], None]]:
    """Show the progress of the search if there is a terminal."""
    screen = console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task("reduce", total=None)

        yield lambda text: bar.update(task, description=escape(text))
