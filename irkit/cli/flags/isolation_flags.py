"""Options of the verbs that run passes: ``--isolate``, limits of time and memory, crash folders."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from irkit.cli.flags.flag_values import Option, Verb, with_options
from irkit.debug import Isolated, IsolationPolicy

_ISOLATE = "Run passes in a separate process, so that a crash ends only that process: all, or none."
_OPTIONS: tuple[Option, ...] = (
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


def isolate_flag(*, users: bool) -> Option:
    """Return the option ``--isolate``; with ``users``, passes that are not irkit's run in a
    separate process by default, where one starts quickly."""
    default = "those that are not irkit's" if users and sys.platform == "linux" else "none"
    text = f"{_ISOLATE}  [default: {default}]"
    return click.option("--isolate/--no-isolate", default=None, help=text)


def isolated(wanted: bool | None, *, users: bool) -> Isolated:
    """Return which passes run in a separate process, from the value of ``--isolate``."""
    if wanted is None:
        return "users" if users and sys.platform == "linux" else "none"
    return "all" if wanted else "none"


def with_isolation_flags(*, users: bool) -> Callable[[Verb], Verb]:
    """Add the options that isolate passes to a verb, as one parameter ``guard``.

    With ``users``, passes that are not irkit's run in a separate process unless the user says no.
    """

    def decorate(verb: Verb) -> Verb:
        @wraps(verb)
        def run(**values: Any) -> None:
            wanted, memory = values.pop("isolate"), values.pop("pass_memory")
            which = "all" if memory is not None else isolated(wanted, users=users)
            folder = values.pop("crash_dir")
            crash_dir = None if values.pop("no_crash_dir") else folder
            guard = IsolationPolicy(which, values.pop("pass_timeout"), memory, crash_dir)
            verb(**values, guard=guard)

        return with_options(run, (isolate_flag(users=users), *_OPTIONS))

    return decorate
