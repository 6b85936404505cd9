"""Arguments for a random program: sizes of symbolic extents, and numbers that suit its theme."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from irkit.core import walk
from irkit.debug import InputKind, InputSet, dim_size, draw_values, lay_out
from irkit.fuzz.generators.sample import Array
from irkit.fuzz.generators.stages.theme import Numbers
from irkit.fuzz.picks import Picks
from irkit.ir import Allocate, Buffer, DType, PrimFunc, Var, numpy_dtype, shape_vars

_SIZES = (3, 5, 1, 8, 2, 4, 7, 6, 0)
_FALLBACK = 3
_SEEDS = 1 << 16
INTEGERS = (-4, 9)
_RUNGS: dict[Numbers, InputKind] = {
    "whole": "whole numbers",
    "integers": "whole numbers",
    "fractions": "fractions",
    "special": "special values",
}


def draw_arguments(
    func: PrimFunc,
    picks: Picks,
    numbers: Numbers = "whole",
    *,
    empty: bool = True,
    integers: tuple[int, int] = INTEGERS,
) -> InputSet:
    """Draw a set of arguments; outputs hold numbers too, which must not matter.

    ``empty`` allows symbolic extents of 0. ``integers`` is the range of small integers.
    """
    known = draw_sizes(func, picks, empty=empty)
    rng = np.random.default_rng(picks.below(_SEEDS))
    args: list[Any] = []
    for param in func.params:
        if isinstance(param, Buffer):
            shape = tuple(dim_size(dim, known) for dim in param.shape)
            values = draw_array(param.dtype, shape, numbers, rng, integers)
            args.append(lay_out(param, values, known))
        elif param in known:
            args.append(known[param])
        else:
            args.append(draw_array(param.dtype, (), numbers, rng, integers).item())
    sizes = ", ".join(f"{var.name}={size}" for var, size in known.items())
    return InputSet(numbers + (f" ({sizes})" if sizes else ""), _RUNGS[numbers], tuple(args))


def draw_sizes(func: PrimFunc, picks: Picks, *, empty: bool = True) -> dict[Var, int]:
    """Draw symbolic extents, 0 only where no buffer gets a negative extent from it."""
    names = shape_vars(func)
    known = {var: picks.pick(_SIZES) for var in names}
    if 0 in known.values() and not (empty and _is_sound(func, known)):
        known = {var: size or _FALLBACK for var, size in known.items()}
    return known if _is_sound(func, known) else dict.fromkeys(names, _FALLBACK)


def _is_sound(func: PrimFunc, known: Mapping[Var, int]) -> bool:
    if not known:
        return True
    inner = [node.buffer for node in walk(func.body, on=Allocate)]
    buffers = [*inner, *(param for param in func.params if isinstance(param, Buffer))]
    sizes = [dim_size(dim, known) for buffer in buffers for dim in buffer.shape]
    return min(sizes, default=0) >= 0


def draw_array(
    dtype: DType,
    shape: Sequence[int],
    numbers: Numbers,
    rng: np.random.Generator,
    integers: tuple[int, int] = INTEGERS,
) -> Array:
    """Draw an array; integers in range ``integers`` can have any value, with many at the ends of
    their type."""
    if numbers == "integers" and not dtype.is_float and not dtype.is_bool:
        return _integers(dtype, tuple(shape), rng)
    found = draw_values(dtype, tuple(shape), _RUNGS[numbers], rng, integers)
    if numbers != "special" or not dtype.is_float:
        return found
    return np.where(rng.integers(0, 4, size=shape) == 0, _any_bits(found, rng), found)


def _any_bits(like: Array, rng: np.random.Generator) -> Array:
    """Return floats of any bits: of every exponent as often as of another. NaN is a quiet one."""
    bits = np.dtype(f"u{like.dtype.itemsize}")
    drawn = rng.integers(0, np.iinfo(bits).max, size=like.shape, dtype=bits, endpoint=True)
    found = drawn.view(like.dtype)
    with np.errstate(invalid="ignore"):
        return np.where(np.isnan(found), np.array(np.nan, like.dtype), found)


def _integers(dtype: DType, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    kind, low, high = numpy_dtype(dtype), dtype.low, dtype.high
    edges = np.array([low, high, low + 1, high - 1, 0, 1, max(low, -1), dtype.bits], kind)
    anything = rng.integers(low, high, size=shape, dtype=kind, endpoint=True)
    small = rng.integers(max(low, -9), 10, size=shape).astype(kind)
    which = rng.integers(0, 5, size=shape)
    found = np.where(which == 0, anything, small)
    return np.where(which == 1, rng.choice(edges, size=shape), found).astype(kind)
