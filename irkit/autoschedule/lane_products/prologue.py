"""Compute what the loops of a product read, part by part, right before they read it.

The part stays in the cache while all columns are computed from it.
"""

import msgspec

from irkit.autoschedule.lane_products.plan import LanePlan, height_of
from irkit.autoschedule.lane_products.recognise import LaneProduct, size_of
from irkit.ir import Block
from irkit.schedule import Schedule, only_store, reads_of, writes_of

_PARTS = 8
"""Parts that are enough to distribute evenly among threads."""


def prologue_of(sch: Schedule, product: LaneProduct) -> Block | None:
    """Return the pointwise stage that makes the elements of a product, and that nothing else reads;
    None if there is none."""
    made = writes_of(sch.func, product.tall.buffer)
    if len(made) != 1 or made[0].init is not None or only_store(made[0]) is None:
        return None
    readers = [block.name for block in reads_of(sch.func, product.tall.buffer)]
    return made[0] if readers == [product.block.name] else None


def in_parts(plan: LanePlan, product: LaneProduct) -> LanePlan:
    """Return a plan with fewer tiles around, so that several threads have a part each."""
    rows = size_of(product.rows[-2 if len(product.rows) > 1 else -1])
    tiles = rows // height_of(plan, product)
    most = min(plan.around, max(1, tiles // _PARTS))
    around = next(count for count in range(most, 0, -1) if tiles % count == 0)
    return msgspec.structs.replace(plan, around=around)
