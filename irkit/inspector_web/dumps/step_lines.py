"""The format of steps for any compiler: lines of JSON, described in docs/other-compilers.md.

The first line names the format; each further one is something that was printed.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from irkit.inspector_web.dumps.dump import DumpDamage, Dumped, DumpReader, dump_lines

FORMAT = "irkit.steps/1"
_Decoded = TypeVar("_Decoded")


class StepsHead(msgspec.Struct, frozen=True):
    """The first line; ``language`` is that of lines which give none."""

    format: str
    language: str = ""


def _read(path: Path) -> Iterator[Dumped]:
    lines = dump_lines(path)
    head = _decoded(lines[0], StepsHead, 1)
    if head.format != FORMAT:
        raise DumpDamage(f"line 1: the format is {head.format[:40]!r}; expected {FORMAT!r}")
    for at, line in enumerate(lines[1:], 2):
        if line.strip():
            event = _decoded(line, Dumped, at)
            language = event.language or head.language
            yield msgspec.structs.replace(event, language=language, line=at)


def _decoded(line: str, type_: type[_Decoded], at: int) -> _Decoded:
    try:
        return msgspec.json.decode(line, type=type_)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DumpDamage(f"line {at}: {error}") from None


STEP_LINES = DumpReader(
    "steps",
    "lines of JSON in irkit's format of steps",
    lambda path, head: head[:200].lstrip().startswith("{") and '"irkit.steps/' in head[:200],
    _read,
)
