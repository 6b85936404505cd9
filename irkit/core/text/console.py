"""The console that commands print to."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def console(*, stderr: bool = False) -> "Console":
    """Return the console that commands print to; it uses colours only on a terminal.

    Files and pipes have no width: rows are not cut there.
    """
    from rich.console import Console  # What prints nothing needs no library for it.

    screen = Console(highlight=False, stderr=stderr)
    if not screen.is_terminal:
        screen.width = 1000
    return screen
