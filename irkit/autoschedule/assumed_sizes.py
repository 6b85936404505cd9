"""Sizes that a schedule assumes where they are not constant, and the choice between schedules.

A function whose product has any number of rows gets a few copies of its body, each scheduled for
another number of rows, and chooses one when it runs. All are correct for all sizes.
"""

from irkit.autoschedule.machine import Machine
from irkit.autoschedule.products import variants_of
from irkit.autoschedule.scaled_products import scaled_product_of, scaled_sizes
from irkit.autoschedule.structure import Estimates, blocks_of
from irkit.ir import Block, Expr, PrimFunc, shape_vars
from irkit.schedule import Schedule

_COMMON = 256
"""What a size is assumed to be if nothing says otherwise."""
_MOST_BLOCKS = 8
"""A body with more blocks is not copied."""


class AssumedSizes:
    """The sizes that each block of a function is scheduled for."""

    def __init__(self, func: PrimFunc) -> None:
        self._common: Estimates = dict.fromkeys(shape_vars(func), _COMMON)
        self._special: dict[str, Estimates] = {}

    def of(self, block: Block) -> Estimates:
        return self._special.get(block.name, self._common)

    def specialize(self, sch: Schedule, machine: Machine) -> None:
        """Copy the body of a function for the numbers of rows of its first product."""
        blocks = blocks_of(sch)
        if not self._common or len(blocks) > _MOST_BLOCKS:
            return
        found = [_variants(sch, block, machine, self._common) for block in blocks]
        several = [each for each in found if each[1]]
        if not several:
            return
        sizes, conditions = several[0]
        copies = sch.specialize(*conditions)
        names = [*(ref.name for ref in copies), *(block.name for block in blocks)]
        for at, name in enumerate(names):
            self._special[name] = sizes[at // len(blocks)]


def _variants(
    sch: Schedule, block: Block, machine: Machine, estimates: Estimates
) -> tuple[list[Estimates], list[Expr]]:
    scaled = scaled_product_of(sch, block, estimates)
    if scaled is not None:
        return scaled_sizes(scaled, estimates)
    return variants_of(block, machine, estimates)
