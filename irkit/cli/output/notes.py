"""Notes on standard error, beside the result."""

from collections.abc import Iterable

import click

from irkit.debug import unused_passes
from irkit.passes import is_user_pass
from irkit.phases import Flow
from irkit.transform import Step


def note_unused_passes(flow: Flow, steps: Iterable[Step]) -> None:
    """Print a note about each of the user's own passes that never ran or changed nothing."""
    for idle in unused_passes(steps, flow.pipelines):
        if is_user_pass(idle.of):
            note(str(idle))


def note_not_isolated(name: str, reason: str) -> None:
    """Print a note about a pass that had to run in this process."""
    note(f"{name} ran in this process: {reason}")


def note(text: str) -> None:
    """Print a note on standard error."""
    click.echo(f"note: {text}", err=True)
