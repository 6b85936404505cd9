"""Choose the reader of a dump, among irkit's own and those of installed packages, and read it."""

from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import msgspec

from irkit.core import FormatError, IRKitError
from irkit.inspector_web.dumps.dump import DumpDamage, Dumped, DumpReader
from irkit.inspector_web.dumps.dump_steps import DumpSteps
from irkit.inspector_web.dumps.llvm_dump import LLVM
from irkit.inspector_web.dumps.mlir_dump import MLIR
from irkit.inspector_web.dumps.mlir_tree import MLIR_TREE
from irkit.inspector_web.dumps.step_lines import STEP_LINES
from irkit.inspector_web.limits import MOST_DUMPED

GROUP = "irkit.dump_readers"
OWN = (STEP_LINES, MLIR_TREE, MLIR, LLVM)
_HEAD = 1 << 20


class DumpContent(msgspec.Struct, frozen=True):
    """What was read from a dump; ``damage`` says from where on it could not be read."""

    found: DumpSteps
    reader: str
    damage: str = ""


def readers() -> Iterator[DumpReader]:
    """Yield irkit's own readers, then those of installed packages.

    Raises: IRKitError that names the package of an entry point that is broken.
    """
    yield from OWN
    for entry in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        package = "" if entry.dist is None else f" of package {entry.dist.name!r}"
        where = f"entry point {entry.name!r} ({entry.value}){package}"
        try:
            found: object = entry.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            reason = f"{type(error).__name__}: {error}"
            raise IRKitError(f"{where} cannot be loaded: {reason}") from error
        if not isinstance(found, DumpReader):
            raise IRKitError(f"{where} is a {type(found).__name__}, not a DumpReader")
        yield found


def reader_of(path: Path) -> DumpReader:
    """Find the reader of a dump. Raises: FormatError that lists what can be read."""
    head = ""
    if path.is_file():
        with path.open("rb") as opened:
            head = opened.read(_HEAD).decode(errors="replace")
    known = list[DumpReader]()
    for reader in readers():
        if reader.accepts(path, head):
            return reader
        known.append(reader)
    raise FormatError(
        f"{path} is no trace, and no dump that can be read",
        hint="Dumps that can be read: " + "; ".join(each.what for each in known) + ".",
    )


def read_dump(path: Path) -> DumpContent:
    """Read a dump. Raises: FormatError if it is none, or damaged before its first step."""
    reader = reader_of(path)
    events = list[Dumped]()
    damage = ""
    try:
        for event in reader.read(path):
            if len(events) == MOST_DUMPED:
                raise DumpDamage(f"line {event.line}: it has more than {MOST_DUMPED:,} dumps")
            events.append(event)
    except DumpDamage as error:
        damage = str(error)
    found = DumpSteps(events)
    if not found.steps and found.failed is None:
        why = damage or "it has no IR after a pass"
        raise FormatError(f"{path}: {why}")
    if damage:
        damage = f"{path.name}: {damage}; what is before that is shown"
    return DumpContent(found, reader.name, damage)
