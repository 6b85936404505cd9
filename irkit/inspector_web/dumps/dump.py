"""What is read from a dump: what a compiler printed, in order, and from where on it is damaged."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from irkit.inspector_web.limits import MOST_DUMP_BYTES

DumpSide = Literal["after", "before", "start"]


Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
"""An integer of a file, which JSON does not limit."""


class Dumped(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing that a compiler printed: the text after a pass, before it, or before all passes.

    Without a ``text`` the pass changed nothing. ``function`` is empty for a whole module;
    ``inside`` names the function that the text is a part of, such as of a loop. ``label`` is what
    is shown for the pass, if not its name. ``failed`` is why the pass failed. ``line`` of the file,
    from 1. Units: ``ms`` is the time of the pass, in milliseconds.
    """

    name: str = msgspec.field(default="", name="pass")
    label: str = ""
    function: str = ""
    side: DumpSide = "after"
    text: str | None = None
    language: str = ""
    phase: Int32 = 0
    phase_name: str = ""
    ms: float = 0.0
    inside: str = ""
    failed: str = ""
    line: Int32 = 0


class DumpDamage(Exception):
    """Raised by a reader where a dump cannot be read on; what it yielded before counts."""


class DumpReader(msgspec.Struct, frozen=True):
    """A reader of dumps of one kind.

    ``accepts`` is told the path and the first megabyte, as text. ``read`` yields what was printed,
    in order; it raises DumpDamage, which says what is wrong and where, if it cannot go on.
    """

    name: str
    what: str
    accepts: Callable[[Path, str], bool]
    read: Callable[[Path], Iterator[Dumped]]


def dump_lines(path: Path) -> list[str]:
    """Read the lines of a text file. Raises: DumpDamage if it is too large."""
    with path.open("rb") as opened:
        data = opened.read(MOST_DUMP_BYTES + 1)
    if len(data) > MOST_DUMP_BYTES:
        raise DumpDamage(f"it has more than {MOST_DUMP_BYTES >> 20} MiB")
    return data.decode(errors="replace").replace("\r\n", "\n").split("\n")
