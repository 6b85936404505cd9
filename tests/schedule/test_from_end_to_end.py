"""A schedule as a user writes it, from tensors to a kernel."""

import numpy as np
import pytest

import irkit
from irkit import te
from irkit.core import walk
from irkit.ir import For


def added() -> irkit.IRModule:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    return irkit.IRModule({"main": te.create_prim_func([a, b])})


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


def test_every_loop_of_the_lowered_code_says_which_step_made_it() -> None:
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


def test_showing_prints_the_module(capsys: pytest.CaptureFixture[str]) -> None:
    sch = irkit.Schedule(added())
    sch.show()
    assert capsys.readouterr().out.strip() == sch.mod.script().strip()
    assert "<pre" in sch._repr_html_()


def test_what_a_notebook_shows_is_never_large() -> None:
    many = {f"f{at}": func for at in range(800) for func in added().functions.values()}
    sch = irkit.Schedule(irkit.IRModule(many), "f0")
    shown = sch._repr_html_()
    assert len(shown) <= 200_000
    assert "more lines" in shown


def test_another_function_of_the_module_is_worked_on() -> None:
    sch = irkit.Schedule(irkit.IRModule({**added().functions, "g": added()["main"]}))
    (i,) = sch.get_loops(sch.get_block("B"))
    sch.vectorize(i)
    sch.work_on("g")
    assert sch.func_working_on == "g"
    (j,) = sch.get_loops(sch.get_block("B"))
    sch.unroll(j)
    kinds = {name: next(walk(func, on=For)).kind for name, func in sch.mod.functions.items()}
    assert kinds == {"main": "vectorized", "g": "unrolled"}
    again = irkit.Schedule(irkit.IRModule({**added().functions, "g": added()["main"]}))
    sch.trace.apply(again)
    assert again.mod.script() == sch.mod.script()
    with pytest.raises(irkit.IRKitError, match="it has: main, g"):
        sch.work_on("h")


def test_blocks_know_who_writes_what_they_read() -> None:
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1.0, name="B")
    c = te.compute((8,), lambda i: b[i] * 2.0, name="C")
    sch = irkit.Schedule(te.create_prim_func([a, c]))
    first, last = sch.get_block("B"), sch.get_block("C")
    assert sch.get_producers(last) == [first]
    assert sch.get_consumers(first) == [last]
    assert sch.get_output_blocks() == [last]
    (i,) = sch.get_loops(first)
    assert sch.get_child_blocks(i) == [first]
    assert sch.get(last).name == "C"
