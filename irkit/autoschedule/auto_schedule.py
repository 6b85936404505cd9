"""Choose the schedule of a kernel by the structure of its loops, not by an operator's name.

A sum of products is packed and blocked. Other reductions keep their accumulators in registers
too; everything else is vectorized along the last axis. Nests with enough work get a parallel loop.
"""

from collections.abc import Callable

from irkit.autoschedule.inline import inline_stages
from irkit.autoschedule.machine import GENERIC, Machine
from irkit.autoschedule.pointwise import schedule_pointwise
from irkit.autoschedule.products import schedule_product
from irkit.autoschedule.reductions import schedule_reduction
from irkit.autoschedule.structure import blocks_of
from irkit.autoschedule.threads import mark_parallel
from irkit.core import ScheduleError
from irkit.ir import Block, PrimFunc
from irkit.schedule import BlockRef, Schedule

Rule = Callable[[Schedule, Block, Machine], None]
"""Schedule a block for a machine, or raise ScheduleError, or leave the schedule as it is."""


def auto_schedule(func: PrimFunc, machine: Machine = GENERIC) -> PrimFunc:
    """Schedule a function made by ``te.create_prim_func``.

    What no rule can handle stays as plain loops, which are correct but slower.
    """
    sch = Schedule(func, check="off")
    inline_stages(sch)
    for block in blocks_of(sch):
        if block.init is not None:
            product = _apply_rule(schedule_product, sch, block, machine)
            changed = product is not sch and product.func is not sch.func
            sch = product if changed else _apply_rule(schedule_reduction, sch, block, machine)
    for block in blocks_of(sch):
        if block.init is None and not _is_scheduled(sch, block):
            sch = _apply_rule(schedule_pointwise, sch, block, machine)
    mark_parallel(sch)
    return sch.func


def _apply_rule(rule: Rule, sch: Schedule, block: Block, machine: Machine) -> Schedule:
    """Apply a rule completely or not at all: half of one could be slower than none."""
    trial = Schedule(sch.func, check="off")
    try:
        rule(trial, block, machine)
    except ScheduleError:
        return sch
    return trial


def _is_scheduled(sch: Schedule, block: Block) -> bool:
    loops = sch.get_loops(BlockRef(block.name))
    return any(sch.loop(loop).kind != "serial" for loop in loops)
