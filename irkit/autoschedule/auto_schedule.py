"""Choose the schedule of a function by the structure of its loops, not by an operator's name.

A sum of products is packed and blocked. Other reductions keep their accumulators in registers
too; everything else is vectorized along the last axis. Nests with enough work get a parallel loop.

A rule is a function from a schedule, a block and a machine; it works through the primitives of the
schedule, so what it did is a trace that prints as Python. A rule that fails is undone as a whole
and leaves a remark, and the block keeps its loops.
"""

import os
from collections.abc import Callable, Mapping

import msgspec

from irkit.autoschedule.assumed_sizes import AssumedSizes
from irkit.autoschedule.attention import schedule_attention
from irkit.autoschedule.inline import inline_stages
from irkit.autoschedule.instructions import schedule_dot_product
from irkit.autoschedule.lane_products import schedule_lanes
from irkit.autoschedule.machine import GENERIC, Machine
from irkit.autoschedule.pointwise import schedule_pointwise
from irkit.autoschedule.products import schedule_product
from irkit.autoschedule.reductions import schedule_reduction
from irkit.autoschedule.repeated_steps import repeated_steps
from irkit.autoschedule.scaled_products import schedule_scaled_product
from irkit.autoschedule.siblings import merge_siblings
from irkit.autoschedule.structure import Estimates, blocks_of, operations
from irkit.autoschedule.threads import mark_parallel
from irkit.autoschedule.tile_registers import schedule_tile_registers
from irkit.autoschedule.transforms import schedule_transformed_product
from irkit.core import IRKitError, Node, ScheduleError, remark
from irkit.ir import Block, PrimFunc, is_unscheduled, verify
from irkit.schedule import BlockRef, Schedule

Rule = Callable[[Schedule, Block, Machine, Estimates], None]
"""Schedule a block for a machine and sizes that are assumed, or raise ScheduleError, or leave the
schedule as it is."""

_OF_REDUCTIONS: tuple[Rule, ...] = (
    schedule_attention,
    schedule_transformed_product,
    schedule_scaled_product,
    schedule_tile_registers,
    schedule_dot_product,
    schedule_product,
    schedule_lanes,
    schedule_reduction,
)


def auto_schedule(func: PrimFunc, machine: Machine = GENERIC, *, fewest: int = 0) -> PrimFunc:
    """Schedule a function that ``te.create_prim_func`` made and that nobody has scheduled.

    Any other function, and one of fewer than ``fewest`` operations, is returned as it is. So is
    what no rule can handle: plain loops are correct, but slower. Nothing is raised.
    """
    sch = automatic_schedule(func, machine, fewest=fewest)
    return func if sch is None else sch.func


def automatic_schedule(
    func: PrimFunc, machine: Machine = GENERIC, *, fewest: int = 0
) -> Schedule | None:
    """Return the schedule that :func:`auto_schedule` applies; None if it leaves a function alone.

    Remarks say which rules failed, and why.
    """
    if not is_unscheduled(func):
        return None
    try:
        return _valid_schedule(func, machine, fewest)
    except Exception as error:  # A schedule nobody asked for must not end a compilation.
        remark(func, f"left as written: {_reason(error)}")
        return None


def _valid_schedule(func: PrimFunc, machine: Machine, fewest: int) -> Schedule | None:
    size = operations(func.body)
    if size is not None and size < fewest:
        remark(func, f"left as written: {size} operations are fewer than {fewest}")
        return None
    sch = _apply_rules(Schedule(func, check="off"), machine)
    if sch.func is func:
        return None
    problems = verify(sch.func)
    if problems:
        raise IRKitError(f"the scheduled loops are invalid: {problems[0]}")
    return sch


INTERNAL = "internal error:"
"""How remarks on what is a mistake in irkit, and not a limit of a rule, begin."""
ERRORS = "IRKIT_SCHEDULE_ERRORS"
"""The variable of the environment by which such mistakes are raised, if it is "raise"."""


class Directions(msgspec.Struct, frozen=True):
    """What somebody else decides about a schedule: the rules decide all that is not here.

    ``first`` runs before the rules, in place of inlining; a block in ``blocks`` is scheduled by the
    rule given there; ``threads`` marks the loops that run in parallel, if it is given.
    """

    first: Callable[[Schedule], None] = inline_stages
    blocks: Mapping[str, Rule] = {}
    threads: Callable[[Schedule], None] | None = None


