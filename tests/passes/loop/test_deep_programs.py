"""Programs that are deep, long or shared: no pass overflows the stack or visits a node twice, and
each that visits statements from the outside in goes as deep as the nest around them."""

from collections.abc import Callable
from time import perf_counter

import pytest

from irkit.core import count_nodes, same, symbols_bound
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
    parse,
    seq,
)
from irkit.passes.loop import (
    convert_ssa,
    eliminate_common_subexpressions,
    inject_double_buffers,
    inject_virtual_threads,
    instrument_bounds,
    loop_partition,
    lower_blocks,
    plan_allocations,
    simplify,
    storage_rewrite,
    thread_sync,
    unify_thread_bindings,
    unroll_loops,
    vectorize_loops,
)
from irkit.phases import DEFAULT
from tests.depth import DEPTHS
from tests.draws import sampled

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


@pytest.mark.parametrize("make", sampled(HOSTILE, every=3))
def test_all_phases_survive(make: Callable[[], PrimFunc]) -> None:
    func = make()
    size = count_nodes(func)
    started = perf_counter()
    lowered = DEFAULT.run(func, verify=False)
    # A hundred times what it takes; what is quadratic takes minutes.
    assert perf_counter() - started < 60
    assert count_nodes(lowered) <= 4 * size + 1_000


Change = Callable[[PrimFunc], PrimFunc]


INSIDE: dict[str, tuple[Change, str]] = {
    "lower_blocks": (
        lower_blocks,
        """
    with block("C"):
        v = axis.spatial(1, 0)
        C[v] = A[v]""",
    ),
    "simplify": (simplify, "C[k + 0] = A[k * 1]"),
    "instrument_bounds": (instrument_bounds, "C[k] = A[k]"),
    "eliminate_common_subexpressions": (
        eliminate_common_subexpressions,
        """
    C[k] = exp(A[k])
    C[k + 1] = exp(A[k])""",
    ),
    "loop_partition": (
        lambda func: loop_partition(func, only_vectorized=False),
        """
    for j in serial(0, 8):
        if j < 5:
            C[j] = A[j]""",
    ),
    "vectorize_loops": (
        vectorize_loops,
        """
    for j in vectorized(0, 8):
        C[j] = A[j]""",
    ),
    "unroll_loops": (
        lambda func: unroll_loops(func, auto_max_step=8),
        """
    for j in serial(0, 8):
        C[j] = A[j]""",
    ),
    "plan_allocations": (
        plan_allocations,
        """
    T = alloc(f32[8])
    C[k] = A[k]
    T[k] = A[k]
    C[k] = T[k]""",
    ),
    "storage_rewrite": (
        lambda func: storage_rewrite(func, smallest=1),
        """
    T = alloc(f32[8])
    U = alloc(f32[8])
    for i in serial(0, 8):
        T[i] = A[i]
    for j in serial(0, 8):
        U[j] = T[j]
    for l in serial(0, 8):
        C[l] = U[7 - l]""",
    ),
    "inject_double_buffers": (
        inject_double_buffers,
        """
    for i in serial(0, 8):
        T = alloc(f32[8], double_buffer=True)
        T[0] = A[i]
        C[i] = T[0]""",
    ),
    "inject_virtual_threads": (
        inject_virtual_threads,
        """
    for v in thread(0, 2, "vthread"):
        C[v] = A[v]""",
    ),
    "unify_thread_bindings": (
        unify_thread_bindings,
        """
    for b in thread(0, 1, "blockIdx.x"):
        for t in thread(0, 8, "threadIdx.x"):
            C[t] = A[t]
        for u in thread(0, 8, "threadIdx.x"):
            C[u] = C[7 - u]""",
    ),
    "thread_sync": (
        thread_sync,
        """
    for t in thread(0, 8, "threadIdx.x"):
        C[t] = A[t]
        A[t] = C[7 - t]""",
    ),
}


def around(func: PrimFunc, depth: int) -> PrimFunc:
    """Put a nest of loops around the body of a function."""
    body = func.body
    for _ in range(depth):
        body = For(Var("i"), const(0, I64), const(2, I64), body)
    return func.replace(body=body)


def inside(stmt: Stmt, depth: int) -> Stmt:
    """Return what is inside a nest of loops."""
    for _ in range(depth):
        assert isinstance(stmt, For), stmt
        stmt = stmt.body
    return stmt


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("name", INSIDE)
def test_a_pass_goes_as_deep_as_the_nest(name: str, depth: int) -> None:
    change, text = INSIDE[name]
    func = parse(f"def f(A: f32[8], C: f32[8], k: i64):\n    {text.strip()}\n")
    alone = change(func)
    assert not same(alone, func)
    made = change(around(func, depth))
    assert same(made.replace(body=inside(made.body, depth)), alone)


def test_a_deep_nest_that_stands_twice_is_renamed() -> None:
    depth = 2_000
    func = around(parse("def f(A: f32[8], C: f32[8]):\n    C[0] = A[0]\n"), depth)
    made = convert_ssa(func.replace(body=seq(func.body, func.body)))
    bound = symbols_bound(made.body)
    assert len(bound) == len(set(bound)) == 2 * depth
