"""Logs of a compiler: banners, each with the IR that follows it, and what else it said in
between."""

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from irkit.inspector_web.dumps.dump import DumpDamage, Dumped

LONGEST_BANNER = 10_000
_SAID = re.compile(
    r"PLEASE submit a bug report|Stack dump|LLVM ERROR|Assertion |fatal error|Segmentation fault"
    r"|[^\s\"'{}]{1,300}:\d+:\d+: (?:error|warning|note|remark): |\S{1,300} Assertion `"
)


class Banner(msgspec.Struct, frozen=True):
    """A banner: what it announces, and whether IR follows."""

    event: Dumped
    has_text: bool = True
    is_failure: bool = False


def events_of(
    lines: Sequence[str],
    banner_of: Callable[[str], Banner | None],
    language_of: Callable[[Sequence[str]], str],
    is_cut: Callable[[str, str], bool],
) -> Iterator[Dumped]:
    """Yield what was printed. Raises: DumpDamage if the IR after the last banner is cut off."""
    banners = [
        (at, found)
        for at, line in enumerate(lines)
        if len(line) <= LONGEST_BANNER and (found := banner_of(line)) is not None
    ]
    said = ""
    for number, (at, banner) in enumerate(banners):
        end = banners[number + 1][0] if number + 1 < len(banners) else len(lines)
        event = msgspec.structs.replace(banner.event, line=at + 1)
        failed = (said or "the dump says that this pass failed") if banner.is_failure else ""
        if not banner.has_text:
            yield event
            continue
        own = lines[at + 1 : end]
        language = language_of(own)
        text, said = _cut(own)
        if not text and not banner.is_failure:
            continue
        if number + 1 == len(banners) and not said and is_cut(language, text):
            raise DumpDamage(
                f"line {at + 1}: the IR {event.side} '{event.label or event.name}' is cut off"
            )
        yield msgspec.structs.replace(event, text=text, language=language, failed=failed)


def _cut(lines: Sequence[str]) -> tuple[str, str]:
    """Divide the lines after a banner into IR and what the compiler said after it."""
    for at, line in enumerate(lines):
        if _SAID.match(line):
            return "\n".join(lines[:at]).strip("\n"), "\n".join(lines[at : at + 20]).strip("\n")
    return "\n".join(lines).strip("\n"), ""


def named(text: str) -> tuple[str, str]:
    """Return name and label of a pass printed as ``Loop Unroller (loop-unroll)``."""
    found = re.search(r" \(([\w.-]+)\)\Z", text)
    return (found[1], text) if found is not None else (text, "")
