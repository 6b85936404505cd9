"""The console that commands print to."""

from rich.console import Console


def console(*, stderr: bool = False) -> Console:
    """Make the console that commands print to; it colours only what is a terminal.

    A file or pipe has no width: rows stay whole there.
    """
    screen = Console(highlight=False, stderr=stderr)
    if not screen.is_terminal:
        screen.width = 1000
    return screen
