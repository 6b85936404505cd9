"""Attention by tiles of query rows, in stages that a schedule computes tile by tile."""

from collections.abc import Sequence

from irkit import ir, te
from irkit.core import ShapeError, user_span
from irkit.ir import Expr
from irkit.te import IterVar, Tensor, broadcast_read, broadcast_shape, define_stage, reduce_axis
from irkit.topi.extents import (
    Dim,
    accumulator,
    ceil_divide,
    check_equal,
    check_rank,
    extents,
    larger,
    plus,
    times,
)
from irkit.topi.linear import broadcast_matrix


def attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
    *,
    scale: float = 1.0,
    fill: float = -float("inf"),
    axes: Sequence[int] = (),
    empty: bool = False,
    rows: int = 1,
    columns: int = 1,
    part: int = 0,
) -> Tensor:
    """Return softmax(q @ k * scale + mask) @ v, with its axes in the order ``axes``.

    A mask of floats is added; where one of bools is False, the score is ``fill``. A row whose
    scores are all -inf has no number, or 0 with ``empty``. ``rows`` queries make a tile,
    ``columns`` keys or features a panel, and ``part`` panels of keys have a maximum and a sum of
    their own, which are put together at the end; with 0, all panels have one.

    Shapes: q [..., N, D], k [..., D, M], v [..., M, E], mask [..., N, M] -> [..., N, E]; leading
    axes broadcast, and so do all of the mask.
    Raises: ShapeError if the operands disagree about D or M.
    """
    for each in (q, k, v):
        check_rank(each, 2, "attention", at_least=True)
    check_equal(
        extents(q)[-1], extents(k)[-2], "attention: the last axis of q and that of k before"
    )
    check_equal(
        extents(k)[-1], extents(v)[-2], "attention: the last axis of k and that of v before"
    )
    if min(rows, columns) < 1 or part < 0:
        raise ShapeError(
            f"attention: rows and columns must be at least 1 and part at least 0, found {rows}, "
            f"{columns} and {part}",
            span=user_span("attention"),
        )
    operands = (q, k, v) if mask is None else (q, k, v, mask)
    batch = broadcast_shape([each.shape[:-2] for each in operands], "attention")
    stages = _Attention(operands, batch, (rows, columns, part), empty)
    return stages.result(scale, fill, axes)


