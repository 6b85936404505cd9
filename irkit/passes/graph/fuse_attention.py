"""Compute attention as one operator, for a tile of queries at a time.

Before, with ``vector_bytes=16``::

    def main(q: f32[2, 8, 4], k: f32[2, 4, 8], v: f32[2, 8, 4], m: f32[8, 8]):
        scores: f32[2, 8, 8] = matmul(q, k)
        masked: f32[2, 8, 8] = add(scores, m)
        powers: f32[2, 8, 8] = softmax(masked, axis=-1)
        y: f32[2, 8, 4] = matmul(powers, v)
        return y

After::

    def main(q: f32[2, 8, 4], k: f32[2, 4, 8], v: f32[2, 8, 4], m: f32[8, 8]):
        scores: f32[2, 8, 8] = matmul(q, k)
        masked: f32[2, 8, 8] = add(scores, m)
        powers: f32[2, 8, 8] = softmax(masked, axis=-1)
        y: f32[2, 8, 4] = attention(q, k, v, m, rows=8, columns=4)
        return y

The matrix of scores is never whole in memory, and what makes the operands, such as transposes of
heads, scales or rotary embeddings, is computed where the kernel copies them into panels.
"""

from math import prod
from typing import Any

import numpy as np

from irkit.autoschedule import Machine, attention_tile
from irkit.core import equal, remark
from irkit.graph import (
    Array,
    GraphFunc,
    Match,
    OpOptions,
    Pattern,
    Replacement,
    TensorType,
    Value,
    apply_rules,
    attributes,
    dtype_of_value,
    either,
    extents_of,
    graph_rule,
    hole,
    known,
    op,
    same_extent,
)
from irkit.ir import F32, F64
from irkit.transform import define_pass

Extents = tuple[int | None, ...]
_ASSUMED = 128
"""Queries, keys or features of a key where their number is not constant."""


@define_pass(idempotent=True, changes_rounding=True)
def fuse_attention(
    func: GraphFunc,
    *,
    vector_bytes: int = 0,
    machine: tuple[tuple[str, Any], ...] = (),
    fewest: int = 6,
) -> GraphFunc:
    """Replace a softmax of products that is multiplied again, with its scale and its mask, by one
    operator with the tile that is estimated to be the fastest.

    Fewer queries than ``fewest``, or any number of them for another number of keys, are left as
    they are: their keys are read as they lie, and not copied. ``vector_bytes`` is the size of a
    vector register in bytes; without it, nothing changes. ``machine`` has other fields in which the
    machine differs from the generic one.
    """
    if not vector_bytes:
        return func
    tiles = _Tiles(Machine.with_vectors(vector_bytes).having(machine), fewest)
    rules = [
        graph_rule("fuse-attention", _ATTENTION, tiles.fused),
        graph_rule("fuse-safe-attention", _WITH_EMPTY_ROWS, tiles.with_empty_rows, shared=True),
        graph_rule("tile-attention", _UNTILED, tiles.tiled, shared=True),
        graph_rule("order-attention", op("transpose", _FUSED, name="turned"), _ordered),
    ]
    return apply_rules(func, "fuse-attention", rules)


