"""Values that a schedule returns: references to blocks and loops, and sampled numbers."""

import msgspec

from irkit.ir import Var


class BlockRef(msgspec.Struct, frozen=True):
    """Reference to a block, by its name."""

    name: str


class LoopRef(msgspec.Struct, frozen=True, eq=False):
    """Reference to a loop, by its variable."""

    var: Var


class Drawn(int):
    """Number that a sampling primitive drew; a trace records where it is used."""

    name: str = ""
