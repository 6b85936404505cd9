"""Inputs of which few values are not 0: a long sum of narrow floats is then hardly rounded.

The bound on the error of a sum grows with its terms: from a few hundred on, rounding can explain
any result in bf16. Adding 0 rounds nothing, so of a sum with few other terms much more is known.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import prod

import numpy as np

from irkit.debug.execution.inputs import (
    LARGER,
    Array,
    Drawing,
    InputSet,
    arguments_of,
    dim_size,
    draw_values,
    sizes_of,
)
from irkit.debug.execution.parameter_roles import Symbol, inputs_of
from irkit.ir import Buffer, PrimFunc, Var, numpy_dtype

FEW = (2, 8, 4)
"""How many values are not 0 along the longest dimension, in the sets with fractions."""
WHOLE = {"bf16": 250, "f16": 2000}
"""How many may be 1, so that their sum is exact; all of them in other types."""
MOST_PARTS = 18
"""Sets with ones of an array, which take turns in the elements that are not 0."""
MOST_PARAMS = 3
"""The largest arrays become sparse in turn."""


def sparse_sets(func: PrimFunc, *, dims: Mapping[str, int], seed: int) -> Iterator[InputSet]:
    """Yield sets in which one array of floats is sparse and the others hold ones.

    The first and the last value of the array are never 0. Raises: ShapeError, TooLarge.
    """
    sizes, read = sizes_of(func, dims, {}, LARGER), inputs_of(func)
    counts = {
        param: prod(dim_size(dim, sizes) for dim in param.shape)
        for param in func.params
        if isinstance(param, Buffer) and param in read and param.dtype.is_float
    }
    largest = sorted(counts, key=lambda param: counts[param], reverse=True)[:MOST_PARAMS]
    chosen = [param for param in largest if counts[param] > 1]
    fills = [(param, fill) for param in chosen for fill in _fills(param, sizes, seed)]
    for number, (sparse, fill) in enumerate(fills):
        rng = np.random.default_rng((abs(seed), 51, number))
        args = arguments_of(func, sizes, _drawing(sparse, fill, rng), {})
        yield InputSet(f"sparse values {number}", "sparse values", args)


Fill = Callable[[np.random.Generator], Array]


def _fills(param: Buffer, sizes: Mapping[Var, int], seed: int) -> Iterator[Fill]:
    """Yield what makes the values of a parameter, each of them 0 or from 1 on."""
    shape = tuple(dim_size(dim, sizes) for dim in param.shape)
    count, longest = prod(shape), max(shape)
    parts = -(-longest // WHOLE.get(str(param.dtype), longest))
    turns = np.random.default_rng(abs(seed)).permutation(count) % parts

    def ones(rng: np.random.Generator, part: int) -> Array:
        return _at_ends_too(turns == part, np.ones(count), shape)

    def fractions(rng: np.random.Generator, terms: int) -> Array:
        kept = rng.random(size=count) * longest < terms
        return _at_ends_too(kept, rng.uniform(1, 4, size=count), shape)

    for part in range(min(parts, MOST_PARTS)):
        yield partial(ones, part=part)
    for terms in FEW:
        yield partial(fractions, terms=terms)


def _at_ends_too(kept: Array, values: Array, shape: tuple[int, ...]) -> Array:
    kept[:1] = kept[-1:] = True
    return np.where(kept, values, 0).reshape(shape)


def _drawing(sparse: Buffer, fill: Fill, rng: np.random.Generator) -> Drawing:
    def drawn(param: Symbol, shape: tuple[int, ...]) -> Array:
        if param is sparse:
            return fill(rng).astype(numpy_dtype(param.dtype))
        if param.dtype.is_float:
            return np.ones(shape, numpy_dtype(param.dtype))
        return draw_values(param.dtype, shape, "whole numbers", rng, (0, 2))

    return drawn
