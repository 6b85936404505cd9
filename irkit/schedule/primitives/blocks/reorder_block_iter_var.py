"""The primitive reorder_block_iter_var: permute the axes of a block."""

from collections.abc import Sequence

from irkit.core import ScheduleError
from irkit.ir import PrimFunc, replace_stmts
from irkit.schedule.state.lookup import find_block


def reorder_block_iter_var(func: PrimFunc, name: str, order: Sequence[int]) -> PrimFunc:
    """Permute the axes of a block: the first new axis is the old axis ``order[0]``, and so on.

    Raises: ScheduleError if ``order`` is not a permutation.
    """
    block = find_block(func, name)
    if sorted(order) != list(range(len(block.axes))):
        raise ScheduleError(
            f"cannot reorder the axes of {name!r}: {list(order)} is not a permutation of 0 to "
            f"{len(block.axes) - 1}",
            at=block,
        )
    axes = tuple(block.axes[at] for at in order)
    return replace_stmts(func, {block: block.replace(axes=axes)})
