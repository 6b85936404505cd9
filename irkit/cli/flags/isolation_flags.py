"""Flags --isolate, --pass-timeout, --pass-memory, --crash-dir, --no-crash-dir of the verbs that run
passes."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from irkit.debug import IsolationPolicy


def with_isolation_flags(command: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of a guard, as one argument ``guard``."""

    @wraps(command)
    def run(**given: Any) -> None:
        isolate = given.pop("isolate") or given["pass_memory"] is not None
        folder = given.pop("crash_dir")
        crash_dir = None if given.pop("no_crash_dir") else folder
        guard = IsolationPolicy(
            isolate, given.pop("pass_timeout"), given.pop("pass_memory"), crash_dir
        )
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
