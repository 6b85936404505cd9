"""Loop and Scan that stay loops, beside the reference of ONNX."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.helper import make_node, make_tensor_value_info as info
from onnx.reference import ReferenceEvaluator

import irkit
from irkit.codegen import Repeat
from irkit.core import IRKitError
from irkit.frontend.onnx import import_onnx
from irkit.runtime import Model

F, INT, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def model(
    nodes: list, inputs: list, outputs: list, constants: dict | None = None
) -> onnx.ModelProto:
    made = [onnx.numpy_helper.from_array(a, n) for n, a in (constants or {}).items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, made)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def halving() -> onnx.GraphProto:
    """Halve until the sum is below a limit from outside; the row is what was halved."""
    nodes = [
        make_node("Mul", ["a", "half"], ["next"]),
        make_node("ReduceSum", ["next"], ["total"], keepdims=0),
        make_node("Greater", ["total", "limit"], ["again"]),
        make_node("Identity", ["a"], ["row"]),
    ]
    ins = [info("i", INT, []), info("c", BOOL, []), info("a", F, [3])]
    outs = [info("again", BOOL, []), info("next", F, [3]), info("row", F, [3])]
    half = onnx.numpy_helper.from_array(np.float32(0.5), "half")
    return helper.make_graph(nodes, "body", ins, outs, [half])


def loop_model(rows: bool, most: int | None) -> onnx.ModelProto:
    body = halving()
    if not rows:
        del body.output[2]
    outputs = ["last", *["table"] * rows]
    node = make_node("Loop", ["m" if most is not None else "", "go", "x"], outputs, body=body)
    constants = {"go": np.array(True)}  # The reference makes no iteration without a condition.
    if most is not None:
        constants["m"] = np.array(most, np.int64)
    outs = [info("last", F, [3]), *([info("table", F, ["n", 3])] if rows else [])]
    return model([node], [info("x", F, [3]), info("limit", F, [])], outs, constants)


@pytest.mark.parametrize(("rows", "most"), [(False, None), (False, 40), (True, 40)])
def test_a_loop_runs_until_its_condition_fails(rows: bool, most: int | None) -> None:
    proto = loop_model(rows, most)
    compiled, reference = irkit.compile(proto), ReferenceEvaluator(proto)
    x = np.array([64.0, 32.0, 4.0], np.float32)
    for limit in (0.0, 10.0, 99.0, 1000.0) if most else (1.0, 10.0, 1000.0):
        feeds = {"x": x, "limit": np.float32(limit)}
        for found, expected in zip(
            compiled.run(feeds).values(), reference.run(None, feeds), strict=True
        ):
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_loop_of_a_number_that_is_an_input() -> None:
    body = halving()
    del body.output[2]
    del body.output[0]
    body.output.insert(0, info("c", BOOL, []))
    node = make_node("Loop", ["m", "go", "x"], ["last"], body=body)
    proto = model(
        [node],
        [info("x", F, [3]), info("limit", F, []), info("m", INT, []), info("go", BOOL, [])],
        [info("last", F, [3])],
    )
    compiled, reference = irkit.compile(proto), ReferenceEvaluator(proto)
    assert any(isinstance(region, Repeat) for region in compiled.plan.regions)
    for m in (0, 1, 5):
        for go in (False, True):
            feeds = {
                "x": np.array([64.0, 32.0, 4.0], np.float32),
                "limit": np.float32(1),
                "m": np.array(m, np.int64),
                "go": np.array(go),
            }
            (expected,) = reference.run(None, feeds)
            np.testing.assert_allclose(compiled.run(feeds)["last"], expected, rtol=1e-6)


def test_rows_of_a_loop_without_a_limit_are_refused_with_the_remedy() -> None:
    with pytest.raises(IRKitError, match="how many it makes at most is not known; its first input"):
        irkit.compile(loop_model(True, None))


def test_a_loop_without_iterations_has_no_rows() -> None:
    compiled = irkit.compile(loop_model(True, 0))
    x = np.array([64.0, 32.0, 4.0], np.float32)
    found = compiled.run({"x": x, "limit": np.float32(1)})
    np.testing.assert_array_equal(found["last"], x)
    assert found["table"].shape == (0, 3)
    assert found["table"].dtype == np.float32


def scan_model(steps: int | str, back: int, out_back: int, out_axis: int) -> onnx.ModelProto:
    """Return sums up to each slice, and the slices scaled by what is around."""
    nodes = [
        make_node("Add", ["s", "slice"], ["sum"]),
        make_node("Mul", ["slice", "w"], ["scaled"]),
        make_node("Identity", ["sum"], ["row"]),
    ]
    ins = [info("s", F, [3]), info("slice", F, [3])]
    outs = [info("sum", F, [3]), info("row", F, [3]), info("scaled", F, [3])]
    node = make_node(
        "Scan",
        ["x", "table"],
        ["last", "sums", "scaled_all"],
        body=helper.make_graph(nodes, "body", ins, outs),
        num_scan_inputs=1,
        scan_input_axes=[1],
        scan_input_directions=[back],
        scan_output_axes=[0, out_axis],
        scan_output_directions=[0, out_back],
    )
    whole = [3, steps] if out_axis else [steps, 3]
    return model(
        [node],
        [info("x", F, [3]), info("table", F, [3, steps]), info("w", F, [3])],
        [info("last", F, [3]), info("sums", F, [steps, 3]), info("scaled_all", F, whole)],
    )


@pytest.mark.parametrize(("back", "out_back", "out_axis"), [(0, 0, 0), (1, 0, 1), (0, 1, 1)])
def test_a_scan_of_many_slices_stays_a_loop(back: int, out_back: int, out_axis: int) -> None:
    proto = scan_model(40, back, out_back, out_axis)
    compiled = irkit.compile(proto)
    assert len(compiled.plan.calls) < 10
    check_scan(compiled, 40, back, out_back, out_axis)


def check_scan(compiled: Model, steps: int, back: int, out_back: int, out_axis: int) -> None:
    rng = np.random.default_rng(steps)
    x = rng.integers(-3, 4, 3).astype(np.float32)
    table = rng.integers(-3, 4, (3, steps)).astype(np.float32)
    w = np.array([1, -2, 3], np.float32)
    slices = table.T[::-1] if back else table.T
    sums = x + np.cumsum(slices, axis=0)
    scaled = (slices * w)[::-1] if out_back else slices * w
    expected = [sums[-1], sums, scaled.T if out_axis else scaled]
    found = compiled.run({"x": x, "table": table, "w": w}).values()
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_scan_of_any_number_of_slices() -> None:
    compiled = irkit.compile(scan_model("n", 0, 0, 1), shapes={"table": (3, "n in 1..200")})
    for steps in (1, 2, 33, 200):
        check_scan(compiled, steps, 0, 0, 1)


@pytest.mark.parametrize("count", [3, 20])
def test_rows_of_different_shapes_are_refused_by_loop_output_and_iteration(count: int) -> None:
    nodes = [
        make_node("Reshape", ["i", "one"], ["number"]),
        make_node("Add", ["number", "one"], ["end"]),
        make_node("Slice", ["x", "zero", "end"], ["row"]),
        make_node("Identity", ["c"], ["again"]),
    ]
    inputs = [info("i", TensorProto.INT64, []), info("c", TensorProto.BOOL, [])]
    outputs = [info("again", TensorProto.BOOL, []), info("row", TensorProto.FLOAT, None)]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    made = {"one": np.array([1]), "zero": np.array([0]), "count": np.array(count)}
    graph = helper.make_graph(
        [make_node("Loop", ["count", ""], ["rows"], name="growing", body=body)],
        "rows",
        [info("x", TensorProto.FLOAT, [30])],
        [info("rows", TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(array, name) for name, array in made.items()],
    )
    message = r"'growing': its output 'rows' collects f32\[1\] in iteration 0 and f32\[2\] in it"
    with pytest.raises(IRKitError, match=message):
        import_onnx(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)]))
