"""Templates of a product and of a convolution: what somebody who knows the machine would try."""

from typing import Any

import irkit
from benchmarks.tuning.programs import convolution, product
from irkit import tune
from irkit.autoschedule import Machine, Panels, Tile, apply_plan, apply_tile, product_of
from irkit.schedule import BlockRef, only_store
from irkit.tune import machine_here


def _machine() -> Machine:
    from irkit.codegen import complete_target
    from irkit.core import Target

    return machine_here(complete_target(Target()))


@tune.template("benchmarks.product")
def matmul(cfg: Any, rows: int, columns: int, steps: int) -> irkit.Schedule:
    """Pack columns, and hold a tile of results in registers."""
    sch = irkit.Schedule(product(rows, columns, steps))
    lanes = _machine().vector_bytes // 4
    cfg.define_knob("tile", [[14, 2], [12, 2], [8, 3], [6, 4], [9, 3], [28, 1], [6, 2], [4, 3]])
    cfg.define_knob("packed", [1, 0])
    found = product_of(sch.get(BlockRef("C")), {})
    assert found is not None
    tall, wide = cfg["tile"].val
    apply_plan(sch, found, Panels(tall, wide, lanes, packed=bool(cfg["packed"].val)))
    return sch


@tune.template("benchmarks.convolution")
def conv2d(cfg: Any, channels: int, size: int, filters: int) -> irkit.Schedule:
    """Hold some filters by some lines of the image in registers, channels outermost."""
    sch = irkit.Schedule(convolution(channels, size, filters))
    lanes = min(_machine().vector_bytes // 4, 1 << (size - 1).bit_length())
    cfg.define_knob("filters", [2, 4, 8])
    cfg.define_knob("lines", [7, 2, 3])
    cfg.define_knob("vectors", [1, 2])
    cfg.define_knob("unroll", [2, 1])
    cfg.define_knob("block", [2, 4, 0])
    tile = {key: cfg[key].val for key in ("filters", "lines", "vectors", "unroll", "block")}
    block = sch.get(BlockRef("Y"))
    store = only_store(block)
    assert store is not None
    fits = tile["vectors"] * lanes <= size
    made = Tile(
        size, lanes, tile["vectors"], 0, tile["filters"], 1, tile["lines"], fits,
        unrolled=tile["unroll"], blocked=1 if tile["block"] else -1, tiles=tile["block"],
    )  # fmt: skip
    apply_tile(sch, block, store, made)
    return sch
