"""Attention for tests: operands that are drawn, and results in f64 from the formula."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Sizes(NamedTuple):
    """Leading extents; queries, keys, features of a key and of a value."""

    lead: tuple[int, ...]
    queries: int
    keys: int
    inner: int
    features: int


def operands(
    sizes: Sizes, mask: str = "none", dtype: Any = np.float32, seed: int = 0
) -> list[Array]:
    """Draw q, k, v and, if it is not "none", a mask of floats or bools with a key in each row."""
    rng = np.random.default_rng(seed)
    shapes = [(sizes.queries, sizes.inner), (sizes.inner, sizes.keys), (sizes.keys, sizes.features)]
    found: list[Array] = [
        rng.standard_normal((*sizes.lead, *shape)).astype(dtype) for shape in shapes
    ]
    whole = (*sizes.lead, sizes.queries, sizes.keys)
    if mask == "bool":
        chosen = rng.random(whole) < 0.7
        chosen[..., rng.integers(sizes.keys)] = True
        found.append(chosen)
    elif mask != "none":
        added = rng.standard_normal(whole[1:] if sizes.lead else whole)
        added[rng.random(added.shape) < 0.2] = -np.inf
        added[..., rng.integers(sizes.keys)] = 0.0
        found.append(added.astype(dtype))
    return found


def exact(given: Sequence[Array], scale: float = 1.0, axes: Sequence[int] = ()) -> Array:
    """Compute attention row by row in f64."""
    q, k, v, *mask = (each if each.dtype == bool else each.astype(np.float64) for each in given)
    lead = np.broadcast_shapes(*(each.shape[:-2] for each in (q, k, v, *mask)))
    q, k, v = (np.broadcast_to(each, (*lead, *each.shape[-2:])) for each in (q, k, v))
    found = np.empty((*lead, q.shape[-2], v.shape[-1]))
    for head in np.ndindex(*lead):
        for row in range(q.shape[-2]):
            scores = np.array([q[head][row] @ key for key in k[head].T]) * scale
            for each in mask:
                own = np.broadcast_to(each, (*lead, q.shape[-2], k.shape[-1]))[head][row]
                scores = np.where(own, scores, -np.inf) if own.dtype == bool else scores + own
            powers = np.exp(scores - scores.max())
            found[head][row] = sum(p * each for p, each in zip(powers, v[head], strict=True))
            found[head][row] /= powers.sum()
    return found.transpose(axes) if axes else found
