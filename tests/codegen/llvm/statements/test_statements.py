"""Native code of every statement does what the interpreter does, at any stage of lowering."""

from typing import Any

import numpy as np
import pytest

from irkit.core import IRKitError
from irkit.ir import (
    BOOL,
    F16,
    F32,
    I32,
    I64,
    LOOP_KINDS,
    Allocate,
    Assert,
    Axis,
    Block,
    Buffer,
    Const,
    DType,
    Evaluate,
    Expr,
    For,
    If,
    Let,
    PrimFunc,
    Stmt,
    Store,
    Var,
    View,
    broadcast,
    call,
    dtype,
    eq,
    floormod,
    if_then_else,
    index,
    interpret,
    logical_and,
    logical_or,
    lt,
    numpy_dtype,
    ramp,
    select,
    seq,
)
from tests.codegen.llvm.cases import compiled


def buffer(name: str, *shape: int | Expr, kind: DType = F32) -> Buffer:
    return Buffer(name, tuple(index(dim) for dim in shape), kind)


def loop(var: Var, end: int | Expr, body: Stmt, kind: Any = "serial", begin: int = 0) -> For:
    thread = "threadIdx.x" if kind == "thread" else ""
    return For(var, index(begin), index(end), body, kind, thread)


def check(func: PrimFunc, *args: Any) -> list[Any]:
    """Run natively and interpreted on copies of the arguments, and compare all arrays."""
    kernel = compiled([func])[func.name]
    results: list[list[Any]] = []
    for run in (kernel, lambda *given: interpret(func, *given)):
        given = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
        run(*given)
        results.append([arg for arg in given if isinstance(arg, np.ndarray)])
    for native, expected in zip(*results, strict=True):
        np.testing.assert_array_equal(native, expected)
    return results[0]


def numbers(*shape: int, kind: DType = F32) -> Any:
    count = int(np.prod(shape))
    return (np.arange(count) % 97 - 20).astype(numpy_dtype(kind)).reshape(shape)


i, j, k, n, m = (Var(name) for name in "ijknm")


@pytest.mark.parametrize("kind", LOOP_KINDS)
def test_every_kind_of_loop_visits_every_iteration(kind: str) -> None:
    a, c = buffer("A", 40), buffer("C", 40)
    func = PrimFunc("f", (a, c), loop(i, 37, Store(c, (i,), a[i] * 2.0), kind, begin=3))
    check(func, numbers(40), numbers(40))


@pytest.mark.parametrize(("begin", "end"), [(0, 0), (5, 2), (-3, 0), (7, 8)])
@pytest.mark.parametrize("kind", [I32, I64])
def test_a_loop_runs_from_begin_to_end(begin: int, end: int, kind: DType) -> None:
    var, first, last = Var("i", kind), Var("first", kind), Var("last", kind)
    c, d = buffer("C", 16, kind=I64), buffer("D", 16, kind=I64)
    constant = For(var, Const(begin, kind), Const(end, kind), Store(c, (var + 8,), index(7)))
    other = Var("k", kind)
    computed = For(other, first, last, Store(d, (other + 8,), index(7)))
    func = PrimFunc("f", (c, d, first, last), seq(constant, computed))
    got = check(func, np.zeros(16, "i8"), np.zeros(16, "i8"), begin, end)
    assert got[0].sum() == max(0, end - begin) * 7


def matmul_block(m: Expr | int, n: Expr | int, depth: Expr | int) -> PrimFunc:
    a, b, c = buffer("A", m, depth), buffer("B", depth, n), buffer("C", m, n)
    vi, vj, vk = Var("vi"), Var("vj"), Var("vk")
    axes = (
        Axis(vi, index(m), i),
        Axis(vj, index(n), j),
        Axis(vk, index(depth), k, "reduce"),
    )
    block = Block(
        "C",
        axes,
        Store(c, (vi, vj), c[vi, vj] + a[vi, vk] * b[vk, vj]),
        Store(c, (vi, vj), Const(0.0, F32)),
        lt(vi + vj, 9),
    )
    body = loop(i, m, loop(j, n, loop(k, depth, block)))
    return PrimFunc("matmul", (a, b, c), body)


