"""The interpreter on whole functions: loops, blocks, memory, vectors, limits."""

import numpy as np
import pytest

from irkit.core import IRKitError, Span
from irkit.ir import (
    BF16,
    BOOL,
    F32,
    I8,
    I32,
    I64,
    INTRINSICS,
    Allocate,
    Assert,
    Axis,
    Block,
    Broadcast,
    Buffer,
    Const,
    DType,
    Evaluate,
    Expr,
    For,
    If,
    InterpretedFunction,
    Let,
    Load,
    PrimFunc,
    Ramp,
    Select,
    Seq,
    Stmt,
    Store,
    Var,
    View,
    call,
    eq,
    evaluate,
    ge,
    if_then_else,
    index,
    interpret,
    logical_and,
    logical_or,
    lt,
    numpy_dtype,
    seq,
)
from irkit.ir.interp.expressions import EMIT
from irkit.ir.interp.statements import COMPILE
from irkit.ir.interp.values import call_function
from tests.depth import DEPTHS
from tests.ir.classes import leaves


def whole(value: int) -> Expr:
    return Const(value, I64)


def buffer(name: str, *shape: int | Expr, dtype: DType = F32, scope: str = "global") -> Buffer:
    return Buffer(name, tuple(index(size) for size in shape), dtype, scope)


def loop(var: Var, end: int | Expr, body: Stmt, kind: str = "serial") -> For:
    return For(var, index(0), index(end), body, kind)


def matmul(size: int) -> PrimFunc:
    a, b, c = (buffer(name, size, size) for name in "ABC")
    i, j, k, vi, vj, vk = (Var(name) for name in ("i", "j", "k", "vi", "vj", "vk"))
    block = Block(
        "C",
        (
            Axis(vi, whole(size), i),
            Axis(vj, whole(size), j),
            Axis(vk, whole(size), k, "reduce"),
        ),
        Store(c, (vi, vj), c[vi, vj] + a[vi, vk] * b[vk, vj]),
        Store(c, (vi, vj), Const(0.0, F32)),
    )
    return PrimFunc("matmul", (a, b, c), loop(i, size, loop(j, size, loop(k, size, block))))


def test_a_block_with_init_multiplies_matrices() -> None:
    a = np.arange(9, dtype=np.float32).reshape(3, 3)
    b = a[::-1].copy()
    c = np.full((3, 3), np.nan, np.float32)
    interpret(matmul(3), a, b, c)
    np.testing.assert_array_equal(c, a @ b)


def test_a_block_runs_only_where_its_predicate_holds() -> None:
    a, i, v = buffer("A", 5), Var("i"), Var("v")
    body = Block("A", (Axis(v, whole(5), i),), Store(a, (v,), Const(1.0, F32)), None, lt(v, 5))
    out = np.zeros(5, np.float32)
    interpret(PrimFunc("f", (a,), loop(i, 8, body)), out)
    assert out.tolist() == [1.0] * 5


def test_an_axis_outside_its_extent_is_an_error() -> None:
    a, i, v = buffer("A", 9), Var("i"), Var("v")
    body = Block("A", (Axis(v, whole(5), i),), Store(a, (v,), Const(1.0, F32)))
    with pytest.raises(IRKitError, match="axis 'v' of block 'A' is 5, outside 0 to its extent 5"):
        interpret(PrimFunc("f", (a,), loop(i, 8, body)), np.zeros(9, np.float32))


@pytest.mark.parametrize("kind", ["serial", "parallel", "vectorized", "unrolled", "thread"])
def test_every_kind_of_loop_runs_its_body_for_each_value(kind: str) -> None:
    a, i = buffer("A", 6, dtype=I64), Var("i")
    out = np.zeros(6, np.int64)
    loops = For(i, whole(2), whole(5), Store(a, (i,), i * 10), kind)
    interpret(PrimFunc("f", (a,), loops), out)
    assert out.tolist() == [0, 0, 20, 30, 40, 0]


@pytest.mark.parametrize("end", [3, 2, -9])
def test_a_loop_whose_end_is_not_after_its_begin_never_runs(end: int) -> None:
    a, i = buffer("A", 1), Var("i")
    out = np.zeros(1, np.float32)
    loops = For(i, whole(3), whole(end), Store(a, (i,), Const(1.0, F32)))
    interpret(PrimFunc("f", (a,), loops), out)
    assert out[0] == 0.0


