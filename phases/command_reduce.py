"""The verb reduce of the ``irkit`` command."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from irkit.core import IRKitError
from irkit.debug import (
    Case,
    Failure,
    console,
    failure_of,
    find_case,
    reduce,
    size_of_case,
    write_case,
)
from irkit.ir import PrimFunc
from irkit.phases.command_check import check_options, stopped, with_check_options
from irkit.phases.command_opt import read_module
from irkit.phases.command_options import (
    NEW_FOLDER,
    WithPasses,
    find_users_modules,
    flow_of,
    registry,
)
from irkit.phases.starting import pipeline_for
from irkit.transform import Pipeline


@click.command("reduce", cls=WithPasses)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "-o",
    "--output",
    type=NEW_FOLDER,
    default="reduced",
    show_default=True,
    help="The folder that the reduced case is written to.",
)
@click.option(
    "--pipeline",
    "text",
    metavar="'1:NAME,NAME;2:NAME'",
    help="Run these passes and no others. Quote it.",
)
@click.option("--function", "name", metavar="NAME", help="The function to reduce, of several.")
@click.option(
    "--seconds",
    default=60.0,
    show_default=True,
    type=click.FloatRange(min=0.1, max=86_400),
    help="When to stop looking for something smaller.",
)
@with_check_options
def reduce_(
    file: str,
    output: str,
    text: str | None,
    name: str | None,
    seconds: float,
    passes: tuple[str, ...],
    disabled: tuple[str, ...],
    stop_after: int | None,
    **how: Any,
) -> None:
    """Make the function in FILE, the passes and the inputs small while the same pass still breaks
    it.

    The folder then holds reduced.irs, pipeline.txt, inputs.npz, and test_reduced.py, a pytest that
    fails for as long as the failure is there.

    \b
      irkit reduce kernel.irs --pass '2:my_package.passes:my_pass'
      irkit reduce kernel.irs --pipeline '1:lower-blocks,my_package.passes:my_pass' -o smaller
    """
    if text is not None and (passes or disabled or stop_after is not None):
        raise click.UsageError("--pipeline names all passes: leave --pass and the like out")
    find_users_modules()
    flow = flow_of(passes, disabled)
    given = check_options(**how)
    case, failure = _found(
        [
            (func, stopped(flow, stop_after) if text is None else pipeline_for(text, func))
            for func in _functions(file, name)
        ],
        given,
    )
    click.echo(f"{failure.text}\nbefore: {size_of_case(case)}")
    with _shown() as progress:
        reduced = reduce(case, failure, seconds=seconds, progress=progress)
    smaller, failure = _as_text(reduced.case, failure)
    test = write_case(Path(output), smaller, failure, registry())
    click.echo(f"after:  {reduced.after}")
    ended = "" if reduced.finished else ", and could go on: give it more --seconds"
    click.echo(f"{reduced.candidates} candidates in {reduced.seconds:.1f} s{ended}")
    click.echo(f"\n{smaller.func.script()}\n{failure.text}\n\nRun it with: python -m pytest {test}")


def _functions(file: str, name: str | None) -> list[PrimFunc]:
    module = read_module(file)
    chosen = module.functions.values() if name is None else [module[name]]
    loops = [func for func in chosen if isinstance(func, PrimFunc)]
    if not loops:
        raise IRKitError(f"{file}: there is no function over loops to reduce")
    return loops


def _found(runs: list[tuple[PrimFunc, Pipeline]], given: dict[str, Any]) -> tuple[Case, Failure]:
    """Find the first function that some pass breaks."""
    for func, pipeline in runs:
        found = find_case(pipeline, func, **given)
        if found is not None:
            return found
    names = ", ".join(repr(func.name) for func, _ in runs)
    raise IRKitError(
        f"there is nothing to reduce: every step keeps the meaning of {names}",
        hint="Give the inputs it fails on by --inputs, or have more made up by --samples.",
    )


def _as_text(case: Case, failure: Failure) -> tuple[Case, Failure]:
    """Read the case back from its text, as the test will, and see it fail again."""
    reread = case.reread()
    again = failure_of(reread)
    if again is None or not again.is_like(failure):
        raise IRKitError(
            f"cannot write {case.func.name!r} as a test: read back from its text it does not fail",
            hint="The pass depends on something that is not in the text, such as a span.",
        )
    return reread, again


@contextmanager
def _shown() -> Generator[Callable[[str, int, Case], None]]:
    """Show how far the search is, where there is a terminal."""
    screen = console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task("reduce", total=None)

        def tell(family: str, count: int, case: Case) -> None:
            bar.update(task, description=f"{family}: {size_of_case(case)}, {count} candidates")

        yield tell
