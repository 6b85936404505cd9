"""A contract that a pass broke."""

from typing import Literal

import msgspec

Contract = Literal[
    "raises nothing",
    "verifies",
    "signature",
    "same numbers",
    "no new race",
    "idempotent",
    "deterministic",
    "truthful",
    "provenance",
    "input untouched",
    "process untouched",
    "switchable",
    "fires",
]


class Breach(msgspec.Struct, frozen=True):
    """A contract that a pass broke, and the number of the program (-1: all of them)."""

    contract: Contract
    of: str
    program: int
    message: str

    def __str__(self) -> str:
        where = f" on program {self.program}" if self.program >= 0 else ""
        return f"'{self.of}' breaks the contract '{self.contract}'{where}: {self.message}"