def test_a_loop_can_reach_the_largest_value_of_its_type() -> None:
    a, i = buffer("A", 1, dtype=I64), Var("i", I8)
    body = Store(a, (whole(0),), a[0] + 1)
    out = np.zeros(1, np.int64)
    interpret(PrimFunc("f", (a,), For(i, Const(120, I8), Const(127, I8), body)), out)
    assert out[0] == 7


def test_let_if_and_assert_are_executed() -> None:
    a, i, x = buffer("A", 4, dtype=I64), Var("i"), Var("x")
    body = Let(x, i * i, If(ge(x, 4), Store(a, (i,), x), Store(a, (i,), -x)))
    out = np.zeros(4, np.int64)
    interpret(PrimFunc("f", (a,), loop(i, 4, body)), out)
    assert out.tolist() == [0, -1, 4, 9]
    guard = Assert(lt(i, 2), "i stays small", span=Span("text", file="a.irs", line=3))
    with pytest.raises(IRKitError, match=r"a\.irs:3: assertion failed: i stays small"):
        interpret(PrimFunc("f", (a,), loop(i, 4, guard)), out)


def test_an_access_out_of_bounds_names_buffer_index_shape_and_line() -> None:
    a, i = buffer("A", 4, 4), Var("i")
    span = Span("text", file="a.irs", line=7)
    store = Store(a, (i - 1, whole(2)), Const(1.0, F32), span=span)
    with pytest.raises(IRKitError) as caught:
        interpret(PrimFunc("f", (a,), loop(i, 4, store)), np.zeros((4, 4), np.float32))
    assert str(caught.value) == "a.irs:7: A[-1, 2] is out of bounds: the shape is [4, 4]"
    for indices in [(4, 0), (0, 4), (0, -1), (1 << 62, 0)]:
        with pytest.raises(IRKitError, match="out of bounds"):
            evaluate(a[indices], {a: np.zeros((4, 4), np.float32)})


def test_unwritten_memory_holds_poison() -> None:
    for dtype, seen in [(F32, np.nan), (BF16, np.nan), (I32, 0xA5A5A5A5 - (1 << 32)), (BOOL, True)]:
        out, t = buffer("out", 1, dtype=dtype), buffer("t", 1, dtype=dtype)
        array = np.zeros(1, numpy_dtype(dtype))
        interpret(PrimFunc("f", (out,), Allocate(t, Store(out, (whole(0),), t[0]))), array)
        np.testing.assert_array_equal(array.astype(np.float64), float(seen))


def test_a_view_sees_memory_under_another_shape_from_its_offset() -> None:
    a, flat, i = buffer("A", 3, 4, dtype=I64), buffer("flat", 6, dtype=I64), Var("i")
    func = PrimFunc("f", (a,), View(flat, a, whole(4), loop(i, 6, Store(flat, (i,), i))))
    out = np.full((3, 4), -1)
    interpret(func, out)
    assert out.tolist() == [[-1] * 4, [0, 1, 2, 3], [4, 5, -1, -1]]
    for offset in (7, -1):
        beyond = PrimFunc("f", (a,), View(flat, a, whole(offset), Seq(())))
        with pytest.raises(IRKitError, match="view 'flat' covers elements"):
            interpret(beyond, out)


