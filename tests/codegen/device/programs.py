# ruff: noqa: E501 -- lines of IR text
"""Functions whose loops are bound to blocks and threads, and arguments for them."""

from typing import Any

import numpy as np

from irkit.ir import Buffer, PrimFunc, as_int, interpret, numpy_dtype, parse
from irkit.phases import DEFAULT

ELEMENTWISE = parse(
    """
def elementwise(n: i64, A: f32[n], B: f32[n], C: f32[n], s: f32):
    for b in thread(0, (n + 31) // 32, "blockIdx.x"):
        for t in thread(0, 32, "threadIdx.x"):
            if b * 32 + t < n:
                C[b * 32 + t] = A[b * 32 + t] * s + B[b * 32 + t] / A[b * 32 + t]
"""
)
SUM = parse(
    """
def row_sums(A: f32[5, 70], C: f32[5]):
    for i in thread(0, 5, "blockIdx.x"):
        for t in thread(0, 16, "threadIdx.x"):
            for r in serial(0, 5):
                with block("C"):
                    vi = axis.spatial(5, i)
                    vk = axis.reduce(70, r * 16 + t)
                    where(r * 16 + t < 70)
                    with init():
                        C[vi] = f32(0.0)
                    C[vi] = C[vi] + A[vi, vk]
"""
)
SOFTMAX = parse(
    """
def softmax(A: f32[6, 37], C: f32[6, 37]):
    for i in thread(0, 6, "blockIdx.x"):
        top = alloc(f32[1], scope="shared")
        total = alloc(f32[1], scope="shared")
        for t in thread(0, 8, "threadIdx.x"):
            for r in serial(0, 5):
                with block("top"):
                    vk = axis.reduce(37, r * 8 + t)
                    vi = axis.spatial(6, i)
                    where(r * 8 + t < 37)
                    with init():
                        top[0] = f32(-1000000.0)
                    top[0] = max(top[0], A[vi, vk])
        for t in thread(0, 8, "threadIdx.x"):
            for r in serial(0, 5):
                with block("e"):
                    vk = axis.spatial(37, r * 8 + t)
                    vi = axis.spatial(6, i)
                    where(r * 8 + t < 37)
                    C[vi, vk] = exp(A[vi, vk] - top[0])
        for t in thread(0, 8, "threadIdx.x"):
            for r in serial(0, 5):
                with block("total"):
                    vk = axis.reduce(37, r * 8 + t)
                    vi = axis.spatial(6, i)
                    where(r * 8 + t < 37)
                    with init():
                        total[0] = f32(0.0)
                    total[0] = total[0] + C[vi, vk]
        for t in thread(0, 8, "threadIdx.x"):
            for r in serial(0, 5):
                with block("divided"):
                    vk = axis.spatial(37, r * 8 + t)
                    vi = axis.spatial(6, i)
                    where(r * 8 + t < 37)
                    C[vi, vk] = C[vi, vk] / total[0]
"""
)
TWO = parse(
    """
def two(A: f32[64], C: f32[64], D: i32[64], E: bool[64]):
    for step in serial(0, 3):
        M = alloc(f32[64])
        for b in thread(0, 4, "blockIdx.x"):
            for v in vectorized(0, 16):
                M[b * 16 + v] = A[b * 16 + v] * f32(0.5) + C[b * 16 + v]
                D[b * 16 + v] = select(A[b * 16 + v] > f32(0.5), cast(A[b * 16 + v] * f32(10.0), i32), D[b * 16 + v] * 3)
                E[b * 16 + v] = D[b * 16 + v] > 7
        for b in thread(0, 8, "blockIdx.x"):
            for t in thread(0, 8, "threadIdx.x"):
                C[b * 8 + t] = M[63 - (b * 8 + t)]
"""
)
HALF = parse(
    """
def half(A: f16[24], B: bf16[24], C: f16[24], D: bf16[24]):
    for t in thread(0, 24, "threadIdx.x"):
        C[t] = A[t] * A[t] + f16(0.25)
        D[t] = B[t] / cast(A[t], bf16)
"""
)