def test_a_block_runs_its_init_where_its_reduce_axes_begin_under_its_predicate() -> None:
    check(matmul_block(6, 7, 5), numbers(6, 5), numbers(5, 7), numbers(6, 7))


def test_symbolic_shapes_are_read_from_the_arrays() -> None:
    depth = Var("depth")
    check(matmul_block(m, n, depth), numbers(4, 3), numbers(3, 8), numbers(4, 8))


def test_a_block_without_reduce_axes_runs_its_init_always() -> None:
    c, vi = buffer("C", 5), Var("vi")
    block = Block(
        "C", (Axis(vi, index(5), i),), Store(c, (vi,), c[vi] + 2.0), Store(c, (vi,), c[vi] * 0.5)
    )
    check(PrimFunc("f", (c,), loop(i, 5, block)), numbers(5))


@pytest.mark.parametrize("size", [8, 200_000, n])
def test_buffers_come_from_the_stack_or_the_heap(size: int | Expr) -> None:
    a, c, room = buffer("A", size), buffer("C", size), buffer("T", size, 2)
    fill = loop(
        i, size, seq(Store(room, (i, index(0)), a[i] + 1.0), Store(room, (i, index(1)), a[i]))
    )
    use = loop(j, size, Store(c, (j,), room[j, 0] * room[j, 1]))
    func = PrimFunc("f", (a, c), loop(k, 3, Allocate(room, seq(fill, use))))
    count = size if isinstance(size, int) else 77
    check(func, numbers(count), numbers(count))


def test_an_impossible_size_is_out_of_memory() -> None:
    c, room = buffer("C", n), buffer("T", n * (1 << 40), 1 << 20)
    func = PrimFunc("f", (c,), Allocate(room, Store(c, (0 * n,), Const(1.0, F32))))
    with pytest.raises(MemoryError, match="f could not allocate its buffers"):
        compiled([func])["f"](numbers(50))


def test_a_size_that_wraps_around_when_rounded_up_is_out_of_memory() -> None:
    c, room = buffer("C", n), buffer("T", n + ((1 << 62) - 16 - 50))
    store = Store(room, (n,), Const(1.0, F32))
    func = PrimFunc("f", (c,), Allocate(room, seq(store, Store(c, (n - 1,), room[n]))))
    with pytest.raises(MemoryError, match="f could not allocate its buffers"):
        compiled([func])["f"](numbers(50))


def test_a_failed_assertion_frees_memory_and_is_named() -> None:
    c, room = buffer("C", n), buffer("T", n + 100_000)
    body = seq(
        Assert(lt(index(1), n), "more than one"),
        Store(room, (index(0),), Const(2.0, F32)),
        Assert(lt(n, 6), "less than six"),
        Store(c, (index(0),), room[index(0)]),
    )
    kernel = compiled([PrimFunc("f", (c,), Allocate(room, body))])["f"]
    for count, message in ((1, "more than one"), (9, "less than six")):
        with pytest.raises(IRKitError, match=message):
            kernel(np.zeros(count, "f4"))
    good = np.zeros(3, "f4")
    kernel(good)
    assert good.tolist() == [2, 0, 0]


def test_views_and_strides_address_their_memory() -> None:
    a, flat = buffer("A", 6, 8), buffer("flat", 48)
    part = Buffer("part", (index(3), index(4)), F32, strides=(index(16), index(2)))
    c = buffer("C", 3, 4)
    body = loop(i, 3, loop(j, 4, Store(c, (i, j), part[i, j] + flat[i * 4 + j])))
    func = PrimFunc("f", (a, c), View(flat, a, index(0), View(part, flat, index(3), body)))
    check(func, numbers(6, 8), numbers(3, 4))


def test_a_parameter_may_declare_strides() -> None:
    step = Var("step")
    a = Buffer("A", (n, m), F32, strides=(step, index(2)))
    c = buffer("C", n, m)
    func = PrimFunc("f", (a, c), loop(i, n, loop(j, m, Store(c, (i, j), a[i, j]))))
    wide = numbers(5, 9)
    out = np.zeros((5, 4), "f4")
    compiled([func])["f"](wide[:, 1:8:2], out)
    np.testing.assert_array_equal(out, wide[:, 1:8:2])


