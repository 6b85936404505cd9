"""Arguments to try a function on: whole numbers, fractions, and special values of floats.

Whole numbers come first and make up at least half of the sets: sums and products of small ones are
exact in any order, so any difference is an error.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import Any, Literal, cast

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from irkit.core import IRKitError, ShapeError, walk
from irkit.debug.execution.edge_values import Array, edges_of, integer_edges
from irkit.debug.execution.parameter_roles import steering
from irkit.ir import Buffer, DType, Expr, PrimFunc, Var, as_int, evaluate, numpy_dtype, shape_vars
from irkit.runtime import with_strides

Drawing = Callable[[Buffer | Var, tuple[int, ...]], Array]  # The values of a parameter.
InputKind = Literal[
    "whole numbers", "fractions", "special values", "edges", "sparse values", "given"
]
INPUT_KINDS: tuple[InputKind, ...] = (
    "whole numbers",
    "fractions",
    "whole numbers",
    "special values",
)
SIZES = (3, 5, 2, 7, 4, 6, 1)
LARGER = (8, 17, 16, 9, 3, 4, 5)
INTEGERS = ((-4, 9), (0, 3), (0, 1))
MAX_BYTES = 1 << 29


class TooLarge(IRKitError):
    """Raised when arguments would take more memory than a check may use."""


class InputSet(msgspec.Struct, frozen=True):
    """Arguments of one call, in the order of the parameters.

    ``kind`` decides how exactly results must agree. ``name`` is for messages and includes the sizes
    of symbolic dimensions.
    """

    name: str
    kind: InputKind
    args: tuple[Any, ...]

    def copied(self) -> list[Any]:
        """Copy the arguments, including the layout of arrays: a call changes them."""
        return [arg if isinstance(arg, (bool, int, float)) else copied(arg) for arg in self.args]


def copied(array: Array) -> Array:
    """Copy an array, including its strides."""
    return array.copy() if array.flags.c_contiguous else with_strides(array, array.strides)


def input_sets(
    func: PrimFunc,
    given: Mapping[str, ArrayLike] | None = None,
    *,
    dims: Mapping[str, int] | None = None,
    seed: int = 0,
    samples: int = 4,
    integers: tuple[int, int] = INTEGERS[0],
) -> list[InputSet]:
    """Make sets of arguments, or one set if ``given`` names some of them; the rest is fractions.

    Symbolic dimensions are small and differ from set to set, except those in ``dims``; symbolic
    strides leave gaps in every other set. Integers are drawn from a range; among special values,
    those that are no indices or bounds are at the edges of their types. Names that the function
    does not have are ignored. Raises: ShapeError for an array that does not fit; TooLarge.
    """
    fixed = dict(dims or {})
    names = {param.name for param in func.params}
    arrays = {name: np.asarray(value) for name, value in (given or {}).items() if name in names}
    if arrays:
        sizes = sizes_of(func, fixed, arrays, SIZES)
        drawn = _drawing(func, "fractions", np.random.default_rng(seed), integers)
        args = arguments_of(func, sizes, drawn, arrays)
        return [InputSet("given", "given", args)]
    result: list[InputSet] = []
    for number in range(samples):
        kind = INPUT_KINDS[number % len(INPUT_KINDS)]
        rng = np.random.default_rng((abs(seed), number))
        wanted = SIZES if number == 0 else LARGER if number == 1 else rng.permutation(SIZES)
        sizes = sizes_of(func, fixed, {}, [int(size) for size in wanted], gap=number % 2)
        args = arguments_of(func, sizes, _drawing(func, kind, rng, integers), {})
        shown = ", ".join(f"{var.name}={size}" for var, size in sizes.items())
        result.append(InputSet(f"{kind} {number}" + (f" ({shown})" if shown else ""), kind, args))
    return result


def input_names(func: PrimFunc) -> set[str]:
    """Return the names of the inputs and dimensions of a function."""
    return {param.name for param in func.params} | {var.name for var in shape_vars(func)}


def size_vars(func: PrimFunc) -> list[Var]:
    """Return the variables that sizes depend on: symbolic dimensions, and scalar parameters in
    shapes."""
    buffers = [param for param in func.params if isinstance(param, Buffer)]
    as_dims = {dim for param in buffers for dim in param.shape if isinstance(dim, Var)}
    found = [var for var in shape_vars(func) if var in as_dims]
    used = {v for param in buffers for dim in _layout(param) for v in walk(dim, Var)}
    return found + [param for param in func.params if isinstance(param, Var) and param in used]


def _layout(buffer: Buffer) -> tuple[Expr, ...]:
    return *buffer.shape, *(buffer.strides or ())


def sizes_of(
    func: PrimFunc,
    dims: Mapping[str, int],
    given: Mapping[str, Array],
    wanted: Sequence[int],
    *,
    gap: int = 0,
) -> dict[Var, int]:
    """Choose the value of each variable of ``size_vars``, then strides, with ``gap`` elements
    between rows."""
    known: dict[Var, int] = {}
    buffers = [param for param in func.params if isinstance(param, Buffer)]
    for param in buffers:
        shape = given[param.name].shape if param.name in given else ()
        known.update({d: n for d, n in zip(param.shape, shape, strict=False) if isinstance(d, Var)})
    sizes = cycle(wanted)
    for var in size_vars(func):
        if var.name in given and var in func.params:
            known[var] = int(given[var.name])
        elif var not in known:
            known[var] = dims[var.name] if var.name in dims else next(sizes)
    for param in buffers:
        step = 1 + gap
        axes = list(zip(param.shape, param.strides or (), strict=False))
        for dim, stride in reversed(axes):
            if isinstance(stride, Var):
                known.setdefault(stride, dims.get(stride.name, step))
            step = max(1, dim_size(dim, known)) * dim_size(stride, known) + gap
    return known


def dim_size(dim: Expr, known: Mapping[Var, int]) -> int:
    """Compute a dimension from the known variables."""
    if isinstance(dim, Var):
        return known[dim]
    constant = as_int(dim)
    return constant if constant is not None else int(evaluate(dim, known))


def _drawing(
    func: PrimFunc, kind: InputKind, rng: np.random.Generator, integers: tuple[int, int]
) -> Drawing:
    special = kind == "special values"
    small = steering(func) if special else set[Var | Buffer]()

    def drawn(param: Buffer | Var, shape: tuple[int, ...]) -> Array:
        if special and param.dtype.is_integer and param not in small:
            return rng.choice(integer_edges(param.dtype, edges_of([func])), size=shape)
        return draw_values(param.dtype, shape, kind, rng, integers)

    return drawn


def arguments_of(
    func: PrimFunc,
    sizes: Mapping[Var, int],
    drawn: Drawing,
    given: Mapping[str, Array],
    *,
    max_bytes: int = MAX_BYTES,
) -> tuple[Any, ...]:
    """Return the arguments of a call: those ``given`` by name, sizes, and all others drawn.

    Raises: ShapeError, TooLarge.
    """
    result: list[Any] = []
    left = max_bytes
    for param in func.params:
        shape: tuple[int, ...] = ()
        if isinstance(param, Buffer):
            shape = tuple(dim_size(dim, sizes) for dim in param.shape)
        left -= int(np.prod(shape, dtype=object)) * numpy_dtype(param.dtype).itemsize
        if left < 0 or min(shape, default=0) < 0:
            raise TooLarge(
                f"cannot generate {param.name!r} of shape {list(shape)} for a check",
                hint="Set sizes with dims, or check a smaller function.",
                span=func.span,
            )
        if param.name in given:
            result.append(_checked_input(param, given[param.name], shape, sizes))
            continue
        if isinstance(param, Var) and param in sizes:
            result.append(sizes[param])
            continue
        values = drawn(param, shape)
        if isinstance(param, Buffer):
            result.append(lay_out(param, values, sizes))
        else:
            result.append(values.item())
    return tuple(result)


def _checked_input(
    param: Buffer | Var, value: Array, shape: tuple[int, ...], sizes: Mapping[Var, int]
) -> Any:
    wanted = numpy_dtype(param.dtype)
    if value.dtype != wanted or value.shape != shape:
        raise ShapeError(
            f"input {param.name!r} must be {wanted}{list(shape)}, found "
            f"{value.dtype}{list(value.shape)}"
        )
    return lay_out(param, value, sizes) if isinstance(param, Buffer) else value.item()


def lay_out(buffer: Buffer, values: Array, sizes: Mapping[Var, int]) -> Array:
    """Return an array in the layout given by the strides of its buffer."""
    if buffer.strides is None or 0 in values.shape:
        return values
    steps = tuple(dim_size(stride, sizes) * values.itemsize for stride in buffer.strides)
    return with_strides(values, steps)


def draw_values(
    dtype: DType,
    shape: tuple[int, ...],
    kind: InputKind,
    rng: np.random.Generator,
    integers: tuple[int, int],
) -> Array:
    """Draw values of a type; integers come from the range for every kind."""
    numpy_type = numpy_dtype(dtype)
    low, high = integers
    if dtype.is_bool:
        return rng.integers(0, 2, size=shape).astype(numpy_type)
    if not dtype.is_float:
        low = max(low, 0) if dtype.kind == "u" else low
        return rng.integers(low, high, size=shape).astype(numpy_type)
    if kind == "whole numbers":
        bound = 3 if dtype.bits == 16 else 8
        return rng.integers(-bound, bound + 1, size=shape).astype(numpy_type)
    if kind == "special values":
        # Shuffle first, or a small array would always hold the first few values.
        some = np.resize(rng.permutation(_special(dtype)), max(1, _count(shape)))
        return rng.permutation(some)[: _count(shape)].reshape(shape)
    return rng.uniform(-4, 4, size=shape).astype(numpy_type)


def _count(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=np.int64))


def _special(dtype: DType) -> Array:
    """List the special values of a float type."""
    kind = numpy_dtype(dtype)
    bits = f"u{kind.itemsize}"
    one = np.asarray(1.0, kind)
    infinity = np.asarray(np.inf, kind)
    integer = cast(Any, infinity.view(bits))
    largest = (integer - 1).astype(bits).view(kind)
    tiniest = np.asarray(1, bits).view(kind)
    below_one = (cast(Any, one.view(bits)) - 1).astype(bits).view(kind)
    parts = [0.0, one, infinity, largest, tiniest, below_one, 0.5, 3.0]
    positive = np.array([np.asarray(part).astype(kind) for part in parts], kind)
    # NaN twice, as often as infinity.
    return np.concatenate([positive, -positive, np.array([np.nan, np.nan], kind)])
