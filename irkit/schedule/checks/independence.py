"""Check that the iterations of a loop are independent."""

from irkit.core import ScheduleError
from irkit.ir import For, PrimFunc, dependences
from irkit.schedule.analysis.accesses import variables
from irkit.schedule.state.lookup import blocks_below


def check_independent(func: PrimFunc, loop: For, what: str) -> None:
    for block in blocks_below(loop.body):
        for axis in block.axes:
            if axis.kind != "spatial" and loop.var in variables(axis.binding):
                raise ScheduleError(
                    f"cannot {what}: the {axis.kind} axis {axis.var.name!r} of block "
                    f"{block.name!r} uses it, so its iterations depend on each other",
                    hint="Use rfactor to split the reduction first.",
                    at=loop,
                )
    reason = dependences(func).carried(loop)
    if reason:
        raise ScheduleError(f"cannot {what}: {reason}", at=loop)
