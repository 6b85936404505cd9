"""The interpreter on whole functions: loops, blocks, memory, arguments."""

import numpy as np

from irkit.ir import (
    F32,
    I64,
    Axis,
    Block,
    Buffer,
    Const,
    Expr,
    For,
    PrimFunc,
    Stmt,
    Store,
    Var,
    index,
    interpret,
)


def n(value: int) -> Expr:
    return Const(value, I64)


def buffer(name: str, *shape: int | Expr, dtype=F32, **rest) -> Buffer:
    return Buffer(name, tuple(index(size) for size in shape), dtype, **rest)


def loop(var: Var, extent: int | Expr, body: Stmt, kind="serial", thread="") -> For:
    return For(var, n(0), index(extent), body, kind, thread)


def matmul(size: int) -> PrimFunc:
    a, b, c = (buffer(name, size, size) for name in "ABC")
    i, j, k, vi, vj, vk = (Var(name) for name in ("i", "j", "k", "vi", "vj", "vk"))
    block = Block(
        "C",
        (Axis(vi, n(size), i), Axis(vj, n(size), j), Axis(vk, n(size), k, "reduce")),
        Store(c, (vi, vj), c[vi, vj] + a[vi, vk] * b[vk, vj]),
        Store(c, (vi, vj), Const(0.0, F32)),
    )
    return PrimFunc("matmul", (a, b, c), loop(i, size, loop(j, size, loop(k, size, block))))


def test_a_block_with_init_multiplies_matrices() -> None:
    a, b = np.arange(12.0).reshape(2, 6)[:, :3], None
    a = np.arange(9, dtype=np.float32).reshape(3, 3)
    b = a[::-1].copy()
    c = np.full((3, 3), np.nan, np.float32)
    interpret(matmul(3), a, b, c)
    np.testing.assert_array_equal(c, a @ b)
