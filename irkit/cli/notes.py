"""FIXME Tell on standard error of each pass of the user's own that never ran or changed nothing."""

from collections.abc import Iterable

import click

from irkit.debug import unused_passes
from irkit.passes import is_user_pass
from irkit.phases import Flow
from irkit.transform import Step


def note_unused_passes(flow: Flow, steps: Iterable[Step]) -> None:
    """Tell on standard error of each pass of the user's own that never ran or changed nothing."""
    for idle in unused_passes(steps, flow.pipelines):
        if is_user_pass(idle.of):
            note(str(idle))


def note(text: str) -> None:
    """Say something beside the result."""
    click.echo(f"note: {text}", err=True)
