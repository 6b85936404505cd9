"""Compare constants that a pass packed with those they are made from, element by element.

Numbers that were moved must be the same bits; filters that were transformed for Winograd's tiles
must be what f64 gives, rounded. The layouts are those that the operators state; no code that packs
is used. Where channels stand in an order of their own, each must stand there once, with the bias
that belongs to it: which one is where, the results of the step tell.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

import msgspec
import numpy as np

from irkit.graph import Array, Bind, Constant, GraphFacts, GraphFunc, Op, Value, attributes


class _Packed(msgspec.Struct, frozen=True):
    """An operator with packed constants, and the one it stands for."""

    name: str
    step: Op
    facts: GraphFacts
    source: Op
    before: GraphFacts

    def array(self, at: int) -> Array | None:
        """Return an operand of the packed operator, if it is a constant."""
        return _constant(self.step, at, self.facts)

    def given(self, at: int) -> Array | None:
        """Return an operand of the source, if it is a constant."""
        return _constant(self.source, at, self.before)


def packed_problems(before: GraphFunc, after: GraphFunc) -> list[str]:
    """Return what is wrong with constants that a step packed: operators that are new in ``after``
    and stand for one of ``before``. What depends on a parameter is not looked at."""
    old, new = GraphFacts(before), GraphFacts(after)
    convolutions = [
        bind
        for bind in old.bound.values()
        if isinstance(bind.step, Op) and bind.step.name == "conv"
    ]
    found: list[str] = []
    for var, bind in new.bound.items():
        step = bind.step
        check = _CHECKS.get(step.name) if isinstance(step, Op) else None
        if check is None or not isinstance(step, Op):
            continue
        source = old.op(var) or _source(var, step, convolutions)
        if source is not None and source.name != step.name:
            packed = _Packed(var.name, step, new, source, old)
            found += [f"{var.name}: {problem}" for problem in check(packed)]
    return found


def _source(var: Value, step: Op, convolutions: list[Bind]) -> Op | None:
    """Return the convolution that an operator in blocks computes: its name begins with the name of
    that one."""
    for bind in convolutions:
        if var.name.startswith(f"{bind.var.name}_{step.name}") and isinstance(bind.step, Op):
            return bind.step
    return None


def _constant(step: Op, at: int, facts: GraphFacts) -> Array | None:
    """Return a constant operand of any size, or one that operators make of small ones."""
    if at >= len(step.args):
        return None
    bind = facts.bound.get(step.args[at])
    if bind is not None and isinstance(bind.step, Constant):
        return None if bind.step.data.is_absent else bind.step.data.array
    if bind is not None and isinstance(bind.step, Op) and bind.step.name == "transpose":
        turned = _constant(bind.step, 0, facts)
        axes = attributes(bind.step).ints("axes")
        return None if turned is None else np.ascontiguousarray(turned.transpose(axes))
    return facts.array(step.args[at])


def _expected(what: str, found: Array, wanted: Array) -> Iterator[str]:
    """Yield a problem if two arrays differ in a bit."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        yield (
            f"{what}: expected {wanted.dtype}{list(wanted.shape)}, found "
            f"{found.dtype}{list(found.shape)}"
        )
    elif found.tobytes() != wanted.tobytes():
        bits = f"u{found.dtype.itemsize}"
        unlike = np.ascontiguousarray(found).view(bits) != np.ascontiguousarray(wanted).view(bits)
        place = tuple(int(each) for each in np.argwhere(unlike)[0])
        yield (
            f"{what} at {list(place)}: expected {wanted[place]}, found {found[place]}; "
            f"{np.count_nonzero(unlike)} of {unlike.size} differ"
        )


