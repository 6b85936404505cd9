"""What a schedule hands out: references to blocks and loops, and numbers that were drawn."""

import msgspec

from irkit.ir import Var


class BlockRef(msgspec.Struct, frozen=True):
    """A block, by its name."""

    name: str


class LoopRef(msgspec.Struct, frozen=True, eq=False):
    """A loop, by its variable."""

    var: Var


class Drawn(int):
    """A number that a sampling primitive chose; a trace says where it is used again."""

    name: str = ""
