"""Attention in all orders of its axes, on machines whose caches hold much or little of it."""

import numpy as np

from irkit.fuzz.generators.sample import Array
from irkit.fuzz.judge.subsystems.drawn_models import NumpyGraph, judge_model
from irkit.fuzz.picks import Picks
from irkit.graph import Value

_ROWS = (5, 1, 8, 3, 13)
_KEYS = (4, 1, 9, 16, 33)
_FEATURES = (4, 1, 5, 8)
_BATCHES = ((2,), (), (1,), (2, 2))
_TOLERANCE = 1e-4


def attention_agrees(picks: Picks) -> None:
    """Attention, as one operator or as those that are fused into it, computes what NumPy computes.

    Raises: WrongSample.
    """
    graph = NumpyGraph(picks)
    rows, keys = picks.pick(_ROWS), picks.pick(_KEYS)
    inner, features = picks.pick(_FEATURES), picks.pick(_FEATURES)
    batch = picks.pick(_BATCHES)
    q = _operand(graph, batch, (rows, inner))
    k = _operand(graph, _shared(picks, batch), (inner, keys))
    v = _operand(graph, _shared(picks, batch), (keys, features))
    mask = _mask(graph, batch, rows, keys)
    scale = picks.pick((0.5, 1.0, 0.125))
    order = _order(picks, len(batch) + 2)
    if picks.below(2):
        result = _as_one(graph, (q, k, v), mask, scale, order)
    else:
        result = _as_several(graph, (q, k, v), mask, scale, order)
    if picks.one_in(4):
        result = graph.change("relu", lambda x: np.maximum(x, 0), result)
    judge_model(graph, [result], [np.asarray(_TOLERANCE)])


def _shared(picks: Picks, batch: tuple[int, ...]) -> tuple[int, ...]:
    """Return the batch of keys or values: heads may share them."""
    shared = tuple(1 if picks.one_in(3) else size for size in batch)
    return picks.pick((batch, shared, batch[1:])) if batch else batch


def _operand(graph: NumpyGraph, batch: tuple[int, ...], last: tuple[int, int]) -> Value:
    """Make an operand, now and then as a transposed one, whose axes lie in another order."""
    whole = (*batch, *last)
    array = graph.rng.uniform(-1.5, 1.5, whole).astype(np.float32)
    if graph.picks.one_in(2):
        return graph.param(array)
    order = _order(graph.picks, len(whole))
    back = tuple(np.argsort(order).tolist())
    stored = graph.param(np.ascontiguousarray(array.transpose(back)))
    return graph.change("transpose", lambda x: x.transpose(order), stored, axes=order)


def _order(picks: Picks, rank: int) -> tuple[int, ...]:
    """Draw an order of axes, the plain one being the simplest."""
    axes = list(range(rank))
    return tuple(axes.pop(picks.below(len(axes))) for _ in range(rank))


def _mask(graph: NumpyGraph, batch: tuple[int, ...], rows: int, keys: int) -> Value | None:
    """Draw a mask: of numbers that are added, or of bools, at least one of a row being True."""
    form = graph.picks.below(4)
    if not form:
        return None
    shape = graph.picks.pick(((rows, keys), (keys,), (1, keys), (*batch, rows, keys)))
    if form == 1:
        return graph.param(graph.rng.uniform(-2, 2, shape).astype(np.float32))
    seen = graph.rng.random(shape) < 0.7
    seen[..., 0] = True
    if form == 2:
        return graph.param(seen)
    return graph.param(np.where(seen, 0, -np.inf).astype(np.float32))


def _weights(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def _scores(q: Array, k: Array, scale: float, mask: tuple[Array, ...]) -> Array:
    scores = q.astype(np.float64) @ k * scale
    for each in mask:
        scores = np.where(each, scores, -np.inf) if each.dtype == np.bool_ else scores + each
    return scores


def _as_one(
    graph: NumpyGraph,
    operands: tuple[Value, Value, Value],
    mask: Value | None,
    scale: float,
    order: tuple[int, ...],
) -> Value:
    """Apply the operator itself, with a tile or with one that the pass chooses."""
    picks = graph.picks
    attrs: dict[str, object] = {"scale": scale}
    if picks.below(3):
        attrs["axes"] = order
    if picks.below(2):
        tile = picks.pick((1, 3, 8)), picks.pick((8, 4, 16)), picks.pick((0, 1, 2))
        attrs |= dict(zip(("rows", "columns", "part"), tile, strict=True))
    if picks.one_in(3):
        attrs["empty"] = True

    def meaning(q: Array, k: Array, v: Array, *mask: Array) -> Array:
        found = _weights(_scores(q, k, scale, mask)) @ v
        return found.transpose(order) if "axes" in attrs else found

    return graph.op("attention", meaning, *operands, *([] if mask is None else [mask]), **attrs)


def _as_several(
    graph: NumpyGraph,
    operands: tuple[Value, Value, Value],
    mask: Value | None,
    scale: float,
    order: tuple[int, ...],
) -> Value:
    """Apply the operators that become an attention."""
    q, k, v = operands
    by = graph.constant(np.array(scale, np.float32))
    where = graph.picks.below(3)
    if where == 1:
        q = graph.op("multiply", np.multiply, q, by)
    scores = graph.op("matmul", np.matmul, q, k)
    if where == 0:
        scores = graph.op("multiply", np.multiply, scores, by)
    if mask is not None:
        if graph.numbers[mask].dtype == np.bool_:
            least = graph.constant(np.array(-np.inf, np.float32))
            scores = graph.op("where", np.where, mask, scores, least)
        else:
            scores = graph.op("add", np.add, scores, mask)
    weights = graph.op("softmax", _weights, scores, axis=-1)
    found = graph.op("matmul", np.matmul, weights, v)
    if graph.picks.below(2):
        found = graph.change("transpose", lambda x: x.transpose(order), found, axes=order)
    return found
