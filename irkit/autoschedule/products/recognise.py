"""Recognise a sum over ``k`` of ``A[.., m, k] * B[.., k, n]``, with indices in any order."""

import math

import msgspec

from irkit.autoschedule.structure import Estimates, estimate, spatial_axes
from irkit.core import walk
from irkit.ir import (
    Add,
    Axis,
    Block,
    Expr,
    FloorDiv,
    FloorMod,
    Load,
    Mul,
    Store,
    Var,
    as_int,
    is_const,
)
from irkit.schedule import only_store, variables


class Factor(msgspec.Struct, frozen=True):
    """A factor of a product: the only element it loads."""

    load: Load
    estimates: Estimates

    @property
    def name(self) -> str:
        return self.load.buffer.name

    def depends_on(self, axis: Axis) -> bool:
        return any(axis.var in variables(index) for index in self.load.indices)

    def is_contiguous_along(self, axis: Axis) -> bool:
        """Return True if neighbours along an axis are neighbours in memory."""
        if self.load.buffer.strides is not None:
            return False
        return self._last_index() is axis.var or self.panel_of(axis) > 1

    def panel_of(self, axis: Axis) -> int:
        """Return how many neighbours along an axis lie together in a panel: the last index is the
        axis modulo that number, and another one the quotient. 0 if there are no panels."""
        last, width = self.load.indices[-1], as_int(self.load.buffer.shape[-1])
        if width is None or self.load.buffer.strides is not None:
            return 0
        return width if _is_part(last, FloorMod, axis, width) and self._has(axis, width) else 0

    def _has(self, axis: Axis, width: int) -> bool:
        """Return True if one index is the number of the panel, and no other one moves with it."""
        moving = [index for index in self.load.indices[:-1] if axis.var in variables(index)]
        return len(moving) == 1 and _is_part(moving[0], FloorDiv, axis, width)

    def _last_index(self) -> Expr | None:
        pairs = zip(self.load.indices, self.load.buffer.shape, strict=True)
        long = [index for index, dim in pairs if not is_const(dim, 1)]
        return long[-1] if long else None

    def position_of(self, axis: Axis) -> int:
        return next(at for at, index in enumerate(self.load.indices) if index is axis.var)

    def elements(self) -> int:
        return math.prod(self._size(dim) for dim in self.load.buffer.shape)

    def row_bytes(self) -> int:
        """Return the distance in memory between neighbours along the last dimension but one."""
        return self._size(self.load.buffer.shape[-1]) * self.load.buffer.dtype.bytes

    def _size(self, dim: Expr) -> int:
        return estimate(dim, self.estimates) or 1


