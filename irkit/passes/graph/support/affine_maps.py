"""Scales and shifts by constants, one for each index of an axis."""

from typing import NamedTuple

import numpy as np

from irkit.graph import Array, Match, Pattern, Value, attributes, either, extents_of, known, op


class AffineMap(NamedTuple):
    """A scale and a shift for each index of one axis, in f64."""

    scale: Array
    shift: Array


def affine(inner: Pattern, name: str = "affine") -> Pattern:
    """Return the pattern of something that is scaled or shifted by constants."""
    statistics = [known(f"{name}_{each}") for each in ("scale", "shift", "mean", "var")]
    return either(
        op("multiply add", inner, known(f"{name}_k"), name=name, commutative=True),
        op("divide subtract", inner, known(f"{name}_k"), name=name),
        op("batch_norm", inner, *statistics, name=name),
    )


def read_affine(m: Match, value: Value, axis: int, name: str = "affine") -> AffineMap | None:
    """Return the scale and shift along an axis of a value by the step that :func:`affine` matched;
    None if they vary along another one, or if a number is not finite. A scalar that the step
    broadcasts has no such axis."""
    extents, step = extents_of(value), m.op(name)
    rank = len(extents)
    extent = extents[axis] if -rank <= axis < rank else None
    if extent is None:
        return None
    with np.errstate(all="ignore"):
        if step.name == "batch_norm":
            if axis % rank != 1:
                return None
            scale, shift, mean, var = (
                m.array(f"{name}_{each}").astype(np.float64)
                for each in ("scale", "shift", "mean", "var")
            )
            factor = scale / np.sqrt(var + attributes(step).float("epsilon"))
            found = AffineMap(factor, shift - mean * factor)
        else:
            k = along_axis(m.array(f"{name}_k"), axis % rank, rank, extent)
            if k is None:
                return None
            one, none = np.ones_like(k), np.zeros_like(k)
            found = {
                "multiply": AffineMap(k, none),
                "divide": AffineMap(1 / k, none),
                "add": AffineMap(one, k),
                "subtract": AffineMap(one, -k),
            }[step.name]
    return found if is_finite(*found) else None


def along_axis(array: Array, axis: int, rank: int, extent: int) -> Array | None:
    """Return an array that broadcasts along one axis as one number for each of its indices."""
    shape = (1,) * (rank - array.ndim) + array.shape
    if len(shape) != rank or any(n != 1 for at, n in enumerate(shape) if at != axis):
        return None
    return np.broadcast_to(array.astype(np.float64).reshape(-1), (extent,))


def is_finite(*arrays: Array) -> bool:
    return all(bool(np.all(np.isfinite(array))) for array in arrays)
