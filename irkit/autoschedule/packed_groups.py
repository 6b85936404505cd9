"""Loops that copy an operand into vectors of groups of neighbours along the reduction."""

from collections.abc import Sequence

from irkit.ir import DType, as_int
from irkit.schedule import BlockRef, LoopRef, Schedule, only_store, pack_name, writes_of


def copy_groups(
    sch: Schedule,
    copy: BlockRef,
    loops: Sequence[LoopRef],
    rest: Sequence[LoopRef],
    sizes: tuple[int, int],
    *,
    dtype: DType,
    tile: tuple[int, int],
    interleaves: bool,
) -> None:
    """Order the loops of a copy and compute its tiles by an instruction that interleaves rows.

    ``loops`` run over columns and steps, ``rest`` are the others. ``sizes`` are how many columns
    and steps there are without padding; a tile is so many columns by so many steps. Tiles that are
    part of the padding are copied element by element, as all are if nothing ``interleaves``.
    """
    (j, k), (lanes, group) = loops, tile
    far_j, near_j = sch.split(j, [None, lanes])
    far_k, near_k = sch.split(k, [None, group])
    sch.reorder(*rest, far_j, far_k, near_j, near_k)
    whole = sizes[0] // lanes, sizes[1] // group
    if not interleaves or not all(whole):
        _by_elements(sch, near_j, near_k)
        return
    parts = [far_j, far_k]
    for at, count in enumerate(whole):
        if as_int(sch.loop(parts[at]).end) != count:
            sch.loop_partition(parts[at], [count, None])
    for name in _copies_of(sch, copy):
        _by_elements(sch, *sch.get_loops(BlockRef(name))[-2:])
    sch.tensorize(sch.get_loops(copy)[-2], pack_name(dtype, lanes, group))


def _copies_of(sch: Schedule, copy: BlockRef) -> list[str]:
    """List the blocks that a partition of loops made of a block."""
    store = only_store(sch.get(copy))
    assert store is not None
    return [each.name for each in writes_of(sch.func, store.buffer) if each.name != copy.name]


def _by_elements(sch: Schedule, near_j: LoopRef, near_k: LoopRef) -> None:
    sch.vectorize(near_k)
    sch.unroll(near_j)
