"""Programs that are deep, long or shared: no pass overflows the stack or visits a node twice."""

from collections.abc import Callable
from time import perf_counter

import pytest

from irkit.core import count_nodes
from irkit.ir import (
    F32,
    I64,
    Allocate,
    Axis,
    Block,
    Buffer,
    Expr,
    For,
    If,
    Let,
    PrimFunc,
    Stmt,
    Store,
    Var,
    cast,
    const,
    if_then_else,
    lt,
    seq,
)
from irkit.phases import DEFAULT

A = Buffer("A", (const(8, I64),), F32)
C = Buffer("C", (const(8, I64),), F32)


def loop(body: Callable[[Var], Stmt]) -> PrimFunc:
    var = Var("i")
    return PrimFunc("f", (A, C), For(var, const(0, I64), const(8, I64), body(var), "vectorized"))


def deep_sum() -> PrimFunc:
    def body(i: Var) -> Stmt:
        value: Expr = A[i]
        for step in range(10_000):
            value = value + float(step % 7)
        return Store(C, (i,), value)

    return loop(body)


def deep_index() -> PrimFunc:
    def body(i: Var) -> Stmt:
        at: Expr = i
        for step in range(2_000):
            at = (at * 3 + step) % 8
        return Store(C, (at,), A[i])

    return loop(body)


def shared_squares() -> PrimFunc:
    def body(i: Var) -> Stmt:
        value: Expr = A[i]
        for _ in range(60):
            value = value * value
        return Store(C, (i,), value)

    return loop(body)


def deep_choice() -> PrimFunc:
    def body(i: Var) -> Stmt:
        value: Expr = A[i]
        for step in range(300):
            value = if_then_else(lt(A[i], float(step)), value, 1.0)
        return Store(C, (i,), value)

    return loop(body)


def first_element() -> Stmt:
    return Store(C, (const(0, I64),), A[0])


def deep_loops() -> PrimFunc:
    stmt = first_element()
    for _ in range(2_000):
        stmt = For(Var("i"), const(0, I64), const(2, I64), stmt)
    return PrimFunc("f", (A, C), stmt)


def deep_branches() -> PrimFunc:
    n = Var("n")
    stmt = first_element()
    for step in range(2_000):
        stmt = If(lt(n, 5_000 - step), stmt, None)
    return PrimFunc("f", (A, C, n), stmt)


def deep_names() -> PrimFunc:
    names = [Var(f"v{step}") for step in range(1_001)]
    stmt = first_element()
    for step in reversed(range(1_000)):
        stmt = Let(names[step + 1], names[step] + cast(A[0], I64), stmt)
    return PrimFunc("f", (A, C), Let(names[0], cast(A[1], I64), stmt))


def deep_blocks() -> PrimFunc:
    stmt = first_element()
    for _ in range(1_000):
        stmt = Block("b", (Axis(Var("v"), const(1, I64), const(0, I64)),), stmt)
    return PrimFunc("f", (A, C), stmt)


def many_buffers() -> PrimFunc:
    buffers = [Buffer(f"T{step}", (const(8, I64),), F32) for step in range(100)]
    zero = const(0, I64)
    stmt = seq(
        *[Store(buffer, (zero,), A[0]) for buffer in buffers],
        *[Store(C, (zero,), buffer[0]) for buffer in buffers],
    )
    for buffer in buffers:
        stmt = Allocate(buffer, stmt)
    return PrimFunc("f", (A, C), stmt)


HOSTILE = (
    deep_sum,
    deep_index,
    shared_squares,
    deep_choice,
    deep_loops,
    deep_branches,
    deep_names,
    deep_blocks,
    many_buffers,
)


@pytest.mark.parametrize("make", HOSTILE)
def test_all_phases_survive(make: Callable[[], PrimFunc]) -> None:
    func = make()
    size = count_nodes(func)
    started = perf_counter()
    lowered = DEFAULT.run(func, verify=False)
    # A hundred times what it takes; what is quadratic takes minutes.
    assert perf_counter() - started < 60
    assert count_nodes(lowered) <= 4 * size + 1_000