def test_lets_and_conditionals_are_evaluated() -> None:
    a, c, t = buffer("A", 30), buffer("C", 30), Var("t", F32)
    choose = If(lt(t, 5.0), Store(c, (i,), t * 3.0), Store(c, (i,), t - 1.0))
    alone = If(eq(floormod(i, 4), 1), Store(c, (i,), c[i] + 100.0))
    body = Let(t, a[i] * 2.0, seq(choose, alone))
    check(PrimFunc("f", (a, c), loop(i, 30, body)), numbers(30), numbers(30))


FAR = 1 << 44  # So far off that a read there crashes.


@pytest.mark.parametrize("lanes", [1, 8])
def test_a_conditional_reads_only_where_its_condition_holds(lanes: int) -> None:
    a, c = buffer("A", 16), buffer("C", 32)
    at: Expr = i if lanes == 1 else ramp(i * lanes, 1, lanes)
    away = at * FAR - 8 * FAR
    padded = if_then_else(
        logical_and(lt(7, at), lt(at, 24)), a[at - 8], if_then_else(eq(at, 8), a[away], -1.0)
    )
    body = Store(c, (at,), padded + if_then_else(lt(at, 16), a[select(lt(at, 16), at, 0)], 0.0))
    check(PrimFunc("f", (a, c), loop(i, 32 // lanes, body)), numbers(16), numbers(32))


@pytest.mark.parametrize("lanes", [1, 8])
def test_and_and_or_read_their_right_side_only_if_needed(lanes: int) -> None:
    a, c = buffer("A", 16), buffer("C", 32, kind=BOOL)
    at: Expr = i if lanes == 1 else ramp(i * lanes, 1, lanes)
    far = select(lt(at, 16), at, at * FAR)
    value = logical_or(
        logical_and(lt(at, 16), lt(a[far], 3.0)), logical_and(lt(15, at), lt(at, 20))
    )
    inverse = logical_or(lt(15, at), lt(a[far], 3.0))
    body = seq(Store(c, (at,), value), Store(c, (at,), eq(c[at], inverse)))
    check(PrimFunc("f", (a, c), loop(i, 32 // lanes, body)), numbers(16), np.zeros(32, "?"))


def test_a_scalar_under_a_vector_condition_is_read_if_any_lane_is_active() -> None:
    a, c = buffer("A", 4), buffer("C", 32)
    at = ramp(i * 8, 1, 8)
    one = broadcast(a[select(lt(i, 2), i, i * FAR)], 8)
    body = Store(c, (at,), if_then_else(lt(at, 13), one, 9.0))
    check(PrimFunc("f", (a, c), loop(i, 4, body)), numbers(4), numbers(32))


def test_a_load_under_a_mask_is_not_reused_outside_of_it() -> None:
    a, c = buffer("A", 16), buffer("C", 16)
    at = ramp(i * 8, 1, 8)
    shared = a[at]
    value = if_then_else(lt(at, 5), shared, 1.0) + shared
    func = PrimFunc("f", (a, c), loop(i, 2, Store(c, (at,), value)))
    check(func, numbers(16), numbers(16))


@pytest.mark.parametrize("kind", [F32, F16, BOOL, I32])
@pytest.mark.parametrize("stride", [1, 2, -1, 0])
def test_vector_accesses_gather_and_scatter(stride: int, kind: DType) -> None:
    a, c = buffer("A", 64, kind=kind), buffer("C", 64, kind=kind)
    at = ramp(i + 24, stride, 8)
    body = Store(c, (at,), a[ramp(i * 2 + 16, stride, 8)])
    check(PrimFunc("f", (a, c), loop(i, 4, body)), numbers(64, kind=kind), numbers(64, kind=kind))


@pytest.mark.parametrize("stride", [1, 3])
def test_masked_lanes_are_neither_read_nor_written(stride: int) -> None:
    a, c = buffer("A", 64), buffer("C", 64)
    at = ramp(i * 16, stride, 16)
    mask = lt(at, 60)
    load = a[at].replace(mask=lt(at, 41))
    func = PrimFunc("f", (a, c), loop(i, 4, Store(c, (at,), load + 1.0, mask)))
    check(func, numbers(64), numbers(64))


def test_a_mask_of_one_lane_guards_a_scalar() -> None:
    a, c = buffer("A", 64), buffer("C", 64)
    load = a[i * FAR].replace(mask=eq(i, 0))
    func = PrimFunc("f", (a, c), loop(i, 9, Store(c, (i,), load + 1.0, lt(i, 5))))
    check(func, numbers(64), numbers(64))


@pytest.mark.parametrize("lanes", [1, 8])
def test_an_unsigned_index_is_never_negative(lanes: int) -> None:
    table, a, c = buffer("T", 256), buffer("A", 256, kind=dtype("u8")), buffer("C", 256)
    at: Expr = i if lanes == 1 else ramp(i * lanes, 1, lanes)
    body = Store(c, (at,), table[a[at]])
    every = np.arange(256, dtype="u1")
    check(
        PrimFunc("f", (table, a, c), loop(i, 256 // lanes, body)), numbers(256), every, numbers(256)
    )


def test_vectors_access_parts_of_rows() -> None:
    a, c = buffer("A", 8, 16), buffer("C", 16, 8)
    rows, columns = ramp(0, 1, 8), ramp(j * 8, 1, 8)
    body = seq(Store(c, (j * 8 + k, rows), a[rows, j * 8 + k]), Evaluate(a[k, columns]))
    check(PrimFunc("f", (a, c), loop(j, 2, loop(k, 8, body))), numbers(8, 16), numbers(16, 8))


@pytest.mark.parametrize("name", ["bool", "i8", "u16", "i64", "u64", "f16", "bf16", "f32", "f64"])
def test_scalar_parameters_are_passed_by_value(name: str) -> None:
    kind = dtype(name)
    s, c = Var("s", kind), buffer("C", 2, kind=kind)
    value = True if kind.is_bool else 1.5 if kind.is_float else kind.high
    func = PrimFunc("f", (s, c), Store(c, (index(1),), s))
    (got,) = check(func, value, np.zeros(2, numpy_dtype(kind)))
    assert got[1] == value


def test_threads_that_meet_at_a_barrier_are_split_there_at_any_stage() -> None:
    c, s = buffer("C", 8), Buffer("S", (index(8),), F32, "shared")
    wait = Evaluate(call("barrier"))
    body = seq(Store(s, (i,), c[i]), wait, Store(c, (i,), s[7 - i]))
    check(PrimFunc("f", (c,), Allocate(s, loop(i, 8, seq(Store(s, (i,), c[i]), wait)))), numbers(8))
    nest = For(i, index(0), index(8), Block("B", (), body), "thread", "threadIdx.x")
    check(PrimFunc("g", (c,), Allocate(s, nest)), numbers(8))


def test_a_barrier_that_threads_may_not_agree_on_is_an_error() -> None:
    c = buffer("C", 8)
    wait = If(lt(i, 4), Evaluate(call("barrier")))
    nest = For(i, index(0), index(8), wait, "thread", "threadIdx.x")
    with pytest.raises(IRKitError, match="may disagree on the condition around a barrier"):
        compiled([PrimFunc("f", (c,), nest)])


def test_an_assertion_of_a_split_nest_is_the_one_that_fails() -> None:
    c = buffer("C", 4)
    asserts = [Assert(lt(c[i], limit), f"below {limit}") for limit in (9.0, 2.0)]
    body = seq(asserts[0], Evaluate(call("barrier")), asserts[1])
    func = PrimFunc("f", (c,), For(i, index(0), index(4), body, "thread", "threadIdx.x"))
    with pytest.raises(IRKitError, match=r"below 2\.0"):
        compiled([func])["f"](np.full(4, 5, np.float32))


def test_a_barrier_has_no_value_in_loops_of_no_threads() -> None:
    c = buffer("C", 1)
    check(PrimFunc("f", (c,), Evaluate(call("barrier"))), numbers(1))


def test_zero_dimensional_buffers_hold_one_element() -> None:
    a, c = Buffer("A", (), F32), Buffer("C", (), F32)
    func = PrimFunc("f", (a, c), Store(c, (), a[()] + 1.0))
    check(func, np.array(3.0, "f4"), np.array(0.0, "f4"))
