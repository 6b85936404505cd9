"""Pad the axes of a product, and tell which block copies which factor."""

from collections.abc import Sequence

from irkit.autoschedule.products.recognise import Factor, MatrixProduct
from irkit.core import walk
from irkit.ir import Load
from irkit.schedule import BlockRef, Schedule, writes_of


class PaddedFactors:
    """The blocks that copy the factors of a product, by what they load before: both may read the
    same buffer."""

    def __init__(self) -> None:
        self._copies: dict[int, BlockRef] = {}

    def get(self, factor: Factor) -> BlockRef | None:
        return self._copies.get(id(factor.load))

    def pad(self, sch: Schedule, product: MatrixProduct, padding: Sequence[int]) -> list[BlockRef]:
        """Pad the axes of a product to multiples; return the blocks which that makes."""
        ref = BlockRef(product.block.name)
        made = sch.pad_einsum(ref, padding)
        own = {each.name: each for each in made}
        # Loads keep their order.
        before, after = walk(product.block.body, on=Load), walk(sch.get(ref).body, on=Load)
        for old, new in zip(before, after, strict=True):
            for writer in writes_of(sch.func, new.buffer):
                if writer.name in own:
                    self._copies[id(old)] = own[writer.name]
        return made

    def copy(self, sch: Schedule, product: MatrixProduct, factor: Factor) -> BlockRef:
        """Return the block that copies a factor; both factors share a new copy of one buffer."""
        found = self._copies.get(id(factor.load))
        if found is None:
            buffer = factor.load.buffer
            found = sch.cache_read(BlockRef(product.block.name), buffer)
            for each in (product.tall, product.wide):
                if each.load.buffer is buffer:
                    self._copies.setdefault(id(each.load), found)
        return found
