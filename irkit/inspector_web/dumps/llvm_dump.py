"""LLVM's ``-print-after-all``, ``-print-before-all`` and ``-print-changed``, of opt, llc and
clang."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from irkit.inspector_web.dumps.dump import DumpDamage, Dumped, DumpReader, dump_lines
from irkit.inspector_web.dumps.log import Banner, events_of, named

_BANNER = re.compile(r"(?:[;#] )?\*\*\* IR (.*?) ?\*\*\*:?\s*\Z")
_PASS = re.compile(r"Dump (Before|After) (.*)\Z")
_UNCHANGED = " omitted because no change"
_SKIPPED = (" filtered out", " ignored", " invalidated")
_LOOP = re.compile(r"loop (.+) in function (.+)\Z")
# LLVM 14 and older do not name the function of a loop: it is that of the dump before.
_OLD_LOOP = re.compile(r"Loop at depth \d+ containing: ([^\s<]+)")
_MACHINE = re.compile(r"# Machine code for function ([^:\s]+)")
_PHASES = {"llvm": (0, "LLVM passes"), "mir": (1, "machine passes")}


def _banner(line: str) -> Banner | None:
    if "*** IR " not in line[:10]:
        return None
    found = _BANNER.match(line)
    if found is None:
        return None
    said = found[1]
    if said == "Dump At Start":
        return Banner(Dumped(side="start"))
    told = _PASS.match(said)
    if told is None or said.endswith(_SKIPPED):
        return None
    rest = told[2]
    changed = not rest.endswith(_UNCHANGED)
    rest = rest.removesuffix(_UNCHANGED)
    text, on, unit = rest.rpartition(" on ") if " on loop " not in rest else rest.partition(" on ")
    name, label = named(text if on else rest)
    event = Dumped(name=name, label=label, side="before" if told[1] == "Before" else "after")
    return Banner(_about(event, unit if on else ""), has_text=changed)


def _about(event: Dumped, unit: str) -> Dumped:
    loop = _LOOP.match(unit)
    if loop is not None:
        name = f"{loop[2]}: loop {loop[1]}"
        return msgspec.structs.replace(event, function=name, inside=loop[2])
    several = unit.startswith("(") and unit.endswith(")")
    inner = unit[1:-1] if several else unit
    if inner == "[module]" or (several and ", " in inner):
        inner = ""
    return msgspec.structs.replace(event, function=inner)


def _language(lines: Sequence[str]) -> str:
    return "mir" if any(_MACHINE.match(line) for line in lines[:3]) else "llvm"


def _is_cut(language: str, text: str) -> bool:
    if language == "mir":
        return "# End machine code for function" not in text
    begun = len(re.findall(r"^define\b", text, re.M))
    return begun > len(re.findall(r"^\}", text, re.M))


def _read(path: Path) -> Iterator[Dumped]:
    last = ""
    for given in events_of(dump_lines(path), _banner, _language, _is_cut):
        event = _of_function(given, last)
        last = event.inside or event.function or last
        text, function = event.text, event.function
        if text is not None and event.language == "mir":
            found = _MACHINE.match(text)
            function = found[1] if found is not None else function
        if text is not None and _is_patch(text):
            raise DumpDamage(
                f"line {event.line}: this is a difference and not IR; "
                "run with -print-changed=quiet, not =diff"
            )
        phase, phase_name = _PHASES[event.language or "llvm"]
        yield msgspec.structs.replace(event, function=function, phase=phase, phase_name=phase_name)


def _of_function(event: Dumped, last: str) -> Dumped:
    loop = _OLD_LOOP.match(event.function)
    if loop is None:
        return event
    name = f"{last}: loop {loop[1]}" if last else f"loop {loop[1]}"
    return msgspec.structs.replace(event, function=name, inside=last)


def _is_patch(text: str) -> bool:
    lines = [line for line in text.split("\n") if line]
    return all(line[0] in " +-" for line in lines) and any(line[0] in "+-" for line in lines)


LLVM = DumpReader(
    "llvm",
    "LLVM's -print-after-all, -print-before-all or -print-changed",
    lambda path, head: "*** IR Dump " in head and "// *** IR Dump" not in head,
    _read,
)