def directed_schedule(func: PrimFunc, machine: Machine, directions: Directions) -> Schedule:
    """Schedule a function by the rules, but for what directions say.

    Raises: ScheduleError if a direction cannot be followed; rules that fail are left out.
    """
    sch = Schedule(func, check="off")
    directions.first(sch)
    for block in blocks_of(sch):
        rule = directions.blocks.get(block.name)
        if rule is not None:
            rule(sch, block, machine, {})
    return _finish(_each_reduction(sch, machine, AssumedSizes(sch.func)), machine, directions)


def _apply_rules(sch: Schedule, machine: Machine) -> Schedule:
    sch = _attempt(sch, inline_stages, sch.func, "inline_stages")
    return _finish(_schedule_reductions(sch, machine), machine, Directions())


def _finish(sch: Schedule, machine: Machine, directions: Directions) -> Schedule:
    sch = _attempt(sch, merge_siblings, sch.func, "merge_siblings")
    for block in blocks_of(sch):
        if block.init is None and not _is_scheduled(sch, block):
            sch = _schedule_pointwise(sch, block, machine)
    if directions.threads is not None:
        directions.threads(sch)
        return sch
    return _attempt(sch, mark_parallel, sch.func, "mark_parallel")


def _schedule_reductions(sch: Schedule, machine: Machine) -> Schedule:
    """Schedule all reductions, in several copies if their sizes call for that, and if the rules can
    handle each copy: one that stays as written would be slow for some sizes."""
    sizes = AssumedSizes(sch.func)
    copied = _attempt(sch, lambda trial: sizes.specialize(trial, machine), sch.func, "specialize")
    if copied is not sch:
        made = _each_reduction(copied, machine, sizes)
        names = [block.name for block in blocks_of(copied) if block.init is not None]
        left = [name for name in names if not _is_scheduled(made, made.get(BlockRef(name)))]
        if not left:
            return made
        remark(sch.func, f"not copied for other sizes: no rule applies to {left[0]!r}")
    return _each_reduction(sch, machine, sizes)


def _each_reduction(sch: Schedule, machine: Machine, sizes: AssumedSizes) -> Schedule:
    for block in blocks_of(sch):
        if block.init is not None and not _is_scheduled(sch, block):
            if (why := repeated_steps(block)) is not None:
                remark(block, why)
            sch = _first_that_applies(sch, block, machine, sizes.of(block))
    return sch


def _first_that_applies(
    sch: Schedule, block: Block, machine: Machine, estimates: Estimates
) -> Schedule:
    """Schedule a reduction by the first of the rules that has something to change."""
    for rule in _OF_REDUCTIONS:
        changed = _apply_rule(rule, sch, block, machine, estimates)
        if changed is not sch:
            return changed
    return sch


def _apply_rule(
    rule: Rule, sch: Schedule, block: Block, machine: Machine, estimates: Estimates
) -> Schedule:
    def work(trial: Schedule) -> None:
        rule(trial, block, machine, estimates)

    return _attempt(sch, work, block, rule.__name__)


def _schedule_pointwise(sch: Schedule, block: Block, machine: Machine) -> Schedule:
    def work(trial: Schedule) -> None:
        schedule_pointwise(trial, block, machine)

    return _attempt(sch, work, block, schedule_pointwise.__name__)


def _attempt(sch: Schedule, work: Callable[[Schedule], None], at: Node, name: str) -> Schedule:
    """Do all of some work on a schedule or none of it: half of a rule could be slower than none."""
    trial = sch.copy()
    try:
        work(trial)
    except Exception as error:  # The other rules may still apply.
        remark(at, f"{name} does not apply: {_reason(error)}")
        return sch
    return sch if trial.func is sch.func else trial


def _reason(error: Exception) -> str:
    """Return why a rule failed, for a remark. Raises: the error itself, if it is a mistake in irkit
    and the environment asks for such."""
    if isinstance(error, ScheduleError):
        return error.message.split("\n", 1)[0]
    if os.environ.get(ERRORS) == "raise":
        raise error
    return f"{INTERNAL} {type(error).__name__}: {error}"


def _is_scheduled(sch: Schedule, block: Block) -> bool:
    """Return True if a rule has scheduled a block, or has with another one."""
    ref = BlockRef(block.name)
    if block.init is not None and sch.get(ref).init is None:
        return True
    return any(sch.loop(loop).kind != "serial" for loop in sch.get_loops(ref))
