"""MLIR's folder of files, ``--mlir-print-ir-tree-dir``: a folder an operation, a file a pass.

The numbers in the names of files, such as ``0_1_canonicalize.mlir``, give their order.
"""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec

from irkit.inspector_web.dumps.dump import DumpDamage, Dumped, DumpReader, dump_lines
from irkit.inspector_web.dumps.log import named
from irkit.inspector_web.dumps.mlir_dump import banner_of, is_cut
from irkit.inspector_web.limits import MOST_DUMP_BYTES, MOST_DUMP_FILES

_FILE = re.compile(r"((?:\d{1,9}_)+)(.+)\.mlir\Z")


def _files(folder: Path) -> list[tuple[tuple[int, ...], str, Path]]:
    found: list[tuple[tuple[int, ...], str, Path]] = []
    for path in islice(folder.rglob("*.mlir"), MOST_DUMP_FILES):
        match = _FILE.match(path.name)
        if match is not None and path.is_file() and not path.is_symlink():
            numbers = tuple(map(int, match[1].rstrip("_").split("_")))
            found.append((numbers, match[2], path))
    return sorted(found, key=lambda each: (each[0], str(each[2])))


def _read(folder: Path) -> Iterator[Dumped]:
    room = MOST_DUMP_BYTES
    for _, name, path in _files(folder):
        room -= path.stat().st_size
        shown = path.relative_to(folder)
        if room < 0:
            raise DumpDamage(f"{shown}: the files have more than {MOST_DUMP_BYTES >> 20} MiB")
        yield _event(name, shown, dump_lines(path))


def _event(name: str, shown: Path, lines: list[str]) -> Dumped:
    banner = banner_of(lines[0]) if lines else None
    text = "\n".join(lines[1:] if banner is not None else lines).strip("\n")
    if is_cut("mlir", text):
        raise DumpDamage(f"{shown}: the IR is cut off")
    event = Dumped(name=named(name)[0], phase_name="MLIR passes")
    if banner is not None:
        event = banner.event
    return msgspec.structs.replace(event, text=text, language="mlir", side="after")


MLIR_TREE = DumpReader(
    "mlir-tree",
    "the folder of MLIR's --mlir-print-ir-tree-dir",
    lambda path, head: path.is_dir() and bool(_files(path)),
    _read,
)
