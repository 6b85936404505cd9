"""What was measured of this machine, in the user's cache folder.

A table is a file of a few numbers for one processor, and is read only if it names that processor.
A damaged one, or one with numbers that no processor has, counts as missing.
"""

import hashlib
import platform
from functools import cache
from pathlib import Path

import msgspec

from irkit.autoschedule import Machine
from irkit.codegen import complete_target
from irkit.core import IRKitError, Target, atomic_write
from irkit.runtime import cache_folder

FORMAT = 2
_LARGEST = 1 << 14
"""Bytes of a file; more is no table."""


class MachineTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was measured: sizes of caches in bytes, and costs in cycles, as in ``Machine``."""

    format: int
    fingerprint: str
    l1: int
    l2: int
    l3: int
    latency: float
    multiplied: float
    loaded: float
    near: float
    far: float
    streamed: float

    def machine(self, known: Machine) -> Machine:
        """Return a machine with the vectors and instructions of a known one, and these numbers."""
        return msgspec.structs.replace(known, **{name: getattr(self, name) for name in MEASURED})

    def digest(self) -> str:
        """Return eight digits that change with what schedules see of the table."""
        machine = self.machine(Machine())
        seen = repr(tuple(getattr(machine, name) for name in MEASURED))
        return hashlib.sha256(f"{self.fingerprint} {seen}".encode()).hexdigest()[:8]


MEASURED = tuple(MachineTable.__struct_fields__[2:])
_BOUNDS = {"l1": (1 << 12, 1 << 24), "l2": (1 << 14, 1 << 28), "l3": (1 << 16, 1 << 34)}


def fingerprint(target: Target | None = None) -> str:
    """Return a name of a target's processor: its features and the system's kind decide, too."""
    whole = complete_target(Target() if target is None else target)
    text = "\n".join((whole.triple, whole.cpu, *whole.features, platform.machine()))
    return f"{whole.cpu}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def table_path(name: str) -> Path | None:
    """Return the file of a processor's table; None if there is no cache folder."""
    folder = cache_folder()
    return None if folder is None else folder / f"machine-{name}.json"


def read_table(target: Target | None = None) -> MachineTable | None:
    """Return what was measured of a target's processor, None if nothing is or it is damaged."""
    name = fingerprint(target)
    path = table_path(name)
    try:
        if path is None or path.stat().st_size > _LARGEST:
            return None
        table = msgspec.json.decode(path.read_bytes(), type=MachineTable)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None
    return table if table.format == FORMAT and table.fingerprint == name and _holds(table) else None


def write_table(table: MachineTable) -> Path:
    """Write a table, whole or not at all, and return its file.

    Raises: IRKitError if there is no cache folder, or it cannot be written to.
    """
    path = table_path(table.fingerprint)
    if path is None:
        raise IRKitError(
            "there is no cache folder to keep the table in",
            hint="Set IRKIT_CACHE_DIR to a folder of your own, and do not set IRKIT_CACHE=0.",
        )
    try:
        with atomic_write(path) as made:
            made.write_bytes(msgspec.json.format(msgspec.json.encode(table)) + b"\n")
    except OSError as error:
        raise IRKitError(f"cannot write {path}: {error.strerror}") from None
    _known.cache_clear()
    return path


def machine_here(target: Target) -> Machine:
    """Return the machine of a complete target, with what was measured of it, if anything was.

    Nothing is measured here, and a table is read once in a process.
    """
    known = Machine.of_target(target)
    folder = cache_folder()
    table = None if folder is None else _known(target, folder)
    return known if table is None else table.machine(known)


@cache
def _known(target: Target, folder: Path) -> MachineTable | None:
    del folder  # Another folder, another table.
    return read_table(target)


def _holds(table: MachineTable) -> bool:
    return all(
        low <= getattr(table, name) <= high
        for name in MEASURED
        for low, high in (_BOUNDS.get(name, (1 / 64, 64.0)),)
    )