class _Attention:
    """The stages, and the sizes that they share.

    Scores have the axes [batch..., tile, part, row of the tile, key of the part].
    """

    def __init__(
        self,
        operands: Sequence[Tensor],
        batch: tuple[Expr, ...],
        tile: tuple[int, int, int],
        empty: bool,
    ) -> None:
        self.empty = empty
        self.q, self.k, self.v, *mask = operands
        self.mask, self.batch = mask[0] if mask else None, batch
        self.rows, self.columns, part = tile
        self.wide = accumulator(self.q.dtype)
        self.count, self.inner = extents(self.q)[-2:]
        self.keys, self.features = extents(self.v)[-2:]
        self.tiles = ceil_divide(self.count, self.rows)
        panels = ceil_divide(self.keys, self.columns)
        self.is_whole = part == 0 or (isinstance(panels, int) and panels <= part)
        # At least one part, so that no maximum is of nothing.
        self.parts: Dim = 1 if self.is_whole else larger(ceil_divide(panels, part), 1)
        self.length: Dim = times(panels if self.is_whole else part, self.columns)
        self.across = ceil_divide(self.features, self.columns)

    def result(self, scale: float, fill: float, axes: Sequence[int]) -> Tensor:
        scores = self._scores(scale, fill)
        top, powers = self._powers(scores)
        total, mixed = self._sums(powers)
        if not self.is_whole:
            total, mixed = self._together(top, total, mixed)
        rank = len(self.batch)
        order = tuple(axes) or tuple(range(rank + 2))
        back = [order.index(axis) for axis in range(rank + 2)]

        def at(*own: IterVar) -> Expr:
            *b, row, feature = (own[axis] for axis in back)
            tile, place = (row, 0) if self.rows == 1 else (row // self.rows, row % self.rows)
            lead = (*b, tile, 0, place) if self.is_whole else (*b, tile, place)
            value = mixed(*lead, feature // self.columns, feature % self.columns) / total(*lead)
            found, zero = ir.cast(value, self.q.dtype), ir.const(0, self.q.dtype)
            if self.empty:  # Any other sum holds e**0, for the largest score.
                return ir.select(ir.eq(total(*lead), 0), zero, found)
            if isinstance(self.keys, int) and self.keys > 0:
                return found
            return ir.select(ir.gt(self.keys, 0), found, zero)

        whole = (*self.batch, self.q.shape[-2], self.v.shape[-1])
        return define_stage([whole[axis] for axis in order], at, "attention", tag="broadcast")

    def _scores(self, scale: float, fill: float) -> Tensor:
        """Return the scores, scaled and masked; those beyond the last key vanish."""
        queries, keys = self._queries(), self._keys()
        step = reduce_axis((0, self.inner), name="rd")
        shape = (*self.batch, self.tiles, self.parts, self.rows, self.length)

        def product(*own: IterVar) -> Expr:
            *b, t, g, i, j = own
            key = self._key(g, j)
            factor = keys(*b, key // self.columns, step, key % self.columns)
            return te.sum(queries(*b, t, i, step) * factor, axis=step)

        plain = define_stage(shape, product, "attention_scores", tag="complex")

        def masked(*own: IterVar) -> Expr:
            *b, t, g, i, j = own
            value, key = plain(*own), self._key(g, j)
            value = value if scale == 1.0 else value * scale
            if self.mask is not None:
                given = self._read_mask(self.mask, (*b, self._row(t, i), key))
                if self.mask.dtype.is_bool:
                    value = ir.select(given, value, ir.const(fill, self.wide))
                else:
                    value = value + ir.cast(given, self.wide)
            tests = self._beyond(key, self.keys, times(self.parts, self.length))
            return _where(tests, value, te.least(self.wide))

        return define_stage(shape, masked, "attention_masked", tag="broadcast")

    def _read_mask(self, mask: Tensor, at: Sequence[Expr]) -> Expr:
        shape = (*self.batch, self.q.shape[-2], self.k.shape[-1])
        return broadcast_read(mask, shape[len(shape) - mask.ndim :], at[len(at) - mask.ndim :])

    def _key(self, part: Expr, place: Expr) -> Expr:
        return place if self.is_whole else part * self.length + place

    def _row(self, tile: Expr, place: Expr) -> Expr:
        """Return a row of a tile: rows beyond the last are the last once more."""
        row = tile * self.rows + place
        if isinstance(self.count, int) and self.count % self.rows == 0:
            return row
        return ir.minimum(row, plus(self.count, -1))

    def _beyond(self, index: Expr, end: Dim, room: Dim) -> list[Expr]:
        """Return the condition under which an index exists, if not all in the room do."""
        fills = isinstance(end, int) and end == room
        return [] if fills else [ir.lt(index, end)]

    def _queries(self) -> Tensor:
        def at(*own: IterVar) -> Expr:
            *b, t, i, d = own
            value = broadcast_matrix(self.q, self.batch, tuple(b), [self._row(t, i), d])
            return ir.cast(value, self.wide)

        shape = (*self.batch, self.tiles, self.rows, self.inner)
        return define_stage(shape, at, "attention_queries", tag="injective")

    def _keys(self) -> Tensor:
        room = times(self.parts, self.length)

        def at(*own: IterVar) -> Expr:
            *b, p, d, lane = own
            key = p * self.columns + lane
            value = broadcast_matrix(self.k, self.batch, tuple(b), [d, key])
            return _where(self._beyond(key, self.keys, room), ir.cast(value, self.wide))

        shape = (*self.batch, room // self.columns, self.inner, self.columns)
        return define_stage(shape, at, "attention_keys", tag="injective")

    def _values(self) -> Tensor:
        room = self.keys if self.is_whole else times(self.parts, self.length)

        def at(*own: IterVar) -> Expr:
            *b, c, key, lane = own
            feature = c * self.columns + lane
            tests = self._beyond(feature, self.features, times(self.across, self.columns))
            tests += [] if self.is_whole else self._beyond(key, self.keys, room)
            value = broadcast_matrix(self.v, self.batch, tuple(b), [key, feature])
            return _where(tests, ir.cast(value, self.wide))

        shape = (*self.batch, self.across, room, self.columns)
        return define_stage(shape, at, "attention_values", tag="injective")

    def _powers(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        """Return the maximum of each row of a part, and the powers of e of what is below it."""
        key = reduce_axis((0, self.length), name="rj")

        def largest(*own: IterVar) -> Expr:
            return te.max(scores(*own, key), axis=key)

        top = define_stage(scores.shape[:-1], largest, "attention_top", tag="reduction")

        def power(*own: IterVar) -> Expr:
            most = top(*own[:-1])
            if self.empty or not self.is_whole:  # Where all scores vanish, so do the powers.
                most = ir.maximum(most, te.min_value(self.wide))
            return ir.call("exp", scores(*own) - most)

        return top, define_stage(scores.shape, power, "attention_powers", tag="broadcast")

    def _sums(self, powers: Tensor) -> tuple[Tensor, Tensor]:
        """Return the sum of the powers of each row, and of the values times these powers."""
        values, one = self._values(), reduce_axis((0, self.length), name="rj")

        def add(*own: IterVar) -> Expr:
            return te.sum(powers(*own, one), axis=one)

        total = define_stage(powers.shape[:-1], add, "attention_total", tag="reduction")
        key = reduce_axis((0, self.keys if self.is_whole else self.length), name="rj")

        def mix(*own: IterVar) -> Expr:
            *b, t, g, i, c, lane = own
            return te.sum(
                powers(*b, t, g, i, key) * values(*b, c, self._key(g, key), lane), axis=key
            )

        shape = (*powers.shape[:-1], self.across, self.columns)
        return total, define_stage(shape, mix, "attention_mixed", tag="complex")

    def _together(self, top: Tensor, total: Tensor, mixed: Tensor) -> tuple[Tensor, Tensor]:
        """Put the parts together: each is scaled to the largest maximum."""
        rank = len(self.batch) + 1
        places = (*self.batch, self.tiles, self.rows)
        first, second, third = (reduce_axis((0, self.parts), name="rg") for _ in range(3))

        def of(tensor: Tensor, own: Sequence[Expr], part: Expr) -> Expr:
            return tensor(*own[:rank], part, *own[rank:])

        def largest(*own: IterVar) -> Expr:
            return te.max(of(top, own, first), axis=first)

        best = define_stage(places, largest, "attention_best", tag="reduction")

        def weigh(*own: IterVar) -> Expr:
            most = best(*own[:rank], *own[rank + 1 :])
            most = ir.maximum(most, te.min_value(self.wide)) if self.empty else most
            return ir.call("exp", top(*own) - most)

        weights = define_stage(top.shape, weigh, "attention_weights", tag="broadcast")

        def add(*own: IterVar) -> Expr:
            return te.sum(of(total, own, second) * of(weights, own, second), axis=second)

        def join(*own: IterVar) -> Expr:
            return te.sum(of(mixed, own, third) * of(weights, own[:-2], third), axis=third)

        whole = define_stage(places, add, "attention_whole", tag="reduction")
        shape = (*places, self.across, self.columns)
        return whole, define_stage(shape, join, "attention_joined", tag="reduction")


def _where(tests: Sequence[Expr], value: Expr, other: Expr | None = None) -> Expr:
    """Return a value where conditions hold, and another one or 0 elsewhere."""
    if not tests:
        return value
    return ir.if_then_else(
        ir.logical_and(*tests), value, ir.const(0, value.dtype) if other is None else other
    )
