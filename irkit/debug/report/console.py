"""The console that commands print to."""

from rich.console import Console


def console(*, stderr: bool = False) -> Console:
    """Return the console that commands print to; it uses colours only on a terminal.

    Files and pipes have no width: rows are not cut there.
    """
    screen = Console(highlight=False, stderr=stderr)
    if not screen.is_terminal:
        screen.width = 1000
    return screen
