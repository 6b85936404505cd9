"""Comparisons inside traced functions make expressions, in every spelling; what asks for a truth
value is refused, and so is a bool where an expression belongs."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from irkit import ir, te
from irkit.core import DTypeError, IRKitError, ShapeError
from irkit.ir import EQ, Const, Var, const, eq, interpret
from irkit.schedule import Schedule
from tests.schedule.kernels import chain

N = te.var("n")
A = te.placeholder((N,), "int32", name="A")
B = te.placeholder((N,), "int32", name="B")
K = te.reduce_axis((0, 3), "k")
MORE = N + 1
SIZE = 5
AT = np.arange(SIZE)
X = np.array([0, 1, 7, 3, 2], np.int32)
Y = np.array([5, 1, -1, 3, 0], np.int32)
Function = Callable[[Any], Any]


def value_of(function: Function) -> Any:
    made = te.compute((N,), function, name="C")
    out = np.zeros(SIZE, ir.numpy_dtype(made.dtype))
    interpret(te.create_prim_func([A, B, made]), X.copy(), Y.copy(), out)
    return out


RIGHT: dict[str, tuple[Function, Any]] = {
    "an index": (lambda i: te.if_then_else(i == 2, A[i], B[i]), np.where(AT == 2, X, Y)),
    "a remainder": (lambda i: te.if_then_else(i % 2 == 0, A[i], B[i]), np.where(AT % 2 == 0, X, Y)),
    "not equal": (lambda i: te.select(i % 2 != 0, A[i], B[i]), np.where(AT % 2, X, Y)),
    "an int first": (
        lambda i: te.if_then_else(0 == i, A[i], B[i]),  # noqa: SIM300 -- the point
        np.where(AT == 0, X, Y),
    ),
    "NumPy's int first": (
        lambda i: te.if_then_else(np.int64(1) == i % 2, A[i], B[i]),
        np.where(AT % 2 == 1, X, Y),
    ),
    "padding as in TVM": (
        lambda i: te.if_then_else(te.all(i != 0, i != N - 1), A[i - 1], 9),
        np.array([9, 0, 1, 7, 9]),
    ),
    "any": (lambda i: te.select(te.any(i == 0, i == 3), 1, 0), (AT == 0) | (AT == 3)),
    "loaded integers": (lambda i: te.select(A[i] == B[i], 1, 0), X == Y),
    "a loaded float": (lambda i: te.select(te.cast(A[i], "float32") == 1.0, 1, 0), X == 1),
    "a fraction": (lambda i: te.select(A[i] == 0.5, 1, 0), X == 0.5),
    "mixed types": (lambda i: te.select(A[i] == i, 1, 0), X == AT),
    "a size": (lambda i: te.if_then_else(N == SIZE, A[i], B[i]), X),
    "a size's remainder": (lambda i: te.if_then_else(N % 2 == 0, A[i], B[i]), Y),
    "an expression made before": (lambda i: te.if_then_else(MORE == 6, A[i], B[i]), X),
    "a shape": (lambda i: te.select(A.shape[0] == i + 1, 1, 0), AT == SIZE - 1),
    "a function of te": (lambda i: te.select(te.floormod(i, 3) == 1, 1, 0), AT % 3 == 1),
    "a function of ir": (lambda i: te.select(ir.minimum(i, 2) == 2, 1, 0), AT >= 2),
    "operators of conditions": (
        lambda i: te.select((i == 0) | (A[i] != 1) & ~(i == 3), 1, 0),
        (AT == 0) | (X != 1) & (AT != 3),
    ),
    "numbers of conditions": (
        lambda i: (i == 1).astype("int32") + te.cast(A[i] == 3, "int32"),
        (AT == 1) + 0 + (X == 3),
    ),
    "less": (
        lambda i: te.select(te.all(1 <= i, i < 3), 1, 0),  # noqa: SIM300 -- the point
        (AT >= 1) & (AT < 3),
    ),
    "the body": (lambda i: A[i] == B[i], X == Y),
    "Python's sum": (lambda i: sum([A[i], B[i]]), X + Y),
    "a key": (lambda i: {i: A[i]}[i], X),
    "a flag": (lambda i: te.if_then_else(te.const(True), A[i], B[i]), X),
    "a reduce axis": (
        lambda i: te.sum(te.if_then_else(K == 1, A[i], 1), axis=K, where=K != 2),
        X + 1,
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_spelling_is_right(name: str) -> None:
    function, expected = RIGHT[name]
    np.testing.assert_array_equal(value_of(function), expected)


@pytest.mark.parametrize(
    "function",
    [
        lambda i: A[i] if i == 0 else B[i],
        lambda i: A[i] if i % 2 != 0 else B[i],
        lambda i: A[i] if A[i] == 1 else B[i],
        lambda i: A[i] if N == 5 else B[i],
        lambda i: A[i] if N % 2 == 0 else B[i],
        lambda i: A[i] if MORE == 6 else B[i],
        lambda i, more=MORE: A[i] if more == 6 else B[i],
        lambda i: A[i] if A.shape[0] == 5 else B[i],
        lambda i: A[i] if te.floormod(i, 2) == 0 else B[i],
        lambda i: A[i] if ir.floormod(i, 2) == 0 else B[i],
        lambda i: A[i] if te.const(1) == 1 else B[i],
        lambda i: A[i] if K == 0 else B[i],
        lambda i: te.select(not (i == 0), A[i], B[i]),  # noqa: SIM201 -- the point
        lambda i: te.select(i in (0, 1), A[i], B[i]),
        lambda i: te.select(i % 2 in [0], A[i], B[i]),
        lambda i: te.select(i == 0 and A[i] == 1, A[i], B[i]),
        lambda i: te.select(i == 0 or i == 1, A[i], B[i]),
        lambda i: te.select(0 == i == 1, A[i], B[i]),
        lambda i: te.select(0 <= i < 3, A[i], B[i]),
        lambda i: min(A[i], B[i]),
        lambda i: {i % 2: A[i]}[i % 2],
        lambda i: sorted([A[i], B[i]])[0],
    ],
)
def test_a_truth_value_is_refused(function: Function) -> None:
    with pytest.raises(DTypeError, match=r"(?s)no truth value.*if_then_else.*te\.any\(eq"):
        te.compute((N,), function, name="C")


def test_the_refusal_shows_the_comparison_and_the_line() -> None:
    with pytest.raises(DTypeError, match=r"\(i % 2\) == 0 has no truth value") as found:
        te.compute((N,), lambda i: A[i] if i % 2 == 0 else B[i], name="C")
    assert found.value.span is not None
    assert found.value.span.file == __file__


def test_a_tensor_is_compared_with_tensors_only_and_by_identity() -> None:
    assert value_of(lambda i: (A if A in (B, A) and A != B else B)[i]).tolist() == X.tolist()
    with pytest.raises(ShapeError, match="not a scalar"):
        te.compute((N,), lambda i: A[i] if A == 0 else B[i], name="C")


def test_a_reducer_is_traced() -> None:
    def combine(x: Any, y: Any) -> Any:
        return te.select(x == 0, y, x)

    first = te.comm_reducer(combine, lambda dtype: te.const(0, dtype), name="first")
    k = te.reduce_axis((0, N), "k")
    found: Any = first(A[k], axis=k)
    made = te.compute((1,), lambda i: found, name="C")
    out = np.zeros(1, np.int32)
    interpret(te.create_prim_func([A, made]), np.array([0, 0, 7, 3, 2], np.int32), out)
    assert out.tolist() == [7]
    with pytest.raises(DTypeError, match="no truth value"):
        te.comm_reducer(lambda x, y: y if x == 0 else x, lambda dtype: te.const(0, dtype))(
            A[k], axis=k
        )


def test_an_elementwise_function_is_traced() -> None:
    made = te.elementwise(lambda x, y: te.select(x == y, 1, 0), A, B, name="C")
    out = np.zeros(SIZE, np.int64)
    interpret(te.create_prim_func([A, B, made]), X.copy(), Y.copy(), out)
    assert out.tolist() == (X == Y).tolist()


def test_index_maps_and_predicates_are_traced() -> None:
    sch = Schedule(chain(8), check="each")
    with pytest.raises(DTypeError, match="no truth value"):
        sch.transform_layout(sch.get_block("B"), lambda i: 7 if i == 0 else i - 1)
    sch = Schedule(chain(8), check="each")
    sch.set_store_predicate(sch.get_block("B"), lambda i: (i == 0) | (i != 0))
    with pytest.raises(IRKitError, match="no truth value"):
        sch.set_store_predicate(sch.get_block("B"), lambda i: i == 0 or i != 0)


def test_outside_of_a_trace_nodes_compare_by_structure() -> None:
    i, j = Var("i"), Var("j")
    assert i == i
    assert i != j
    assert i + 1 == i + 1
    assert {i + 1: 2}[i + 1] == 2
    assert i in (j, i)
    assert const(1) == const(1)
    found: list[Any] = []
    te.compute((N,), lambda i: (found.append(i), A[i])[1], name="C")
    assert found[0] == found[0]
    assert (found[0] + 1 == 1) is False


def test_a_trace_is_of_its_thread() -> None:
    inside, done = threading.Event(), threading.Event()
    i = Var("i")

    def body(j: Any) -> Any:
        inside.set()
        done.wait(10)
        return te.select(j == 0, A[j], B[j])

    thread = threading.Thread(target=lambda: te.compute((N,), body, name="C"))
    thread.start()
    inside.wait(10)
    same = [i == i, i == 0, i + 1 == i + 1]
    done.set()
    thread.join()
    assert same == [True, False, True]


def test_a_trace_ends_where_its_function_fails() -> None:
    with pytest.raises(ZeroDivisionError):
        te.compute((N,), lambda i: 1 // 0, name="C")
    assert Var("i") != Var("i")


BOOLS: list[Callable[[Any], object]] = [
    lambda flag: ir.select(flag, 1, 2),
    lambda flag: ir.if_then_else(flag, 1, 2),
    lambda flag: ir.select(eq(N, 1), flag, False),
    lambda flag: ir.logical_and(flag),
    lambda flag: ir.logical_or(eq(N, 1), flag),
    lambda flag: ir.logical_not(flag),
    lambda flag: eq(N, 1) & flag,
    lambda flag: eq(N, 1) | flag,
    lambda flag: N + flag,
    lambda flag: flag * N,
    lambda flag: N // flag,
    lambda flag: eq(N, flag),
    lambda flag: ir.maximum(flag, N),
    lambda flag: ir.cast(flag, "i32"),
    lambda flag: ir.call("exp", flag),
    lambda flag: ir.broadcast(flag, 4),
    lambda flag: ir.ramp(0, flag, 4),
    lambda flag: ir.index(flag),
    lambda flag: ir.as_int(flag) if isinstance(flag, bool) else ir.index(flag),
    lambda flag: A[flag],
    lambda flag: te.all(flag),
    lambda flag: te.any(eq(N, 1), flag),
    lambda flag: te.if_then_else(flag, A[N], B[N]),
    lambda flag: te.sum(A[K], axis=K, where=flag),
    lambda flag: te.compute((N,), lambda i: flag, name="C"),
    lambda flag: te.placeholder((flag,), name="P"),
    lambda flag: te.reduce_axis((0, flag)),
]


@pytest.mark.parametrize("flag", [True, False, np.bool_(True)], ids=repr)
@pytest.mark.parametrize("place", range(len(BOOLS)))
def test_a_bool_is_no_expression(place: int, flag: object) -> None:
    with pytest.raises(DTypeError, match=r"(?s)(bool|const).*eq\(a, b\).*const\(True\)"):
        BOOLS[place](flag)


def test_a_flag_is_written_as_a_constant() -> None:
    assert ir.const(True) == te.const(True) == Const(True, ir.BOOL)
    assert isinstance(eq(const(True), const(False)), EQ)


@pytest.mark.parametrize("flag", [True, np.bool_(False)])
def test_the_verifier_says_how_to_write_a_condition(flag: Any) -> None:
    store = ir.Store(ir.Buffer("X", (const(1),), ir.I64), (const(0),), const(1))
    for stmt in (ir.If(flag, store), ir.Assert(flag, "no")):
        (problem,) = ir.verify(ir.PrimFunc("f", (store.buffer,), stmt))
        assert "write eq(a, b)" in str(problem)
        assert "const(True)" in str(problem)