def product(m: int, n: int, k: int, tile: int = 16, own: int = 2, step: int = 8) -> PrimFunc:
    """Return a tiled product: a block computes a tile from panels in shared memory, each thread
    ``own`` x ``own`` elements in memory of its own. ``tile * step`` is a multiple of its threads."""
    side = tile // own
    threads = side * side
    return parse(
        f"""
def product(A: f32[{m}, {k}], B: f32[{k}, {n}], C: f32[{m}, {n}]):
    for by in thread(0, {-(-m // tile)}, "blockIdx.y"):
        for bx in thread(0, {-(-n // tile)}, "blockIdx.x"):
            for ty in thread(0, {side}, "threadIdx.y"):
                for tx in thread(0, {side}, "threadIdx.x"):
                    rows = alloc(f32[{tile}, {step}], scope="shared")
                    columns = alloc(f32[{step}, {tile}], scope="shared")
                    acc = alloc(f32[{own}, {own}], scope="local")
                    for i in unrolled(0, {own}):
                        for j in unrolled(0, {own}):
                            acc[i, j] = f32(0.0)
                    for far in serial(0, {-(-k // step)}):
                        evaluate(barrier())
                        for u in serial(0, {tile * step // threads}):
                            q: i64 = u * {threads} + ty * {side} + tx
                            r: i64 = by * {tile} + q // {step}
                            c: i64 = far * {step} + q % {step}
                            rows[q // {step}, q % {step}] = A[r, c] if r < {m} and c < {k} else f32(0.0)
                            d: i64 = far * {step} + q // {tile}
                            e: i64 = bx * {tile} + q % {tile}
                            columns[q // {tile}, q % {tile}] = B[d, e] if d < {k} and e < {n} else f32(0.0)
                        evaluate(barrier())
                        for near in serial(0, {step}):
                            for i in unrolled(0, {own}):
                                for j in unrolled(0, {own}):
                                    acc[i, j] = acc[i, j] + rows[ty * {own} + i, near] * columns[near, tx * {own} + j]
                    for i in unrolled(0, {own}):
                        for j in unrolled(0, {own}):
                            if by * {tile} + ty * {own} + i < {m} and bx * {tile} + tx * {own} + j < {n}:
                                C[by * {tile} + ty * {own} + i, bx * {tile} + tx * {own} + j] = acc[i, j]
"""
    )


PRODUCT = product(37, 29, 21)
PROGRAMS = (ELEMENTWISE, SUM, SOFTMAX, TWO, HALF, PRODUCT)


def drawn(func: PrimFunc, seed: int = 3) -> list[Any]:
    """Return random arguments, with fractions; the size of a symbolic dimension is 77."""
    rng = np.random.default_rng(seed)
    found: list[Any] = []
    for param in func.params:
        if isinstance(param, Buffer):
            shape = tuple(as_int(dim) or 77 for dim in param.shape)
            values = rng.uniform(-3, 3, shape)
            found.append(values.astype(numpy_dtype(param.dtype)))
        else:
            found.append(1.25 if param.dtype.is_float else 77)
    return found


def expected(func: PrimFunc, args: list[Any]) -> list[Any]:
    """Return what the interpreter makes of arguments, by the phases of a processor: as written,
    threads are in lockstep, which the interpreter is not."""
    made = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    with np.errstate(all="ignore"):
        interpret(DEFAULT.run(func), *made)
    return made


def assert_equal(func: PrimFunc, found: list[Any], wanted: list[Any], ulps: float = 0) -> None:
    """Compare arrays bit for bit, or within so many units in the last place."""
    for got, want in zip(found, wanted, strict=True):
        if not isinstance(got, np.ndarray):
            continue
        one, two = got.astype("f8"), want.astype("f8")
        if ulps:
            unit = np.spacing(np.abs(want).astype("f4")).astype("f8")
            assert (np.abs(one - two) <= ulps * unit).all(), func.name
        else:
            np.testing.assert_array_equal(one, two, func.name)
