"""Attention by tiles of query rows, in stages that a schedule computes tile by tile."""

from collections.abc import Sequence

from irkit import ir, te
from irkit.core import ShapeError, user_span
from irkit.ir import Expr
from irkit.te import IterVar, Tensor, broadcast_read, broadcast_shape, compute, reduce_axis
from irkit.topi.extents import (
    Dim,
    accumulator,
    ceil_divide,
    check_equal,
    check_rank,
    extents,
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
    rows: int = 1,
    columns: int = 1,
    part: int = 0,
) -> Tensor:
    """Return softmax(q @ k * scale + mask) @ v, with its axes in the order ``axes``.

    A mask of floats is added; where one of bools is False, the score is ``fill``. ``rows`` queries
    make a tile, ``columns`` keys or features a panel, and ``part`` panels of keys have a maximum
    and a sum of their own, which are put together at the end; with 0, all panels have one.

    Shapes: q [..., N, D], k [..., D, M], v [..., M, E], mask [..., N, M] -> [..., N, E]; leading
    axes broadcast, and so do all of the mask.
    Raises: ShapeError if the operands disagree about D or M.
    """
    for each in (q, k, v):
        check_rank(each, 2, "attention", at_least=True)
    check_equal(extents(q)[-1], extents(k)[-2], "attention: the last axis of q and that of k before")
    check_equal(extents(k)[-1], extents(v)[-2], "attention: the last axis of k and that of v before")
    if min(rows, columns) < 1 or part < 0:
        raise ShapeError(
            f"attention: rows and columns must be at least 1 and part at least 0, found {rows}, "
            f"{columns} and {part}",
            span=user_span("attention"),
        )
    lead = [q.shape[:-2], k.shape[:-2], v.shape[:-2]]
    if mask is not None:
        lead.append(mask.shape[:-2])
    return _Attention(q, k, v, mask, broadcast_shape(lead, "attention"), rows, columns, part).result(
        scale, fill, axes
    )


