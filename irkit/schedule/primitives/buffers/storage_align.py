"""The primitive storage_align: pad the strides of a buffer."""

from collections.abc import Sequence

from irkit.core import ScheduleError
from irkit.ir import Buffer, Expr, PrimFunc, element_count, index, simplify
from irkit.schedule.checks.block_buffers import buffer_written, own_buffer
from irkit.schedule.limits import MOST_FACTOR
from irkit.schedule.state.lookup import find_block
from irkit.schedule.state.replace import replace_buffer


def storage_align(
    func: PrimFunc, name: str, given: Buffer | str | int, axis: int, factor: int, offset: int
) -> PrimFunc:
    """Pad the strides of a buffer that a block writes, so that the stride along ``axis`` is
    ``offset`` more than a multiple of ``factor`` (elements).

    The strides of inner axes stay; those of outer axes follow without further padding.
    Raises: ScheduleError if the buffer is a parameter or aliased by a view, there is no such axis,
    ``offset`` is not in 0 to ``factor`` - 1, or an outer axis already is padded.
    """
    block = find_block(func, name)
    old = buffer_written(func, name, given)
    what = f"align {old.name!r}"
    own_buffer(func, block, old, what)
    at = axis + old.rank if axis < 0 else axis
    if not 0 <= at < old.rank:
        raise ScheduleError(
            f"cannot {what}: it has {old.rank} dimensions and no axis {axis}", at=block
        )
    if not 1 <= factor <= MOST_FACTOR or not 0 <= offset < factor:
        raise ScheduleError(
            f"cannot {what}: the factor must be 1 to {MOST_FACTOR} and the offset at least 0 and "
            f"less than the factor, found {factor} and {offset}",
            at=block,
        )
    strides = list(old.strides or _packed(old.shape, old.rank, index(1)))
    packed = _packed(old.shape, at, strides[at])
    if any(a != simplify(b) for a, b in zip(packed, strides[:at], strict=True)):
        raise ScheduleError(
            f"cannot {what} along axis {axis}: an outer axis already is padded",
            hint="Align inner axes first.",
            at=block,
        )
    fewest = strides[at]
    rounded = (fewest + (factor - 1 - offset)) // factor * factor + offset
    strides[at] = simplify(rounded)
    strides[:at] = _packed(old.shape, at, strides[at])
    new = old.replace(strides=tuple(strides))
    return replace_buffer(func, old, new)


def _packed(shape: Sequence[Expr], upto: int, inner: Expr) -> list[Expr]:
    """Return the unpadded strides of the first ``upto`` dimensions; ``inner`` is the stride of the
    next dimension, or the size of an element."""
    found: list[Expr] = []
    step = inner
    for at in reversed(range(upto)):
        below = at + 1
        if below < len(shape):  # A stride that wrapped around would give too little memory.
            step = simplify(element_count((step, shape[below])))
        found.append(step)
    return found[::-1]
