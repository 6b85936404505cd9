"""The tensor intrinsics that come with irkit."""

from functools import cache

from irkit.ir import parse
from irkit.schedule.arguments.dot_intrinsics import dot_intrinsics
from irkit.schedule.arguments.intrinsics import Intrinsics, TensorIntrin

_MATMUL = """def matmul(A: f32[4, 4], B: f32[4, {n}], C: f32[4, {n}]):
    for i in serial(0, 4):
        for j in serial(0, {n}):
            for k in serial(0, 4):
                C[i, j] = C[i, j] + A[i, k] * B[k, j]
"""

_MATMUL_VECTORS = """def matmul(A: f32[4, 4], B: f32[4, {n}], C: f32[4, {n}]):
    for i in unrolled(0, 4):
        for k in unrolled(0, 4):
            row: f32x{n} = broadcast(A[i, k], {n}) * B[k, ramp(0, 1, {n})]
            C[i, ramp(0, 1, {n})] = C[i, ramp(0, 1, {n})] + row
"""

_DOT = """def dot(A: {a}[4], B: i8[4], C: i32[1]):
    for k in serial(0, 4):
        C[0] = C[0] + cast(A[k], i32) * cast(B[k], i32)
"""

_DOT_AT_ONCE = """def dot(A: {a}[4], B: i8[4], C: i32[1]):
    low: i32 = cast(A[0], i32) * cast(B[0], i32) + cast(A[1], i32) * cast(B[1], i32)
    high: i32 = cast(A[2], i32) * cast(B[2], i32) + cast(A[3], i32) * cast(B[3], i32)
    C[0] = C[0] + (low + high)
"""

_DOTS = """def dots(A: u8[4], B: i8[16, 4], C: i32[16]):
    for j in serial(0, 16):
        for k in serial(0, 4):
            C[j] = C[j] + cast(A[k], i32) * cast(B[j, k], i32)
"""

_DOTS_AT_ONCE = """def dots(A: u8[4], B: i8[16, 4], C: i32[16]):
    for k in unrolled(0, 4):
        row: i32x16 = cast(B[ramp(0, 1, 16), k], i32x16)
        C[ramp(0, 1, 16)] = C[ramp(0, 1, 16)] + broadcast(cast(A[k], i32), 16) * row
"""


@cache
def builtin_intrinsics() -> Intrinsics:
    """Return the intrinsics that come with irkit: f32 tiles of a matrix product as vectors, dot
    products of bytes, and those of the instructions of processors."""
    tiles = [
        TensorIntrin(
            f"matmul_4x{n}x4_f32",
            parse(_MATMUL.format(n=n)),
            parse(_MATMUL_VECTORS.format(n=n)),
        )
        for n in (4, 8, 16)
    ]
    dots = [
        TensorIntrin(name, parse(_DOT.format(a=a)), parse(_DOT_AT_ONCE.format(a=a)))
        for name, a in (("dot_4_i8", "i8"), ("dot_4_u8i8", "u8"))
    ]
    rows = TensorIntrin("dot_16x4_u8i8", parse(_DOTS), parse(_DOTS_AT_ONCE))
    return Intrinsics([*tiles, *dots, rows, *dot_intrinsics()])
