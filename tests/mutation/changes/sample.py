"""A sample of mutants in a file, to find the same ones on another revision of irkit."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from irkit.core import IRKitError
from tests.mutation.changes.mutant import Mutant, mutants_of
from tests.mutation.changes.source import modules_that_define, source_of


class MutantName(msgspec.Struct, frozen=True):
    """What names a mutant; see `Mutant`."""

    module: str
    definition: str
    what: str
    nth: int = 0


def save_sample(path: str | Path, chosen: Iterable[Mutant]) -> None:
    """Write the names of mutants to a file, one a line."""
    lines = [
        msgspec.json.encode(MutantName(each.module, each.definition, each.what, each.nth))
        for each in chosen
    ]
    Path(path).write_bytes(b"\n".join(lines) + b"\n")


def read_sample(path: str | Path) -> list[MutantName]:
    """Read the names of mutants from a file."""
    decoder = msgspec.json.Decoder(MutantName)
    return [decoder.decode(line) for line in Path(path).read_bytes().splitlines()]


def find_mutant(name: MutantName) -> Mutant | None:
    """Find a mutant in its module, or where its definition is now; return None if it is gone."""
    here = [name.module] if _is_module(name.module) else []
    moved = modules_that_define(name.definition) if name.definition else []
    for module in dict.fromkeys([*here, *moved]):
        for each in mutants_of(module):
            if (each.definition, each.what, each.nth) == (name.definition, name.what, name.nth):
                return each
    return None


def _is_module(name: str) -> bool:
    try:
        source_of(name)
    except IRKitError:
        return False
    return True