class MatrixProduct(msgspec.Struct, frozen=True):
    """A sum of products as loops of ``rows`` by ``columns`` with a reduction over ``steps``.

    ``wide`` depends on the columns and not on the rows, ``tall`` not on the columns. The results
    along the columns are neighbours in memory, unless the product is ``turned``.
    """

    block: Block
    store: Store
    rows: Axis | None
    columns: Axis
    steps: Axis
    tall: Factor
    wide: Factor
    estimates: Estimates
    is_turned: bool = False

    def turned(self) -> "MatrixProduct | None":
        """Return the transposed product: rows are columns; None without rows."""
        if self.rows is None:
            return None
        columns, rows, tall, wide = self.rows, self.columns, self.wide, self.tall
        return msgspec.structs.replace(
            self, rows=rows, columns=columns, tall=tall, wide=wide, is_turned=True
        )

    @property
    def panel(self) -> int:
        """The width of the panels in which the columns lie in memory; 0 if they do not."""
        return self.wide.panel_of(self.columns)

    @property
    def is_open(self) -> bool:
        """True if an extent is not constant."""
        return any(as_int(axis.extent) is None for axis in self.block.axes)

    @property
    def has_open_rows(self) -> bool:
        """True if the number of rows is not constant."""
        return self.rows is not None and as_int(self.rows.extent) is None

    @property
    def has_open_steps(self) -> bool:
        """True if the number of steps is not constant."""
        return as_int(self.steps.extent) is None

    def position_in_result(self) -> int:
        """Return which index of the result the columns are."""
        indices = self.store.indices
        return next(at for at, index in enumerate(indices) if index is self.columns.var)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The numbers of rows, columns and steps; estimates, where they are not constant."""
        rows = 1 if self.rows is None else self._size(self.rows)
        return rows, self._size(self.columns), self._size(self.steps)

    def _size(self, axis: Axis) -> int:
        return estimate(axis.extent, self.estimates) or 1


def _is_part(index: Expr, kind: type[FloorDiv | FloorMod], axis: Axis, width: int) -> bool:
    return isinstance(index, kind) and index.a is axis.var and as_int(index.b) == width


def product_of(block: Block, estimates: Estimates) -> MatrixProduct | None:
    """Return the product that a block computes; None if it computes anything else, or if an extent
    is neither constant nor estimated."""
    store = only_store(block)
    if store is None or not isinstance(block.init, Store) or not is_const(block.init.value, 0):
        return None
    sizes = {axis.var: estimate(axis.extent, estimates) for axis in block.axes}
    if block.predicate is not None or None in sizes.values():
        return None
    steps = [axis for axis in block.axes if axis.kind == "reduce"]
    spatial = spatial_axes(block)
    columns = _last_axis(store, spatial)
    factors = _operands(store, estimates)
    if len(steps) != 1 or columns is None or factors is None:
        return None
    if len(spatial) + 1 != len(block.axes):
        return None
    wide = [each for each in factors if each.depends_on(columns)]
    tall = [each for each in factors if not each.depends_on(columns)]
    if len(wide) != 1 or not all(each.depends_on(steps[0]) for each in factors):
        return None
    if not _is_plain(wide[0], block, columns) or not _is_plain(tall[0], block):
        return None
    free = [axis for axis in spatial if not wide[0].depends_on(axis) and axis is not columns]
    free = [axis for axis in free if tall[0].depends_on(axis) and not is_const(axis.extent, 1)]
    # Of axes that are as long, or are assumed to be, the innermost: its rows are neighbours.
    rows = max(reversed(free), key=lambda axis: sizes[axis.var] or 0, default=None)
    return MatrixProduct(block, store, rows, columns, steps[0], tall[0], wide[0], estimates)


def _operands(store: Store, estimates: Estimates) -> list[Factor] | None:
    """Return the two factors whose product is added to what is stored."""
    value = store.value
    if not isinstance(value, Add):
        return None
    for total, term in ((value.a, value.b), (value.b, value.a)):
        if not isinstance(total, Load) or total.buffer is not store.buffer:
            continue
        if total.indices != store.indices or not isinstance(term, Mul):
            continue
        loads = [list(walk(side, on=Load)) for side in (term.a, term.b)]
        if all(len(each) == 1 and each[0].mask is None for each in loads):
            return [Factor(each[0], estimates) for each in loads]
    return None


def _last_axis(store: Store, spatial: list[Axis]) -> Axis | None:
    """Return the axis along which results are neighbours in memory."""
    own = {axis.var: axis for axis in spatial}
    if store.buffer.strides is not None or not all(
        isinstance(index, Var) and index in own for index in store.indices
    ):
        return None
    found = [own[index] for index in store.indices if isinstance(index, Var)]
    if len(found) != len(spatial):
        return None
    return next((axis for axis in reversed(found) if not is_const(axis.extent, 1)), None)


def _is_plain(operand: Factor, block: Block, columns: Axis | None = None) -> bool:
    """Return True if each index is an axis, none twice, or a constant, or if the columns lie in
    panels."""
    indices = list(operand.load.indices)
    if columns is not None and operand.panel_of(columns):
        indices = [index for index in indices if isinstance(index, Var) or not variables(index)]
    used = [index for index in indices if isinstance(index, Var)]
    rest = [index for index in indices if not isinstance(index, Var)]
    own = {axis.var for axis in block.axes}
    return set(used) <= own and len(set(used)) == len(used) and not any(map(variables, rest))
