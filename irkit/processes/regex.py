"""Regular expressions within limits: nothing but a signal stops Python's matcher."""

import re
from collections.abc import Sequence
from functools import cache

from irkit.core import InputError
from irkit.processes.child import Child
from irkit.processes.limits import Limits


def matching_lines(
    pattern: str, lines: Sequence[str], *, case: bool = True, limits: Limits
) -> list[int]:
    """Return the indices of the lines that match a regular expression.

    Raises: InputError if it is none; ChildDied if it exceeds the limits.
    """
    return _child(limits).call(_match, pattern, list(lines), case)


@cache
def _child(limits: Limits) -> Child:
    """Return the process for such limits: starting one takes longer than most searches."""
    return Child(limits)


def _match(pattern: str, lines: list[str], case: bool) -> list[int]:
    try:
        compiled = re.compile(pattern, 0 if case else re.IGNORECASE)
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        raise InputError(f"this is not a regular expression: {error}") from None
    return [at for at, line in enumerate(lines) if compiled.search(line)]
