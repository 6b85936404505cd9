"""Whole schedules keep the results of the function."""

import numpy as np
from hypothesis import given, settings, strategies as st

import irkit
from irkit.core import walk
from irkit.ir import For
from irkit.schedule import Schedule
from tests.schedule.kernels import assert_same_results, matmul_relu
from tests.schedule.programs import added


@settings(max_examples=15, deadline=None, derandomize=True)
@given(m=st.integers(1, 7), n=st.integers(1, 21), k=st.integers(1, 4), rows=st.integers(1, 3))
def test_a_register_tile_gives_the_same(m: int, n: int, k: int, rows: int) -> None:
    sch = Schedule(matmul_relu(m, n, k))
    block = sch.get_block("C")
    i, j, r = sch.get_loops(block)
    high, low = sch.split(i, [None, rows])
    far, near = sch.split(j, [None, 4])
    sch.reorder(high, far, r, low, near)
    sch.unroll(low)
    sch.vectorize(near)
    sch.reverse_compute_at(sch.get_block("D"), far)
    sch.overcompute(block)
    sch.decompose_reduction(block, r)
    sch.transform_layout(block, lambda i, j: [i // rows, i % rows, j // 4, j % 4])
    sch.set_scope(block, "local")
    assert_same_results(matmul_relu(m, n, k), sch.func)


def test_loops_bound_to_threads_are_built_and_run() -> None:
    sch = irkit.Schedule(added())
    (i,) = sch.get_loops(sch.get_block("B"))
    i0, i1, i2 = sch.split(i, factors=[2, 2, 2])
    sch.reorder(i0, i2, i1)
    sch.bind(i0, "blockIdx.x")
    sch.bind(i2, "threadIdx.x")
    assert 'in thread(0, 2, "blockIdx.x")' in sch.mod.script()
    x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    irkit.build(sch.mod, target="llvm")["main"](x, y)
    np.testing.assert_array_equal(y, x + 1)


def test_the_span_of_every_lowered_loop_names_its_step() -> None:
    sch = irkit.Schedule(added())
    (i,) = sch.get_loops(sch.get_block("B"))
    outer, inner = sch.split(i, [2, 4])
    sch.parallel(outer)
    lowered = irkit.lower(sch.mod)["main"]
    spans = [loop.span for loop in walk(lowered, on=For)]
    assert [span and span.name for span in spans] == ["split#3", "split#3"]
    assert [span and span.file for span in spans] == [__file__, __file__]
    sch.vectorize(inner)
    (loop,) = walk(irkit.lower(sch.mod)["main"], on=For)
    assert loop.span is not None
    assert loop.span.name == "split#3"