def test_strides_of_a_local_buffer_are_followed() -> None:
    t = Buffer("t", (whole(2), whole(3)), I64, "local", (whole(1), whole(2)))
    flat, out, i = buffer("flat", 6, dtype=I64), buffer("out", 6, dtype=I64), Var("i")
    fill = loop(i, 6, Store(t, (i // 3, i % 3), i))
    j = Var("j")
    body = seq(fill, View(flat, t, whole(0), loop(j, 6, Store(out, (j,), flat[j]))))
    array = np.zeros(6, np.int64)
    interpret(PrimFunc("f", (out,), Allocate(t, body)), array)
    assert array.tolist() == [0, 3, 1, 4, 2, 5]


def test_vectors_load_compute_and_store_lane_by_lane() -> None:
    a, b = buffer("A", 16), buffer("B", 8)
    at = Ramp(whole(1), whole(2), I64.with_lanes(4))
    store = Store(b, (Ramp(whole(4), whole(-1), I64.with_lanes(4)),), a[at] * 2.0)
    x, y = np.arange(16, dtype=np.float32), np.zeros(8, np.float32)
    interpret(PrimFunc("f", (a, b), store), x, y)
    assert y.tolist() == [0, 14, 10, 6, 2, 0, 0, 0]


def test_masked_lanes_touch_no_memory_and_load_zero() -> None:
    a = buffer("A", 4)
    at = Ramp(whole(0), whole(1), I64.with_lanes(6))
    mask = lt(at, 4)
    array = np.arange(1, 5, dtype=np.float32)
    assert evaluate(Load(a, (at,), mask, F32.with_lanes(6)), {a: array}).tolist() == [
        *(1, 2, 3, 4, 0, 0)
    ]
    interpret(
        PrimFunc("f", (a,), Store(a, (at,), Broadcast(Const(9.0, F32), F32.with_lanes(6)), mask)),
        array,
    )
    assert array.tolist() == [9.0] * 4
    with pytest.raises(IRKitError, match="out of bounds in lane 4"):
        evaluate(a[at], {a: array})


def test_the_last_of_several_lanes_that_store_to_one_element_wins() -> None:
    a = buffer("A", 1, dtype=I64)
    lanes = I64.with_lanes(4)
    at = Broadcast(whole(0), lanes)
    array = np.zeros(1, np.int64)
    interpret(PrimFunc("f", (a,), Store(a, (at,), Ramp(whole(5), whole(1), lanes))), array)
    assert array[0] == 8


def test_a_choice_guards_a_load_and_a_select_does_not() -> None:
    a, i = buffer("A", 4), Var("i")
    array = np.ones(4, np.float32)
    inside = logical_and(ge(i, 0), lt(i, 4))
    guarded = if_then_else(inside, a[i], 0.0)
    assert [evaluate(guarded, {a: array, i: at}) for at in (-1, 0, 3, 4)] == [0, 1, 1, 0]
    with pytest.raises(IRKitError, match="out of bounds"):
        evaluate(Select(inside, a[i], Const(0.0, F32), F32), {a: array, i: 4})


def test_and_and_or_skip_a_load_that_their_left_side_decides() -> None:
    a, i = buffer("A", 4, dtype=BOOL), Var("i")
    array = np.array([True, False, True, False])
    both, either = logical_and(lt(i, 4), a[i]), logical_or(ge(i, 4), a[i])
    assert [bool(evaluate(both, {a: array, i: at})) for at in (0, 1, 4)] == [True, False, False]
    assert [bool(evaluate(either, {a: array, i: at})) for at in (0, 1, 4)] == [True, False, True]


def test_a_vector_choice_loads_only_in_the_lanes_that_take_its_side() -> None:
    a, b = buffer("A", 4), buffer("B", 4)
    at = Ramp(whole(0), whole(1), I64.with_lanes(8))
    low = lt(at, 4)
    x, y = np.arange(4, dtype=np.float32), np.arange(10, 14, dtype=np.float32)
    chosen = if_then_else(low, a[at], b[at - 4])
    assert evaluate(chosen, {a: x, b: y}).tolist() == [0, 1, 2, 3, 10, 11, 12, 13]
    positive = logical_and(low, lt(a[at], 2.0))
    assert evaluate(positive, {a: x}).tolist() == [True] * 2 + [False] * 6
    nested = if_then_else(low, if_then_else(ge(at, 2), a[at], a[at + 2]), 7.0)
    assert evaluate(nested, {a: x}).tolist() == [2, 3, 2, 3, 7, 7, 7, 7]


def test_values_computed_on_one_side_of_a_choice_are_not_reused_on_the_other() -> None:
    a, i = buffer("A", 4), Var("i")
    shared = a[i] + 1.0
    expr = if_then_else(lt(i, 2), shared * 2.0, shared * 3.0)
    array = np.arange(4, dtype=np.float32)
    assert [evaluate(expr, {a: array, i: at}) for at in range(4)] == [2, 4, 9, 12]


@pytest.mark.parametrize("depth", DEPTHS)
def test_deep_expressions_evaluate(depth: int) -> None:
    a, i = buffer("A", 4, dtype=I64), Var("i")
    plain, chain, guarded = i, i, i
    for _ in range(depth):
        plain = plain + 1
        chain = if_then_else(lt(i, 0), chain, i)
    for _ in range(depth // 5):
        guarded = if_then_else(lt(i, 0), guarded, a[0])
    array = np.array([5, 0, 0, 0])
    assert evaluate(plain, {i: 1}) == depth + 1
    assert evaluate(chain, {i: 1}) == 1
    assert evaluate(guarded, {i: -1, a: array}) == -1


@pytest.mark.parametrize("depth", DEPTHS)
def test_deep_statements_run(depth: int) -> None:
    a = buffer("A", 1, dtype=I64)
    body: Stmt = Store(a, (whole(0),), a[0] + 1)
    for number in range(depth):
        v = Var("v")
        nest = [If(lt(a[0], 5), body), loop(v, 1, body), Let(v, a[0] + 1, body)]
        body = nest[number % 3]
    array = np.zeros(1, np.int64)
    interpret(PrimFunc("f", (a,), body), array)
    assert array[0] == 1


def test_shared_expressions_do_not_multiply() -> None:
    i = Var("i")
    doubled: Expr = i
    for _ in range(200):
        doubled = doubled + doubled
    assert evaluate(doubled, {i: 1}) == 0
    a = buffer("A", 1, dtype=I64)
    hostile: Expr = a[i]
    for _ in range(60):
        hostile = if_then_else(lt(i, 1), hostile, hostile + 1)
    with pytest.raises(IRKitError, match="share so many others"):
        evaluate(hostile, {i: 0, a: np.zeros(1, np.int64)})


def test_steps_and_bytes_are_limited() -> None:
    a, t, i = buffer("A", 1), buffer("t", 1 << 50), Var("i")
    array = np.zeros(1, np.float32)
    forever = loop(i, 1 << 62, Store(a, (whole(0),), Const(1.0, F32)))
    with pytest.raises(IRKitError, match="stopped after 1000 steps"):
        interpret(PrimFunc("f", (a,), forever), array, max_steps=1000)
    big = PrimFunc("f", (a,), Allocate(t, Seq(())))
    with pytest.raises(IRKitError, match="buffer 't' needs 4503599627370496 bytes"):
        interpret(big, array)
    small = Allocate(buffer("s", 100), Seq(()))
    interpret(PrimFunc("f", (a,), loop(i, 50, small)), array, max_bytes=400)


def test_a_compiled_function_runs_many_times_from_the_same_start() -> None:
    a, i = buffer("A", 1, dtype=I64), Var("i")
    run = InterpretedFunction(PrimFunc("f", (a,), loop(i, 3, Store(a, (whole(0),), a[0] + i))))
    array = np.zeros(1, np.int64)
    run(array)
    run(array)
    assert array[0] == 6


def test_a_name_without_a_value_is_an_error() -> None:
    i, a = Var("i"), buffer("A", 1)
    with pytest.raises(IRKitError, match="variable 'i' has no value here"):
        evaluate(i + 1)
    with pytest.raises(IRKitError, match="buffer 'A' is not known here"):
        evaluate(a[0])
    with pytest.raises(IRKitError, match="A has 1 dimensions, found 2 indices"):
        evaluate(a[0, 0], {a: np.zeros(1, np.float32)})
    with pytest.raises(IRKitError, match="barrier has no value"):
        interpret(PrimFunc("f", (), If(call("barrier"), Seq(()))))


def test_every_expression_statement_and_intrinsic_has_its_case() -> None:
    visited = {Var, Const}  # Handled before the table lookup.
    for cls in leaves(Expr):
        assert cls in visited or EMIT[cls] is not None, cls
    assert {cls for cls in leaves(Stmt) if cls.__module__.startswith("irkit.")} == set(COMPILE)
    for row in INTRINSICS.values():
        for dtype in (F32, I32) if row.on != "effect" else ():
            if not row.accepts(dtype):
                continue
            assert callable(call_function(row.name, dtype)), row.name


def test_evaluating_a_call_alone_is_a_statement() -> None:
    interpret(PrimFunc("f", (), Evaluate(eq(whole(1), 1))))
    interpret(PrimFunc("f", (), Evaluate(call("barrier"))))
