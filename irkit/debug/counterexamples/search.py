"""Search for values on which two expressions differ: compute both, as vectors."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from irkit.core import IRKitError
from irkit.debug.counterexamples.changed_values import ChangedValue, ValueSource
from irkit.debug.counterexamples.crossings import LANES, crossings
from irkit.debug.counterexamples.drawn_values import are_few, drawn_values, neighbours
from irkit.debug.counterexamples.inversion import turns
from irkit.debug.execution.edge_values import Edges
from irkit.debug.execution.many_values import Batch, computed
from irkit.ir import Var

Array = NDArray[Any]
KEPT = 8
"""Counterexamples of a pair of expressions."""
OTHERS = 2
"""Values of the other unknowns, while one is searched by halving intervals."""


class Counterexample(NamedTuple):
    """Values on which two expressions differ."""

    values: dict[ValueSource, Any]


def counterexamples(changed: ChangedValue, edges: Edges, seed: int) -> list[Counterexample]:
    """Return values on which a pair of expressions differs: those with the largest differences, and
    some others."""
    rng = np.random.default_rng((abs(seed), 4919))
    unknowns = list(changed.unknowns)
    try:
        batches = drawn_values(unknowns, edges, rng)
        found = _differing(changed, batches)
        if not found and not are_few(unknowns):
            found = _differing(changed, _turning(changed, batches[0], rng))
        if not found and not are_few(unknowns):
            found = _differing(changed, _crossing(changed, batches[0]))
    except IRKitError:  # The program decides what an expression that cannot be computed means.
        return []
    named = [{changed.unknowns[var]: value for var, value in row.items()} for row in found]
    return [Counterexample(values) for values in named[: 2 * KEPT]]


def _turning(changed: ChangedValue, batch: Batch, rng: np.random.Generator) -> list[Batch]:
    """Return batches on which comparisons are about to turn."""
    found: list[Batch] = []
    for root in (changed.before, changed.after, changed.given):
        for turn in turns(root, lambda expr: computed(expr, batch)):
            step = rng.integers(-1, 2, size=len(turn.values))
            found.append({**batch, turn.unknown: neighbours(turn.values, step)})
    return found


def _crossing(changed: ChangedValue, batch: Batch) -> list[Batch]:
    """Return batches at which the sides of comparisons cross; one unknown is searched, while the
    others have the values of one lane."""
    found: list[Batch] = []
    for lane in range(OTHERS):
        fixed = {var: np.full(LANES, values[lane]) for var, values in batch.items()}
        spread = {var: values[:LANES] for var, values in batch.items()}
        for root in (changed.before, changed.after, changed.given):
            turned = crossings(root, fixed, spread)
            found += [{**fixed, turn.unknown: turn.values} for turn in turned]
    return found


def _differing(changed: ChangedValue, batches: list[Batch]) -> list[dict[Var, Any]]:
    return [row for batch in batches for row in _rows(changed, batch)]


def _rows(changed: ChangedValue, batch: Batch) -> list[dict[Var, Any]]:
    one, other = computed(changed.before, batch), computed(changed.after, batch)
    weight = np.where(computed(changed.given, batch), _weights(one, other), 0.0)
    where = np.flatnonzero(weight)
    if not len(where):
        return []
    finite = where[np.isfinite(weight[where])]
    largest = finite[np.argsort(-weight[finite], kind="stable")][: KEPT // 2]
    infinite = where[~np.isfinite(weight[where])]
    some = where[:: max(1, len(where) // KEPT)]
    chosen = dict.fromkeys([*largest, *infinite[: KEPT // 4], *some])
    return [{var: values[at] for var, values in batch.items()} for at in list(chosen)[:KEPT]]


def _weights(one: Array, other: Array) -> Array:
    """Return how much numbers differ, in relation to their size; 0 where they are equal."""
    if one.dtype.kind in "iub":
        return (one != other).astype(np.float64)
    with np.errstate(all="ignore"):
        a, b = one.astype(np.float64), other.astype(np.float64)
        apart = np.abs(a - b) / np.maximum(np.abs(a), np.abs(b))
    both = np.isnan(a) & np.isnan(b)
    signs = np.where((a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b)), 1e-300, 0.0)
    different = np.where(np.isnan(apart), np.inf, apart)
    return np.where(both, 0.0, np.where(a == b, signs, different))