class _Tiles:
    """Tiles of attention for a machine."""

    def __init__(self, machine: Machine, fewest: int) -> None:
        self._machine, self._fewest = machine, fewest

    def fused(self, b: Replacement, m: Match) -> Value | None:
        """Return attention in place of a second product, if it pays."""
        return self._fused(b, m, {})

    def with_empty_rows(self, b: Replacement, m: Match) -> Value | None:
        """Return attention whose rows are 0 where all scores are -inf."""
        scores = m.op("softmax").args[0]
        last = (len(extents_of(scores)) - 1,)
        if m["tested"] is not scores or attributes(m.op("largest")).ints("axes") != last:
            return None
        if m.facts.uses[scores] != 2:  # They would be computed all the same.
            return None
        return self._fused(b, m, {"empty": True})

    def _fused(self, b: Replacement, m: Match, options: dict[str, Any]) -> Value | None:
        softmax = m.bindings["softmax"].var
        axis, shape = attributes(m.op("softmax")).int("axis"), extents_of(softmax)
        ranks = [len(extents_of(m[name])) for name in "qkv"]
        if axis != len(shape) - 1 or min(ranks) < 2 or ("joined" in m) != ("apart" in m):
            return None
        if "joined" in m and not _can_part(m, shape):
            return None
        if not _has_scores_of_queries_and_keys(m, softmax) or not self._pays(m):
            return None
        operands = [m[name] for name in "qkv"]
        if "joined" in m:
            operands = [_parted(b, each, shape[:-2]) for each in operands]
        if "mask" in m:
            operands.append(m["mask"])
        options = {**options, **self._sizes(m), **_scale_and_fill(m)}
        made = b.op("attention", *operands, **options)
        if "joined" in m:
            return b.op("reshape", made, shape=extents_of(m.root.var))
        # A scale or a fill of more axes gives its result more axes, too.
        return made if equal(made.type, m.root.var.type) else None

    def tiled(self, b: Replacement, m: Match) -> Value:
        """Return attention with a tile, where none was chosen."""
        options: dict[str, Any] = {**dict(m.root_op.attrs), **self._sizes(m)}
        return b.op("attention", *m.root_op.args, **options)

    def _pays(self, m: Match) -> bool:
        queries, dtype = extents_of(m["q"])[-2], dtype_of_value(m["q"])
        if dtype not in (F32, F64) or not m.facts.uses[m.root.var]:
            return False
        if queries is None and not _has_a_query_for_each_key(m):
            remark(m.root, f"{m.root.var.name}: there may be few queries for many keys")
            return False
        if queries is not None and queries < self._fewest:
            remark(
                m.root,
                f"{m.root.var.name}: {queries} queries are fewer than {self._fewest}: their keys "
                "are not copied",
            )
            return False
        return True

    def _sizes(self, m: Match) -> dict[str, int]:
        """Return the tile that is estimated to be the fastest; a remark says which."""
        dtype = dtype_of_value(m["q"])
        assert dtype is not None
        shapes = extents_of(m["q"])[-2:], extents_of(m["k"])[-2:], extents_of(m["v"])[-2:]
        wanted = (shapes[0][0], shapes[1][1], shapes[1][0], shapes[2][1])
        known = tuple(_ASSUMED if each is None else max(1, each) for each in wanted)
        bytes_of = max(4, dtype.bytes)
        lanes = max(1, self._machine.vector_bytes // bytes_of)
        tile = attention_tile((known[0], known[1], known[2], known[3]), lanes, self._machine)
        part = tile.part or (_OPEN if wanted[1] is None else 0)
        remark(
            m.root,
            f"{m.root.var.name}: tiles of {tile.rows} queries by {tile.columns} keys"
            + (f", {part * tile.columns} keys with a maximum of their own" if part else ""),
        )
        found = {"rows": tile.rows, "columns": tile.columns}
        return {**found, "part": part} if part else found


_OPEN = 4
"""Panels with a maximum of their own where the number of keys is not constant."""


def _can_part(m: Match, shape: Extents) -> bool:
    """Return True if all axes are known, and each operand has the heads of the scores, joined."""
    heads = shape[:-2]
    known = [*shape, *extents_of(m.root.var), *(n for name in "qkv" for n in extents_of(m[name]))]
    wanted = prod(each or 0 for each in heads)
    same = all(prod(n or 0 for n in extents_of(m[name])[:-2]) == wanted for name in "qkv")
    return None not in known and same


def _parted(b: Replacement, x: Value, heads: Extents) -> Value:
    return b.op("reshape", x, shape=(*heads, *extents_of(x)[-2:]))


def _scale_and_fill(m: Match) -> dict[str, float]:
    found: dict[str, float] = {}
    if "scaled" in m:
        factor = float(m.array("factor").reshape(()).item())
        found["scale"] = factor if m.op("scaled").name == "multiply" else 1.0 / factor
    if "fill" in m:
        found["fill"] = float(m.array("fill").reshape(()).item())
    return found


def _ordered(b: Replacement, m: Match) -> Value | None:
    """Return attention that stores its results in the order of a transpose that keeps rows of
    features."""
    axes, step = attributes(m.op("turned")).ints("axes"), m.op("attention")
    options = attributes(step)
    before = options.ints("axes") or tuple(range(len(axes)))
    order = tuple(before[axis] for axis in axes)
    if order[-1] != len(order) - 1:
        return None
    changed: dict[str, Any] = {**dict(step.attrs), "axes": order}
    return b.op("attention", *step.args, **changed)


def _has_a_query_for_each_key(m: Match) -> bool:
    """Return True if queries and keys are as many, whatever their number."""
    q, k = m["q"].type, m["k"].type
    assert isinstance(q, TensorType)
    assert isinstance(k, TensorType)
    return same_extent(q.shape[-2], k.shape[-1])


def _has_scores_of_queries_and_keys(m: Match, softmax: Value) -> bool:
    """Return True if there is a score for each query and key: a mask could make more of one."""
    scores, q, k = (each.type for each in (softmax, m["q"], m["k"]))
    assert isinstance(scores, TensorType)
    assert isinstance(q, TensorType)
    assert isinstance(k, TensorType)
    queries, keys = scores.shape[-2:]
    return same_extent(queries, q.shape[-2]) and same_extent(keys, k.shape[-1])


def _is_number(array: Array) -> bool:
    return array.size == 1 and bool(np.isfinite(array).all()) and bool(np.all(array != 0))


def _is_minus_infinity(array: Array) -> bool:
    return array.size > 0 and bool(np.all(array == -np.inf))


def _is_one(array: Array) -> bool:
    return array.size == 1


def _is_untiled(options: OpOptions) -> bool:
    return not options.int("rows") or not options.int("columns")


def _scores() -> Pattern:
    """Return the pattern of products of queries and keys, in heads again, scaled and masked."""
    product = op("matmul", hole("q"), hole("k"))
    plain = either(op("reshape", product, name="apart"), product)
    factor = known("factor", _is_number)
    scaled = either(
        op("multiply", plain, factor, name="scaled", commutative=True),
        op("divide", plain, factor, name="scaled"),
        plain,
    )
    return either(
        op("add", scaled, hole("mask"), commutative=True),
        op("where", hole("mask"), scaled, known("fill", _is_one)),
        scaled,
    )


def _mixed(powers: Pattern) -> Pattern:
    """Return the pattern of powers times values, of heads as they are or joined with others."""
    return op("matmul", either(op("reshape", powers, name="joined"), powers), hole("v"))


def _no_key_is_left() -> Pattern:
    """Return the pattern of PyTorch's test for rows whose scores are all -inf."""
    present = op("logical_not", op("equal", hole("tested"), known("inf", _is_minus_infinity)))
    kept = op("max", op("cast", present), name="largest", where=lambda o: o.flag("keepdims"))
    return op("logical_not", op("cast", kept))


_SOFTMAX = op("softmax", _scores(), name="softmax")
_ZERO = either(
    known("zero", lambda array: not array.any()),
    op("full_like", hole("like"), where=lambda options: options.scalar("value") == 0),
)
_ATTENTION = _mixed(_SOFTMAX)
_WITH_EMPTY_ROWS = _mixed(op("where", _no_key_is_left(), _ZERO, _SOFTMAX))
_OPERANDS = (hole("q"), hole("k"), hole("v"))
_UNTILED = either(
    op("attention", *_OPERANDS, hole("mask"), where=_is_untiled),
    op("attention", *_OPERANDS, where=_is_untiled),
)
_FUSED = either(
    op("attention", *_OPERANDS, hole("mask"), name="attention"),
    op("attention", *_OPERANDS, name="attention"),
)
