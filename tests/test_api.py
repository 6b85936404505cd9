"""The names that users rely on, used as they use them."""

import itertools
from pathlib import Path

import numpy as np
import onnx
import pytest

import irkit
from irkit import te, topi


def multiply() -> irkit.PrimFunc:
    m, n = te.var("m"), te.var("n")
    a = te.placeholder((m, n), name="A")
    b = te.placeholder((m, n), name="B")
    c = te.compute((m, n), lambda i, j: a[i, j] * b[i, j], name="C")
    return te.create_prim_func([a, b, c])


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (7, 33), (0, 4)])
def test_a_kernel_takes_any_m_and_n(shape: tuple[int, int]) -> None:
    mult = irkit.build(multiply(), target="llvm", name="mult")
    x, y = np.random.default_rng(0).random((2, *shape), dtype=np.float32)
    out = np.zeros(shape, dtype=np.float32)
    mult(x, y, out)
    np.testing.assert_array_equal(out, x * y)


def test_sources_can_be_seen() -> None:
    mult = irkit.build(multiply(), target="llvm", name="mult")
    assert "define i32 @mult" in mult.source("llvm")
    assert "mult:" in mult.source("asm")


def test_lowering_stops_after_the_phase_asked_for() -> None:
    func = multiply()
    raw, flat, done = func.script(), irkit.lower(func, stop_after=1).script(), irkit.lower(func)
    assert "with block" in raw
    assert "with block" not in flat
    assert "view(A" in flat
    assert "view(A" in done.script()


def test_every_step_says_what_it_was() -> None:
    steps = list(irkit.phases.DEFAULT.steps(multiply()))
    assert {step.phase for step in steps} == {1, 2, 3}
    for step, following in itertools.pairwise(steps):
        assert step.after is following.before
        assert step.seconds >= 0
        assert step.name


def test_a_tensor_knows_its_operation() -> None:
    a = te.placeholder((8,), name="A")
    c = te.compute((8,), lambda *i: a(*i) + 1.0)
    assert [axis.name for axis in c.op.axis]
    assert topi.sum(te.placeholder((3, 4)), axis=1).op.reduce_axis
    assert a.dtype == irkit.ir.F32


def test_a_mapping_of_targets_builds_a_module_for_each() -> None:
    built = irkit.build({"cpu": irkit.IRModule({"main": multiply()})}, target="llvm")
    x = np.full((2, 2), 3, dtype=np.float32)
    out = np.zeros_like(x)
    built["main"](x, x, out)
    assert out.tolist() == [[9, 9], [9, 9]]


def test_a_target_is_data() -> None:
    target = irkit.Target("llvm", features=("-avx512f",))
    assert target == irkit.Target("llvm", features=("-avx512f",))
    with pytest.raises(irkit.IRKitError, match="kind"):
        irkit.Target("fpga")


def test_symbolic_dimensions_are_fixed_on_import(tmp_path: Path) -> None:
    value = onnx.helper.make_tensor_value_info
    kind = onnx.TensorProto.FLOAT
    node = onnx.helper.make_node("Relu", ["x"], ["y"])
    graph = onnx.helper.make_graph(
        [node], "g", [value("x", kind, ["N", 4])], [value("y", kind, ["N", 4])]
    )
    path = tmp_path / "relu.onnx"
    opset = onnx.helper.make_opsetid("", 17)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset]), path)
    model = irkit.compile(str(path), shapes={"x": (2, 4)})
    x = np.array([[-1, 2, -3, 4]] * 2, dtype=np.float32)
    outputs = model.run({"x": x})
    np.testing.assert_array_equal(outputs["y"], np.maximum(x, 0))
    assert model.trace[0].level.name == "graph"
    model.save(tmp_path / "relu.irkit")
    again = irkit.load(tmp_path / "relu.irkit").run({"x": x})
    np.testing.assert_array_equal(again["y"], outputs["y"])


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (np.ones((2, 3)), TypeError, "float32"),
        (np.ones((2, 3, 1), dtype=np.float32), ValueError, "2"),
        (np.ones((2, 4), dtype=np.float32), ValueError, "'n'|4"),
        (np.ones((3, 2), dtype=np.float32).T, ValueError, "contiguous|strides"),
    ],
)
def test_a_wrong_argument_is_named_and_nothing_is_written(
    wrong: np.ndarray, error: type[Exception], says: str
) -> None:
    mult = irkit.build(multiply(), target="llvm", name="mult")
    x, out = np.ones((2, 3), dtype=np.float32), np.zeros((2, 3), dtype=np.float32)
    with pytest.raises(error, match=says) as raised:
        mult(x, wrong, out)
    assert "B" in str(raised.value)
    assert not out.any()


def test_a_read_only_output_is_refused() -> None:
    mult = irkit.build(multiply(), target="llvm", name="mult")
    x, out = np.ones((2, 3), dtype=np.float32), np.zeros((2, 3), dtype=np.float32)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="C"):
        mult(x, x, out)
