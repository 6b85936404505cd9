"""Make the axes that the tile of a reduction consists of.

An axis that is read by its quotient becomes two: filters of a convolution in groups read the
channels of their group, ``x[n, f // 16 * 8 + c, ...]``. Once the groups are an axis of their own,
the filters of a group share what they read, whatever their number.

Two last axes that always move together become one: a line of a pointwise convolution is the image.
"""

from irkit.autoschedule.structure import move_as_one, spatial_axes
from irkit.core import walk
from irkit.ir import Axis, Block, Expr, FloorDiv, Store, as_int
from irkit.schedule import BlockRef, Schedule, only_store


def separate_groups(sch: Schedule, ref: BlockRef, epilogue: BlockRef) -> None:
    """Replace an axis by its groups and the elements of a group: in the block, in the results that
    it keeps and in the stage that finishes them."""
    found = _grouped(sch.get(ref))
    if found is None:
        return
    at, size = found

    def parted(*own: Expr) -> list[Expr]:
        return [*own[:at], own[at] // size, own[at] % size, *own[at + 1 :]]

    sch.transform_layout(ref, parted)
    for each in (ref, epilogue):
        sch.transform_block_layout(each, parted)


def merge_line(sch: Schedule, ref: BlockRef, epilogue: BlockRef) -> None:
    """Replace the last two axes by one where they are a row and a column of the same matrices."""
    block = sch.get(ref)
    store, spatial = only_store(block), spatial_axes(block)
    width = as_int(spatial[-1].extent)
    if store is None or not is_merged(block, store) or width is None:
        return
    at = len(spatial) - 2

    def merged(*own: Expr) -> list[Expr]:
        return [*own[:at], own[at] * width + own[at + 1], *own[at + 2 :]]

    sch.transform_layout(ref, merged)
    for each in (ref, epilogue):
        sch.transform_block_layout(each, merged)


def merge_rows(sch: Schedule, ref: BlockRef, epilogue: BlockRef, outer: Axis, inner: Axis) -> None:
    """Replace two neighbouring axes by one where they are a row and a column of the same matrices
    in all that a block reads and stores, before its last axis."""
    block = sch.get(ref)
    store, spatial = only_store(block), spatial_axes(block)
    width, at = as_int(inner.extent), spatial.index(outer)
    if store is None or not _is_plain_but_first(block, store) or width is None:
        return
    if spatial[at + 1] is not inner or not move_as_one(block, store, outer, inner, last=False):
        return

    def merged(*own: Expr) -> list[Expr]:
        return [*own[:at], own[at] * width + own[at + 1], *own[at + 2 :]]

    sch.transform_layout(ref, merged)
    for each in (ref, epilogue):
        sch.transform_block_layout(each, merged)


def is_merged(block: Block, store: Store) -> bool:
    """Return True if the last two axes of a block are to be one."""
    spatial = spatial_axes(block)
    return (
        _is_plain(block, store)
        and len(spatial) > 1
        and as_int(spatial[-2].extent) not in (None, 1)
        and move_as_one(block, store, spatial[-2], spatial[-1])
    )


def _is_plain(block: Block, store: Store) -> bool:
    """Return True if a block stores at its spatial axes, which come first, all constant."""
    spatial = spatial_axes(block)
    return (
        list(store.indices) == [axis.var for axis in spatial]
        and spatial == list(block.axes[: len(spatial)])
        and all(as_int(axis.extent) is not None for axis in block.axes)
    )


def _is_plain_but_first(block: Block, store: Store) -> bool:
    """Return True if a block stores at its spatial axes, which come first, all but the first
    constant."""
    spatial = spatial_axes(block)
    return (
        list(store.indices) == [axis.var for axis in spatial]
        and spatial == list(block.axes[: len(spatial)])
        and all(as_int(axis.extent) is not None for axis in block.axes[1:])
    )


def _grouped(block: Block) -> tuple[int, int] | None:
    """Return the position of an axis that is read by its quotient, and the size of a group."""
    store = only_store(block)
    if store is None or not _is_plain(block, store):
        return None
    for at, axis in enumerate(spatial_axes(block)[:-1]):
        quotients = [each for each in walk(block.body, on=FloorDiv) if each.a is axis.var]
        sizes = {as_int(each.b) or 1 for each in quotients}
        extent = as_int(axis.extent) or 1
        if len(sizes) == 1 and 1 < min(sizes) < extent and extent % min(sizes) == 0:
            return at, min(sizes)
    return None
