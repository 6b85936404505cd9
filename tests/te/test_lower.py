"""Lowering tensor expressions to a loop function: parameters, blocks, loops and errors."""

import numpy as np
import pytest

from irkit import te
from irkit.core import IRKitError, Span, walk
from irkit.ir import Allocate, Block, Buffer, For, If, Let, PrimFunc, Store, Var, as_int
from tests.te.agree import agree


def blocks(func: PrimFunc) -> list[Block]:
    return list(walk(func.body, Block))


def test_parameters_are_in_the_given_order() -> None:
    m, n = te.var("m"), te.var("n")
    a, b = te.placeholder((m, n), name="A"), te.placeholder((m, n), name="B")
    c = te.compute((m, n), lambda i, j: a[i, j] * b[i, j], name="C")
    func = te.create_prim_func([c, a, b], name="mult")
    assert (func.name, [param.name for param in func.params]) == ("mult", ["C", "A", "B"])
    assert dict(func.attrs) == {"outputs": (0,), "unscheduled": True}
    assert isinstance(func.params[0], Buffer)
    assert func.params[0].shape == (m, n)


def test_a_stage_is_a_block_under_loops_named_after_its_axes() -> None:
    a, b = te.placeholder((3, 4), name="A"), te.placeholder((4, 5), name="B")
    k = te.reduce_axis((0, 4), name="k")
    c = te.compute((3, 5), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    func = te.create_prim_func([a, b, c])
    assert [loop.var.name for loop in walk(func.body, For)] == ["i", "j", "k"]
    (block,) = blocks(func)
    assert block.name == "C"
    assert [(axis.var.name, axis.kind) for axis in block.axes] == [
        ("vi", "spatial"),
        ("vj", "spatial"),
        ("vk", "reduce"),
    ]
    assert isinstance(block.init, Store)


def test_the_span_of_every_statement_names_its_stage() -> None:
    a = te.placeholder((3,), name="A")
    c = te.compute((3,), lambda i: a[i], name="C")
    whole = Span("onnx", "Identity_0")
    func = te.create_prim_func([a, c], span=whole)
    (block,) = blocks(func)
    assert block.span is not None
    assert (block.span.name, block.span.file, block.span.parent) == ("C", __file__, whole)
    assert func.span is whole


def test_intermediate_tensors_are_allocated() -> None:
    a = te.placeholder((3,), name="A")
    b = te.compute((3,), lambda i: a[i] + 1.0, name="B")
    left, right = b * 2.0, b * b
    func = te.create_prim_func([a, te.compute((3,), lambda i: left[i] + right[i], name="out")])
    assert [each.buffer.name for each in walk(func.body, Allocate)] == [
        "B",
        "multiply",
        "multiply_1",
    ]
    assert [block.name for block in blocks(func)] == ["B", "multiply", "multiply_1", "out"]


def test_an_output_that_is_read_again_is_not_allocated() -> None:
    a = te.placeholder((3,), name="A")
    b = te.compute((3,), lambda i: a[i] + 1.0, name="B")
    func = te.create_prim_func([a, b, b * 2.0])
    assert not list(walk(func.body, Allocate))
    assert dict(func.attrs) == {"outputs": (1, 2), "unscheduled": True}


def test_a_reduction_that_begins_later_runs_from_zero() -> None:
    a, k = te.placeholder((9,), name="A"), te.reduce_axis((2, 7), name="k")
    c = te.compute((), lambda: te.sum(a[k], axis=k), name="C")
    func = te.create_prim_func([a, c])
    (loop,) = walk(func.body, For)
    assert (as_int(loop.begin), as_int(loop.end)) == (0, 5)
    x = np.arange(9, dtype=np.float32)
    where = te.compute((), lambda: te.sum(a[k], axis=k, where=te.gt(k, 3)), name="D")
    agree([c, where], {a: x}, x[2:7].sum(), x[4:7].sum())


def test_a_reduction_of_tuples_computes_before_it_stores() -> None:
    both = te.comm_reducer(lambda x, y: (x[0] + y[0], x[1] * y[1]), lambda t, u: (0, 1), "both")
    a, k = te.placeholder((4, 6), name="A"), te.reduce_axis((0, 6), name="k")
    s, p = te.compute((4,), lambda i: both((a[i, k], a[i, k]), axis=k), name="sp")
    func = te.create_prim_func([a, s, p])
    (block,) = blocks(func)
    assert isinstance(block.body, Let)
    assert len(list(walk(block.body, Let))) == 4


def test_a_condition_guards_the_update_alone() -> None:
    a, k = te.placeholder((6,), name="A"), te.reduce_axis((0, 6), name="k")
    c = te.compute((), lambda: te.sum(a[k], axis=k, where=te.lt(k, 3)), name="C")
    (block,) = blocks(te.create_prim_func([a, c]))
    assert isinstance(block.body, If)
    assert isinstance(block.init, Store)


def test_a_variable_may_be_a_scalar_parameter() -> None:
    a, s = te.placeholder((6,), name="A"), te.var("s", "float32")
    c = te.compute((6,), lambda i: a[i] * s, name="C")
    func = te.create_prim_func([a, s, c])
    assert func.params[1] is s
    with pytest.raises(IRKitError, match="function 'main' needs 's', which no parameter binds"):
        te.create_prim_func([a, c])


def test_an_extent_that_nothing_binds_is_named() -> None:
    n = te.var("n")
    a = te.placeholder((n * 2,), name="A")
    with pytest.raises(IRKitError, match="needs 'n', which no parameter binds"):
        te.create_prim_func([a, a + 1.0])
    assert te.create_prim_func([n, a, a + 1.0]).params[0] is n


def test_a_missing_placeholder_is_named() -> None:
    a, b = te.placeholder((3,), name="A"), te.placeholder((3,), name="B")
    with pytest.raises(IRKitError, match="function 'main' reads 'B', which is not among"):
        te.create_prim_func([a, a + b])
    with pytest.raises(IRKitError, match="'A' is listed twice"):
        te.create_prim_func([a, b, a])


def test_a_chain_of_two_thousand_stages_lowers() -> None:
    a = te.placeholder((3,), name="A")
    last = a
    for _ in range(2_000):
        last = last + 1.0
    func = te.create_prim_func([a, last])
    assert len(blocks(func)) == 2_000
    assert isinstance(func.params[0], (Buffer, Var))


def test_several_outputs_and_reducers_agree_with_the_reference() -> None:
    a = te.placeholder((4, 6), "int32", "A")
    both = te.comm_reducer(lambda x, y: (x[0] + y[0], x[1] * y[1]), lambda t, u: (0, 1), "both")
    k = te.reduce_axis((0, 6), name="k")
    s, p = te.compute((4,), lambda i: both((a[i, k], a[i, k] + 1), axis=k, where=te.ne(k, 2)))
    twice, odd = te.compute((4, 6), lambda i, j: (a[i, j] * 2, te.eq(a[i, j] % 2, 1)), "two")
    x = np.arange(24, dtype=np.int32).reshape(4, 6)
    kept = np.delete(x, 2, axis=1)
    product = (kept + 1).prod(1, dtype=np.int32)
    agree([s, p, twice, odd], {a: x}, kept.sum(1, dtype=np.int32), product, x * 2, x % 2 == 1)


def test_operations_are_listed_once_inputs_first_however_long_the_chain() -> None:
    def added(a: te.Tensor, b: te.Tensor) -> te.Tensor:
        return te.compute((2,), lambda i: a[i] + b[i])

    chain = [te.placeholder((2,), name="A")]
    for at in range(5_000):
        chain.append(added(chain[max(0, at - 1)], chain[-1]))
    first = chain[0]
    assert te.operations_of([chain[-1], first]) == [tensor.op for tensor in chain]