def _conv_blocked(p: _Packed) -> Iterator[str]:
    """Filters [K, B, R..., c, k]: filter f is lane f % k of block f // k."""
    w, source = p.array(1), p.given(1)
    if w is None or source is None:
        return
    count, channels = source.shape[:2]
    taps = source.shape[2:]
    rest = range(2, 2 + len(taps))
    # One filter for each lane, one channel for each position.
    apart = w.transpose(0, w.ndim - 1, 1, w.ndim - 2, *rest)
    apart = apart.reshape(w.shape[0] * w.shape[-1], w.shape[1] * w.shape[-2], *taps)
    yield from _expected("filters beyond the last", apart[count:], np.zeros_like(apart[count:]))
    if apart.shape[0] < count:
        yield f"expected {count} filters, found room for {apart.shape[0]}"
        return
    wanted = Counter(source[:, at].tobytes() for at in range(channels))
    wanted[np.zeros_like(apart[:count, 0]).tobytes()] += apart.shape[1] - channels
    found = Counter(apart[:count, at].tobytes() for at in range(apart.shape[1]))
    if found != wanted:
        others = sum((found - wanted).values())
        yield f"expected the filters of each of {channels} channels once; {others} are others"
    yield from _bias(p, 2, np.array(range(count)))


def _bias(p: _Packed, at: int, filters: Array) -> Iterator[str]:
    """Check the bias: of the filter at each position, and 0 where the number of a filter is -1, or
    behind the last one."""
    bias, source = p.array(at), p.given(2)
    if bias is None or source is None:
        if len(p.source.args) > 2 and len(p.step.args) <= at:
            yield "expected a bias, found none"
        return
    wanted = np.zeros(bias.size, source.dtype)
    wanted[: len(filters)][filters >= 0] = source[filters[filters >= 0]]
    yield from _expected("bias", bias.reshape(-1), wanted)