class _Attention:
    """The stages, and the sizes that they share."""

    def __init__(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        mask: Tensor | None,
        batch: tuple[Expr, ...],
        rows: int,
        columns: int,
        part: int,
    ) -> None:
        self.q, self.k, self.v, self.mask, self.batch = q, k, v, mask, batch
        self.rows, self.columns = rows, columns
        self.wide = accumulator(q.dtype)
        self.count, self.inner = extents(q)[-2:]
        self.keys, self.features = extents(v)[-2:]
        self.tiles = ceil_divide(self.count, rows)
        panels = ceil_divide(self.keys, columns)
        self.is_whole = part == 0 or (isinstance(panels, int) and panels <= part)
        self.parts: Dim = 1 if self.is_whole else ceil_divide(panels, part)
        self.length: Dim = times(panels if self.is_whole else part, columns)

    def result(self, scale: float, fill: float, axes: Sequence[int]) -> Tensor:
        top, powers = self._powers(self._scores(scale, fill))
        total, mixed = self._sums(powers)
        rank = len(self.batch)
        if not self.is_whole:
            total, mixed = self._together(top, total, mixed)

        def at(*own: IterVar) -> Expr:
            *b, row, feature = own
            tile, place = (row, 0) if self.rows == 1 else (row // self.rows, row % self.rows)
            lead = (*b, tile, place) if not self.is_whole else (*b, tile, 0, place)
            panel, lane = feature // self.columns, feature % self.columns
            return ir.cast(mixed(*lead, panel, lane) / total(*lead), self.q.dtype)

        order = tuple(axes) or tuple(range(rank + 2))
        whole = (*self.batch, self.q.shape[-2], self.v.shape[-1])
        back = [order.index(axis) for axis in range(rank + 2)]
        shape = [whole[axis] for axis in order]
        return compute(shape, lambda *i: at(*(i[axis] for axis in back)), "attention")

    def _scores(self, scale: float, fill: float) -> Tensor:
        """Return the scores of a tile, scaled and masked; those beyond the last key vanish."""
        queries, keys = self._queries(), self._keys()
        step = reduce_axis((0, self.inner), name="rd")
        shape = (*self.batch, self.tiles, self.parts, self.rows, self.length)

        def product(*own: IterVar) -> Expr:
            *b, t, g, i, j = own
            at = j if self.is_whole else g * self.length + j
            factor = keys(*b, at // self.columns, step, at % self.columns)
            return te.sum(queries(*b, t, i, step) * factor, axis=step)

        plain = compute(shape, product, "attention_scores", tag="complex")

        def masked(*own: IterVar) -> Expr:
            *b, t, g, i, j = own
            value = plain(*own)
            if scale != 1.0:
                value = value * scale
            at = j if self.is_whole else g * self.length + j
            inside = self._inside(at)
            if self.mask is not None:
                row = self._row(t, i)
                given = self._given(self.mask, (*b, row, at))
                if self.mask.dtype.is_bool:
                    value = ir.select(given, value, ir.const(fill, self.wide))
                else:
                    value = value + ir.cast(given, self.wide)
            return value if inside is None else ir.if_then_else(inside, value, te.least(self.wide))

        return compute(shape, masked, "attention_masked", tag="broadcast")

    def _given(self, mask: Tensor, at: Sequence[Expr]) -> Expr:
        shape = (*self.batch, self.q.shape[-2], self.k.shape[-1])
        return broadcast_read(mask, shape[len(shape) - mask.ndim :], tuple(at[len(at) - mask.ndim :]))

    def _row(self, tile: Expr, place: Expr) -> Expr:
        """Return a row of a tile: rows beyond the last are the last once more."""
        row = tile * self.rows + place
        if isinstance(self.count, int) and self.count % self.rows == 0:
            return row
        return ir.minimum(row, plus(self.count, -1))

    def _inside(self, key: Expr) -> Expr | None:
        """Return the condition that a key exists; None if all do."""
        room = times(self.parts, self.length)
        if isinstance(self.keys, int) and self.keys == room:
            return None
        return ir.lt(key, self.keys)

    def _queries(self) -> Tensor:
        def at(*own: IterVar) -> Expr:
            *b, t, i, d = own
            value = broadcast_matrix(self.q, self.batch, tuple(b), [self._row(t, i), d])
            return ir.cast(value, self.wide)

        return compute((*self.batch, self.tiles, self.rows, self.inner), at, "attention_queries")

    def _keys(self) -> Tensor:
        def at(*own: IterVar) -> Expr:
            *b, p, d, lane = own
            key = p * self.columns + lane
            value = ir.cast(broadcast_matrix(self.k, self.batch, tuple(b), [d, key]), self.wide)
            inside = self._inside(key)
            return value if inside is None else ir.if_then_else(inside, value, ir.const(0, self.wide))

        panels = times(self.parts, self.length) // self.columns
        return compute((*self.batch, panels, self.inner, self.columns), at, "attention_keys")

    def _values(self) -> Tensor:
        panels = ceil_divide(self.features, self.columns)
        room = self.keys if self.is_whole else times(self.parts, self.length)

        def at(*own: IterVar) -> Expr:
            *b, c, key, lane = own
            feature = c * self.columns + lane
            value = ir.cast(broadcast_matrix(self.v, self.batch, tuple(b), [key, feature]), self.wide)
            tests = []
            if not (isinstance(self.features, int) and self.features % self.columns == 0):
                tests.append(ir.lt(feature, self.features))
            if not self.is_whole and (inside := self._inside(key)) is not None:
                tests.append(inside)
            zero = ir.const(0, self.wide)
            return ir.if_then_else(ir.logical_and(*tests), value, zero) if tests else value

        return compute((*self.batch, panels, room, self.columns), at, "attention_values")

    def _powers(self, scores: Tensor) -> tuple[Tensor, Tensor]:
        key = reduce_axis((0, self.length), name="rj")
        shape = scores.shape[:-1]
        top = compute(shape, lambda *i: te.max(scores(*i, key), axis=key), "attention_top")

        def power(*own: IterVar) -> Expr:
            *place, _ = own
            most = top(*place)
            if not self.is_whole:  # A part may have no key at all: its powers are 0 then.
                most = ir.maximum(most, te.min_value(self.wide))
            return ir.call("exp", scores(*own) - most)

        return top, compute(scores.shape, power, "attention_powers", tag="broadcast")

    def _sums(self, powers: Tensor) -> tuple[Tensor, Tensor]:
        values = self._values()
        key = reduce_axis((0, self.length), name="rj")
        total = compute(
            powers.shape[:-1], lambda *i: te.sum(powers(*i, key), axis=key), "attention_total"
        )
        one = reduce_axis((0, self.keys if self.is_whole else self.length), name="rj")
        panels = ceil_divide(self.features, self.columns)
        shape = (*powers.shape[:-1], panels, self.columns)

        def mix(*own: IterVar) -> Expr:
            *b, t, g, i, c, lane = own
            key = one if self.is_whole else g * self.length + one
            return te.sum(powers(*b, t, g, i, one) * values(*b, c, key, lane), axis=one)

        return total, compute(shape, mix, "attention_mixed", tag="complex")

    def _together(self, top: Tensor, total: Tensor, mixed: Tensor) -> tuple[Tensor, Tensor]:
        """Put the parts together: each is scaled to the largest maximum."""
        part = reduce_axis((0, self.parts), name="rg")
        rank = len(self.batch) + 1
        places = (*self.batch, self.tiles, self.rows)

        def of(tensor: Tensor, own: Sequence[Expr], part: Expr) -> Expr:
            return tensor(*own[:rank], part, *own[rank:])

        best = compute(places, lambda *i: te.max(of(top, i, part), axis=part), "attention_best")

        def weigh(*own: IterVar) -> Expr:
            place = (*own[:rank], *own[rank + 1 :])
            return ir.call("exp", top(*own) - best(*place))

        weight = compute(top.shape, weigh, "attention_weights", tag="broadcast")
        other = reduce_axis((0, self.parts), name="rg")
        whole = compute(
            places,
            lambda *i: te.sum(of(total, i, other) * of(weight, i, other), axis=other),
            "attention_whole",
        )
        third = reduce_axis((0, self.parts), name="rg")
        shape = (*places, *mixed.shape[-2:])

        def joined(*own: IterVar) -> Expr:
            return te.sum(of(mixed, own, third) * of(weight, own[:-2], third), axis=third)

        return whole, compute(shape, joined, "attention_joined")
