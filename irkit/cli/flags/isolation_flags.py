"""Options of the verbs that run passes: ``--isolate``, limits of time and memory, crash folders."""

from functools import wraps
from typing import Any

import click

from irkit.cli.flags.flag_values import Option, Verb, with_options
from irkit.debug import IsolationPolicy

_OPTIONS: tuple[Option, ...] = (
    click.option(
        "--isolate",
        is_flag=True,
        help="Run passes in a separate process, so that a crash ends only that process.",
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
        help="Stop a pass that takes more memory; implies --isolate.  [default with --isolate: "
        "half of the machine's]",
    ),
    click.option(
        "--crash-dir",
        type=click.Path(file_okay=False),
        default=".",
        metavar="DIR",
        help="Where to write a folder about a pass that fails.  [default: the current directory]",
    ),
    click.option("--no-crash-dir", is_flag=True, help="Do not write a folder about a failure."),
)


def with_isolation_flags(verb: Verb) -> Verb:
    """Add the options that isolate passes to a verb, as one parameter ``guard``."""

    @wraps(verb)
    def run(**values: Any) -> None:
        isolate = values.pop("isolate") or values["pass_memory"] is not None
        folder = values.pop("crash_dir")
        crash_dir = None if values.pop("no_crash_dir") else folder
        guard = IsolationPolicy(
            isolate, values.pop("pass_timeout"), values.pop("pass_memory"), crash_dir
        )
        verb(**values, guard=guard)

    return with_options(run, _OPTIONS)