def _conv_gathered(p: _Packed) -> Iterator[str]:
    """Filters [K, R..., C, k], for each row of the table those of one or more groups."""
    table, w, source = p.array(1), p.array(2), p.given(1)
    if table is None or w is None or source is None:
        return
    groups, parts = attributes(p.source).int("groups"), len(table)
    count, own = source.shape[:2]
    together, size, lanes = -(-groups // parts), count // groups, w.shape[-1]
    if table.shape[1] != together * own:
        yield f"expected {together * own} channels of {together} groups, found {table.shape[1]}"
        return
    places = table.reshape(-1)[: own * groups]
    if len(np.unique(places)) < len(places) or places.min() < 0:
        yield "expected another place for each channel, found one twice, or one outside"
    wanted = np.zeros_like(w)
    positions = np.full(len(w) * lanes, -1)
    blocks = len(w) // parts
    for each in range(count):
        group = each // size
        part, inside = group // together, each - group // together * together * size
        block, lane = part * blocks + inside // lanes, inside % lanes
        first = group % together * own
        positions[block * lanes + lane] = each
        wanted[block, ..., first : first + own, lane] = np.moveaxis(source[each], 0, -1)
    yield from _expected("filters", w, wanted)
    yield from _bias(p, 3, positions)


def _depthwise_blocked(p: _Packed) -> Iterator[str]:
    """Filters [B, R..., c], each with the bias at its position."""
    w, source, bias, plain = p.array(1), p.given(1), p.array(2), p.given(2)
    if w is None or source is None:
        return
    apart = np.moveaxis(w, -1, 1).reshape(-1, *source.shape[2:])
    more = np.zeros(len(apart), w.dtype) if bias is None else bias.reshape(-1)
    less = np.zeros(len(source), w.dtype) if plain is None else plain
    wanted = Counter(_pairs(source[:, 0], less))
    wanted[next(_pairs(np.zeros_like(apart[:1]), np.zeros_like(more[:1])))] += len(apart) - len(
        less
    )
    found = Counter(_pairs(apart, more))
    if found != wanted:
        others = sum((found - wanted).values())
        yield f"expected filter and bias of each of {len(less)} channels once; {others} are others"


def _pairs(filters: Array, biases: Array) -> Iterator[tuple[bytes, bytes]]:
    for each, bias in zip(filters, biases, strict=True):
        yield each.tobytes(), bias.tobytes()


_TRANSFORMS = {
    2: np.array([[1, 0, 0], [1 / 2, 1 / 2, 1 / 2], [1 / 2, -1 / 2, 1 / 2], [0, 0, 1]]),
    4: np.array(
        [
            *([1 / 4, 0, 0], [-1 / 6, -1 / 6, -1 / 6], [-1 / 6, 1 / 6, -1 / 6]),
            *([1 / 24, 1 / 12, 1 / 6], [1 / 24, -1 / 12, 1 / 6], [0, 0, 1]),
        ]
    ),
}
"""The matrices of filters of F(2x2, 3x3) and F(4x4, 3x3): Lavin and Gray, 2016."""


def _conv_winograd(p: _Packed) -> Iterator[str]:
    """Filters [chunks, i, j, panels, B, c, vectors, k] of packed ones [K, B, 3, 3, c, k]."""
    u, w = p.array(1), p.given(1)
    if u is None or w is None:
        return
    chunks, high, _, panels, blocks, inner, vectors, lanes = u.shape
    shape = (chunks * panels * vectors, blocks, 3, 3, inner, lanes)
    if w.shape != shape:
        yield f"expected filters for {list(w.shape)}, found some for {list(shape)}"
        return
    matrix = _TRANSFORMS[high - 2]
    wide = w.astype(np.float64).reshape(chunks, panels, vectors, *shape[1:])
    made, most = (
        np.einsum("ir,gpvbrscl,js->gijpbcvl", left, part, left, optimize=True)
        for left, part in ((matrix, wide), (np.abs(matrix), np.abs(wide)))
    )
    unlike = ~(np.abs(u - made) <= 4 * np.finfo(u.dtype).eps * most + np.finfo(u.dtype).tiny)
    unlike &= np.isfinite(made)
    if unlike.any():
        place = tuple(int(each) for each in np.argwhere(unlike)[0])
        yield (
            f"transformed filters at {list(place)}: expected {made[place]}, found {u[place]}; "
            f"{np.count_nonzero(unlike)} of {unlike.size} differ"
        )
    kept, source = p.array(2), p.given(2)
    if kept is not None and source is not None:
        yield from _expected("bias", kept, source)


def _matmul_panels(p: _Packed) -> Iterator[str]:
    """Panels [panels, rows, width]: column n is column n % width of panel n // width."""
    panels, source = p.array(1), p.given(1)
    if panels is None or source is None or source.ndim != 2:
        return
    rows, columns = source.shape
    width = panels.shape[2]
    wanted = np.zeros((panels.shape[0], rows, width), source.dtype)
    for column in range(min(columns, panels.shape[0] * width)):
        wanted[column // width, :, column % width] = source[:, column]
    if columns > panels.shape[0] * width:
        yield f"expected {columns} columns, found room for {panels.shape[0] * width}"
    yield from _expected("panels", panels, wanted)


def _matmul_4bit(p: _Packed) -> Iterator[str]:
    """Pairs of rows in bytes, the low half first, with scales and zero points of blocks of rows."""
    pairs, scales, zeros, source = p.array(1), p.array(2), p.array(3), p.given(1)
    if (
        pairs is None
        or scales is None
        or source is None
        or (zeros is None and len(p.step.args) > 3)
    ):
        return
    block = attributes(p.step).int("block")
    made = np.empty(source.shape, np.float32)
    for row in range(len(source)):
        number = (pairs[row // 2] >> 4 * (row % 2) & 15).astype(np.float32)
        zero = np.float32(8) if zeros is None else zeros[row // block].astype(np.float32)
        made[row] = (number - zero) * scales[row // block].astype(np.float32)
    yield from _expected("weights", made.astype(source.dtype), source)


_CHECKS: Mapping[str, Callable[[_Packed], Iterator[str]]] = {
    "conv_blocked": _conv_blocked,
    "conv_gathered": _conv_gathered,
    "conv_winograd": _conv_winograd,
    "depthwise_blocked": _depthwise_blocked,
    "matmul_4bit": _matmul_4bit,
    "matmul_panels": _matmul_panels,
}
CHECKED = frozenset(_CHECKS)
"""The operators whose packed constants are compared with their source."""
