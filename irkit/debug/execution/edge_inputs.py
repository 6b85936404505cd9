"""Inputs at the edges: the limits of types, powers of two, and the constants of a program.

What goes wrong only at a width, at a tie or near a constant is not met by small numbers drawn at
random. The constants of both versions of a function count, as values and as sizes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from irkit.core import walk
from irkit.debug.execution.inputs import Array, InputSet, arguments_of, sizes_of
from irkit.ir import (
    Allocate,
    Buffer,
    Const,
    DType,
    Expr,
    For,
    Let,
    Load,
    PrimFunc,
    Store,
    Var,
    View,
    numpy_dtype,
    shape_vars,
)

LARGEST_SIZE = 300
_SIZES = (0, 1, 2, 17, 33, 130, 257)
_FRACTIONS = (1.0, 0.5, 0.05, 1e-3, 1e-6, 20.0, 90.0, 1e4)


def edge_inputs(
    versions: Sequence[PrimFunc], *, dims: Mapping[str, int], seed: int, count: int, start: int = 0
) -> list[InputSet]:
    """Make sets of arguments for a function from the constants and types in all ``versions`` of it.

    The sets are numbered from ``start``. Parameters whose values become indices, sizes or bounds of
    loops get small numbers. Raises: TooLarge.
    """
    func = versions[0]
    constants = {node.value for each in versions for node in walk(each, Const)}
    widths = _widths(versions)
    small = set[Var | Buffer]().union(*map(steering, versions))
    wanted = _wanted_sizes(constants)
    result: list[InputSet] = []
    for number in range(start, start + count):
        rng = np.random.default_rng((abs(seed), 77, number))
        chosen = [int(size) for size in rng.permutation(wanted)]
        sizes = sizes_of(func, dims, {}, chosen) if shape_vars(func) else {}

        def values(
            param: Buffer | Var, shape: tuple[int, ...], rng: np.random.Generator = rng
        ) -> Array:
            known = param not in small
            return _drawn(param.dtype, shape, rng, constants if known else (), widths, known)

        args = arguments_of(func, sizes, values, {})
        shown = ", ".join(f"{var.name}={size}" for var, size in sizes.items())
        name = f"edges {number}" + (f" ({shown})" if shown else "")
        result.append(InputSet(name, "edges", args))
    return result


def steering(func: PrimFunc) -> set[Var | Buffer]:
    """Return the parameters whose values decide what is accessed or how often: those in indices,
    sizes, offsets and bounds of loops, also through other memory and names."""
    flows: dict[Var | Buffer, set[Var | Buffer]] = {}
    reached: set[Var | Buffer] = set()
    for node in walk(func):
        match node:
            case Store():
                flows.setdefault(node.buffer, set()).update(_read_by((node.value,)))
                reached |= _read_by(node.indices)
            case Load():
                reached |= _read_by(node.indices)
            case Let():
                flows.setdefault(node.var, set()).update(_read_by((node.value,)))
            case For():
                reached |= _read_by((node.begin, node.end))
            case View():
                flows.setdefault(node.buffer, set()).add(node.source)
                flows.setdefault(node.source, set()).add(node.buffer)
                reached |= _read_by((node.offset, *node.buffer.shape))
            case Allocate():
                reached |= _read_by(node.buffer.shape)
            case _:
                pass
    todo = list(reached)
    while todo:
        for source in flows.get(todo.pop(), ()):
            if source not in reached:
                reached.add(source)
                todo.append(source)
    return {param for param in func.params if param in reached}


def _read_by(exprs: Iterable[Expr]) -> set[Var | Buffer]:
    found: set[Var | Buffer] = set()
    for expr in exprs:
        for node in walk(expr, (Var, Load)):
            found.add(node.buffer if isinstance(node, Load) else node)
    return found


def _widths(versions: Sequence[PrimFunc]) -> list[DType]:
    """Return the integer types that occur."""
    types = {node.dtype for each in versions for node in walk(each, Expr)}
    scalars = {dtype.with_lanes(1) for dtype in types if not (dtype.is_float or dtype.is_bool)}
    return sorted(scalars, key=str)


def _wanted_sizes(constants: Iterable[Any]) -> list[int]:
    near = {int(c) + d for c in constants if isinstance(c, int) for d in (-1, 0, 1)}
    return sorted({*_SIZES, *(size for size in near if 0 <= size <= LARGEST_SIZE)})


def _drawn(
    dtype: DType,
    shape: tuple[int, ...],
    rng: np.random.Generator,
    constants: Iterable[Any],
    widths: Sequence[DType],
    known: bool,
) -> Array:
    kind = numpy_dtype(dtype)
    if dtype.is_bool:
        return rng.integers(0, 2, size=shape).astype(kind)
    if not dtype.is_float:
        if not known:
            return rng.integers(0, 3, size=shape).astype(kind)
        return rng.choice(integer_edges(dtype, constants, widths), size=shape).astype(kind)
    choices = float_edges(dtype, constants)
    scale = rng.choice(np.array(_FRACTIONS), size=shape)
    drawn = np.asarray(rng.uniform(-1, 1, size=shape) * scale)
    at_edge = rng.random(size=shape) < 0.5
    with np.errstate(all="ignore"):
        return np.where(at_edge, rng.choice(choices, size=shape), drawn).astype(kind)


def integer_edges(dtype: DType, constants: Iterable[Any], widths: Sequence[DType] = ()) -> Array:
    """Return the values of an integer type at which arithmetic may go wrong, in order."""
    low, high = _limits(dtype)
    wanted = {0, 1, 2, 3, 5, 7, -1, -2, -3, -7, low, low + 1, high, high - 1}
    for narrow in widths:
        least, most = _limits(narrow)
        wanted |= {least - 1, least, least + 1, most - 1, most, most + 1}
    for bit in range(dtype.bits):
        wanted |= {1 << bit, -(1 << bit)}
    for near in (c for c in constants if isinstance(c, int)):
        wanted |= {int(near) + d for d in (-1, 0, 1)} | {-int(near)}
    return np.array(sorted(v for v in wanted if low <= v <= high), numpy_dtype(dtype))


def float_edges(dtype: DType, constants: Iterable[Any]) -> Array:
    """Return the values of a float type at which arithmetic may go wrong: zeros, and the constants
    and their neighbours."""
    kind = numpy_dtype(dtype)
    near = [c for c in constants if not isinstance(c, bool)]
    with np.errstate(all="ignore"):
        exact = np.array([0.0, -0.0, 1.0, -1.0, *near], np.float64).astype(kind)
        exact = exact[np.isfinite(exact)]
        wide = exact.astype(np.float32) if dtype.bits < 32 else exact
        around = [np.nextafter(wide, wide.dtype.type(side * np.inf)) for side in (-1, 1)]
        moved = [wide + 1, wide - 1, -wide]
        return np.concatenate([exact, *(each.astype(kind) for each in (*around, *moved))])


def _limits(dtype: DType) -> tuple[int, int]:
    if dtype.kind == "u":
        return 0, (1 << dtype.bits) - 1
    return -(1 << (dtype.bits - 1)), (1 << (dtype.bits - 1)) - 1
