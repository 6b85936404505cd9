"""MLIR's ``--mlir-print-ir-after-all``, ``-before-all``, ``-after-change`` and
``-after-failure``."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from irkit.inspector_web.dumps.dump import Dumped, DumpReader, dump_lines
from irkit.inspector_web.dumps.log import Banner, events_of, named

_BANNER = re.compile(
    r"// (?:-----//|\*\*\*) IR Dump (Before|After) (.*?)(?: (?://-----|\*\*\*)(?: //)?)?\s*\Z"
)
_OPERATION = re.compile(r" \('([^']*)' operation(?:: @(.*))?\)\Z")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|//.*')
FAILED = " Failed"


def banner_of(line: str) -> Banner | None:
    """Return what a line announces, if it is a banner of MLIR."""
    if not line.startswith(("// -----// IR Dump", "// *** IR Dump")):
        return None
    found = _BANNER.match(line)
    if found is None:
        return None
    said = found[2]
    operation = _OPERATION.search(said)
    function = (operation[2] or "").strip('"') if operation is not None else ""
    said = said if operation is None else said[: operation.start()]
    failed = said.endswith(FAILED) or f"{FAILED} (" in said
    name, label = named(said.replace(FAILED, "", 1) if failed else said)
    side = "before" if found[1] == "Before" else "after"
    event = Dumped(name=name, label=label, side=side, function=function, phase_name="MLIR passes")
    return Banner(event, is_failure=failed)


def is_cut(language: str, text: str) -> bool:
    """Return True if brackets are left open."""
    plain = _STRING.sub("", text)
    return plain.count("{") > plain.count("}")


def language_of(lines: Sequence[str]) -> str:
    """Return the language of a dump, which is always the same."""
    return "mlir"


def _read(path: Path) -> Iterator[Dumped]:
    return events_of(dump_lines(path), banner_of, language_of, is_cut)


MLIR = DumpReader(
    "mlir",
    "MLIR's --mlir-print-ir-after-all, -before-all or -after-change",
    lambda path, head: "// -----// IR Dump" in head or "// *** IR Dump" in head,
    _read,
)
