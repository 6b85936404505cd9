"""Functions whose extents come from arrays without elements, and can be larger than any memory.

An array of shape (0, n) binds n to 2**32 at no cost, and a size computed from n must not wrap
around: the buffer would be too small. Only the first elements of a buffer and its last one are
accessed, so the results are the same for all large extents.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from irkit.fuzz.generators.sample import Array
from irkit.fuzz.picks import Picks
from irkit.ir import (
    BF16,
    F32,
    F64,
    I64,
    U8,
    Allocate,
    Buffer,
    Const,
    Expr,
    For,
    If,
    LoopKind,
    PrimFunc,
    Stmt,
    Store,
    Var,
    View,
    as_int,
    cast,
    ge,
    interpret,
    logical_and,
    minimum,
    numpy_dtype,
    seq,
    shape_vars,
)

_FEW = 3
"""Loops run over so many elements of each dimension."""
_ENOUGH = _FEW + 1
"""An extent beyond this gives the results of this one."""
_COUNT = 4
_EXTENTS = (_ENOUGH, 0, 1 << 32, (1 << 32) + 1, 1 << 31, (1 << 32) - 1, 1, (1 << 31) + 1, 1 << 33)
_FAR = (1 << 40, 3 << 47, 1 << 60, 1 << 62)
_LONGEST = 1 << 63
_ZERO = Const(0, I64)
_KINDS: tuple[LoopKind, ...] = ("serial", "serial", "serial", "unrolled", "parallel")


def large_function(picks: Picks) -> PrimFunc:
    """Make a function of two or three extents, each bound by an array without elements."""
    symbols = [Var(name) for name in "nmk"[: 2 + picks.below(2)]]
    carriers = [_carrier(picks, at, symbol) for at, symbol in enumerate(symbols)]
    given, result = (Buffer(name, (Const(_COUNT, I64),), F32) for name in "AC")
    body = seq()
    for name in "TU"[: 1 + picks.below(2)]:
        buffer = _buffer(picks, name, symbols)
        used = _used(picks, buffer, given, result)
        if picks.below(2):  # Both live at once, or one after the other.
            body = Allocate(buffer, seq(used, body))
        else:
            body = seq(Allocate(buffer, used), body)
    if picks.one_in(3):
        body = For(Var("s"), _ZERO, Const(2, I64), body)
    return PrimFunc("f", (*carriers, given, result), body, (("outputs", (len(carriers) + 1,)),))


def _carrier(picks: Picks, number: int, symbol: Var) -> Buffer:
    shape = picks.pick(((_ZERO, symbol), (symbol, _ZERO), (Const(1, I64), symbol, _ZERO)))
    return Buffer(f"E{number}", shape, picks.pick((U8, F32, F64)))


def _buffer(picks: Picks, name: str, symbols: Sequence[Var]) -> Buffer:
    dims: list[Expr] = [*symbols, *symbols, Const(2, I64), symbols[0] + 1]
    shape = tuple([picks.pick(dims) for _ in range(1 + picks.below(3))])
    strides: tuple[Expr, ...] | None = None
    if len(shape) == 2 and picks.one_in(3):
        one = Const(1, I64)
        strides = picks.pick(((shape[1] + 1, one), (one, shape[0] + 2), (shape[1], one)))
    dtype, scope = picks.pick((F32, U8, F64, BF16)), picks.pick(("global", "local"))
    return Buffer(name, shape, dtype, scope, strides)


def _used(picks: Picks, buffer: Buffer, given: Buffer, result: Buffer) -> Stmt:
    """Write some elements of a buffer, perhaps through a view, and add them to the result."""
    seen = buffer
    if buffer.strides is None and picks.one_in(3):
        shape = tuple(reversed(buffer.shape))
        seen = Buffer(f"{buffer.name}_view", shape, buffer.dtype, buffer.scope)

    def write(at: tuple[Expr, ...]) -> Stmt:
        return Store(seen, at, cast(given[_element(at)], seen.dtype))

    def read(at: tuple[Expr, ...]) -> Stmt:
        place = _element(at)
        return Store(result, (place,), result[place] + cast(seen[at], F32))

    made = [_over(seen, write, picks.pick(_KINDS)), _over(seen, read, "serial")]
    symbolic = [dim for dim in seen.shape if as_int(dim) is None]
    if symbolic:  # The last element is none of the first.
        enough = logical_and(*[ge(dim, _ENOUGH) for dim in symbolic])
        last = tuple([dim - 1 for dim in seen.shape])
        value = Store(result, (_ZERO,), result[_ZERO] + cast(seen[last], F32))
        made.append(If(enough, seq(Store(seen, last, cast(given[1], seen.dtype)), value)))
    body = seq(*made)
    return body if seen is buffer else View(seen, buffer, _ZERO, body)


def _element(at: tuple[Expr, ...]) -> Expr:
    # Of the first indices only: the last one depends on the extent.
    return sum(at[1:], at[0]) % _COUNT


def _over(buffer: Buffer, make: Callable[[tuple[Expr, ...]], Stmt], kind: LoopKind) -> Stmt:
    """Loop over the first elements of a buffer."""
    loops = [Var(name) for name in "ijl"[: buffer.rank]]
    body = make(tuple(loops))
    for number, (var, dim) in reversed(list(enumerate(zip(loops, buffer.shape, strict=True)))):
        body = For(var, _ZERO, minimum(dim, _FEW), body, "serial" if number else kind)
    return body


def draw_extents(func: PrimFunc, picks: Picks) -> dict[Var, int]:
    """Draw extents, as large as NumPy allows in an array without elements."""
    found: dict[Var, int] = {}
    for var in shape_vars(func):
        widest = max(
            param.dtype.bytes
            for param in func.params
            if isinstance(param, Buffer) and var in param.shape
        )
        pool = _FAR if picks.one_in(3) else _EXTENTS
        found[var] = picks.pick([size for size in pool if size * widest < _LONGEST])
    return found


def small_extents(func: PrimFunc) -> dict[Var, int]:
    """Return extents with the results of all large ones."""
    return dict.fromkeys(shape_vars(func), _ENOUGH)


def large_arguments(func: PrimFunc, extents: dict[Var, int]) -> tuple[Any, ...]:
    """Return arguments with some extents; what is read and added are whole numbers."""
    made: list[Any] = []
    for param in func.params:
        assert isinstance(param, Buffer)
        shape = [extents[dim] if isinstance(dim, Var) else as_int(dim) or 0 for dim in param.shape]
        array = np.zeros(shape, numpy_dtype(param.dtype))
        if array.size:
            array[...] = np.arange(1, _COUNT + 1)
        made.append(array)
    return tuple(made)


def results_of(func: PrimFunc, extents: dict[Var, int]) -> Array:
    """Compute the result for extents of any size, with smaller ones."""
    args = large_arguments(func, {var: min(size, _ENOUGH) for var, size in extents.items()})
    interpret(func, *args)
    return args[-1]
