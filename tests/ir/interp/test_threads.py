"""Thread loops: threads of a nest run side by side and meet at barriers."""

import numpy as np
import pytest

from irkit.core import IRKitError
from irkit.ir import (
    I64,
    Allocate,
    Buffer,
    Const,
    Evaluate,
    For,
    If,
    PrimFunc,
    Stmt,
    Store,
    Var,
    call,
    index,
    interpret,
    lt,
    seq,
)


def buffer(name: str, size: int, scope: str = "global") -> Buffer:
    return Buffer(name, (Const(size, I64),), I64, scope)


def threads(var: Var, end: int, body: Stmt, name: str = "threadIdx.x") -> For:
    return For(var, index(0), index(end), body, "thread", name)


def barrier() -> Stmt:
    return Evaluate(call("barrier"))


def test_threads_see_what_others_stored_before_the_barrier() -> None:
    shared, out, t = buffer("s", 8, "shared"), buffer("out", 8), Var("t")
    body = seq(Store(shared, (t,), t * t), barrier(), Store(out, (t,), shared[7 - t]))
    array = np.zeros(8, np.int64)
    interpret(PrimFunc("f", (out,), Allocate(shared, threads(t, 8, body))), array)
    assert array.tolist() == [(7 - at) ** 2 for at in range(8)]


def test_shared_memory_allocated_inside_is_one_for_the_nest_and_local_one_for_each_thread() -> None:
    shared, local, out = buffer("s", 4, "shared"), buffer("l", 1, "local"), buffer("out", 4)
    t, zero = Var("t"), Const(0, I64)
    body = seq(
        Store(shared, (t,), t + 10),
        Store(local, (zero,), t * 100),
        barrier(),
        Store(out, (t,), shared[3 - t] + local[0]),
    )
    array = np.zeros(4, np.int64)
    nest = threads(t, 4, Allocate(shared, Allocate(local, body)))
    interpret(PrimFunc("f", (out,), nest), array)
    assert array.tolist() == [13, 112, 211, 310]


def test_a_barrier_in_a_serial_loop_holds_back_every_thread_each_time() -> None:
    a, t, k = buffer("A", 8), Var("t"), Var("k")
    step = Const(1, I64) << k
    add = If(lt(step - 1, t), Store(a, (t,), a[t] + a[t - step]))
    # Without the barriers no order of threads computes a prefix sum.
    tmp = buffer("tmp", 8, "shared")
    gather = Store(tmp, (t,), a[t])
    add = If(lt(step - 1, t), Store(a, (t,), tmp[t] + tmp[t - step]))
    body = For(k, index(0), index(3), seq(gather, barrier(), add, barrier()))
    array = np.arange(1, 9)
    interpret(PrimFunc("scan", (a,), Allocate(tmp, threads(t, 8, body))), array)
    assert array.tolist() == np.cumsum(np.arange(1, 9)).tolist()


def test_nested_thread_loops_are_one_nest() -> None:
    s, out, x, y = buffer("s", 6, "shared"), buffer("out", 6), Var("x"), Var("y")
    at = x * 3 + y
    body = seq(Store(s, (at,), at), barrier(), Store(out, (at,), s[5 - at]))
    array = np.zeros(6, np.int64)
    nest = threads(x, 2, threads(y, 3, body, "threadIdx.y"))
    interpret(PrimFunc("f", (out,), Allocate(s, nest)), array)
    assert array.tolist() == [5, 4, 3, 2, 1, 0]


def test_shared_memory_allocated_between_the_loops_of_a_nest_is_one_for_all() -> None:
    s, out, x, y = buffer("s", 6, "shared"), buffer("out", 6), Var("x"), Var("y")
    at = x * 3 + y
    body = seq(Store(s, (at,), at), barrier(), Store(out, (at,), s[5 - at]))
    array = np.zeros(6, np.int64)
    inner = threads(y, 3, Allocate(s, body), "threadIdx.y")
    interpret(PrimFunc("f", (out,), threads(x, 2, inner)), array)
    assert array.tolist() == [5, 4, 3, 2, 1, 0]


def test_each_iteration_over_blocks_has_a_nest_of_its_own() -> None:
    s, out, b, t = buffer("s", 2, "shared"), buffer("out", 6), Var("b"), Var("t")
    body = seq(Store(s, (t,), b * 2 + t), barrier(), Store(out, (b * 2 + t,), s[1 - t]))
    grid = threads(b, 3, threads(t, 2, Allocate(s, body)), "blockIdx.x")
    array = np.zeros(6, np.int64)
    interpret(PrimFunc("f", (out,), grid), array)
    assert array.tolist() == [1, 0, 3, 2, 5, 4]


def test_a_barrier_that_some_threads_never_reach_is_an_error() -> None:
    t = Var("t")
    early = threads(t, 4, If(lt(t, 2), barrier()))
    with pytest.raises(IRKitError, match="some threads of the nest ended without reaching"):
        interpret(PrimFunc("f", (), early))
    split = threads(t, 4, If(lt(t, 2), barrier(), barrier()))
    with pytest.raises(IRKitError, match="wait at different barriers"):
        interpret(PrimFunc("f", (), split))


def test_too_many_threads_are_an_error() -> None:
    t = Var("t")
    with pytest.raises(IRKitError, match="would start 1099511627776 threads"):
        interpret(PrimFunc("f", (), threads(t, 1 << 40, barrier())))


def test_a_thread_loop_that_never_runs_does_nothing() -> None:
    t = Var("t")
    interpret(PrimFunc("f", (), seq(threads(t, 0, barrier()))))
