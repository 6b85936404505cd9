"""A result is written over an input, exactly there, and nothing is copied that the caller gave."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.helper import make_node

import irkit
from irkit.core import DTypeError, InputError, IRKitError, IRModule, ShapeError
from irkit.fuzz.generators.graphs.graph_samples import draw_graph
from irkit.fuzz.generators.sample import Unusable
from irkit.fuzz.picks import picks_of
from irkit.graph import (
    GraphFunc,
    StatePair,
    arrays_of,
    interpret,
    parse_module,
    results_of,
    verify,
    with_state,
)

STEP = """\
def main(h: f32[4], g: f32[4], x: f32[4]):
    a: f32[4] = multiply(h, x)
    b: f32[4] = exp(a)
    c: f32[4] = add(h, x)
    d: f32[4] = tanh(b)
    r: (f32[4], f32[4], f32[4]) = (c, b, d)
    return r
"""
STATE = {"h": "c", "g": "d"}


def arrays() -> dict[str, Any]:
    return {name: np.arange(4, dtype=np.float32) + at for at, name in enumerate("hgx")}


def test_outputs_lie_where_the_inputs_were(tmp_path: Path) -> None:
    module = parse_module(STEP)
    compiled = irkit.compile(module, state=STATE)
    compiled.save(tmp_path / "m.irkit")
    for model in (compiled, irkit.load(tmp_path / "m.irkit")):
        given = arrays()
        expected = [each.copy() for each in arrays_of(interpret(module, given))]
        found = model.run(given)
        assert found["c"] is given["h"]
        assert found["d"] is given["g"]
        for own, array in zip(expected, found.values(), strict=True):
            np.testing.assert_allclose(array, own, rtol=1e-6)
    # One is not read by what computes it; the other is read element by element.
    assert compiled.plan.copies == ()


def test_what_reads_an_input_while_it_computes_the_output_is_not_computed_there() -> None:
    module = parse_module("""\
def main(h: f32[100]):
    a: f32[100] = slice(h, begins=(99,), ends=(-101,), strides=(-1,), axes=(0,))
    return a
""")
    model, h = irkit.compile(module, state={"h": "a"}), np.arange(100, dtype=np.float32)
    expected = h[::-1].copy()
    assert len(model.plan.copies) == 1
    np.testing.assert_array_equal(model.run({"h": h})["a"], expected)
    np.testing.assert_array_equal(h, expected)


def test_a_profile_leaves_the_state_alone() -> None:
    model, given = irkit.compile(parse_module(STEP), state=STATE), arrays()
    model.profile(given, runs=2)
    np.testing.assert_array_equal(given["h"], arrays()["h"])


def refused(change: dict[str, Any], kind: type[Exception], said: str, **how: Any) -> None:
    model = irkit.compile(parse_module(STEP), state=STATE)
    given = {**arrays(), **change}
    before = {name: np.array(each) for name, each in given.items()}
    with pytest.raises(kind, match=said):
        model.run(given, **how)
    for name, each in before.items():
        np.testing.assert_array_equal(given[name], each)


def test_an_array_that_cannot_be_written_in_place_is_refused_by_name() -> None:
    fixed = np.zeros(4, np.float32)
    fixed.flags.writeable = False
    shared = np.zeros(6, np.float32)
    odd = np.zeros(17, np.uint8)[1:].view(np.float32)
    refused({"h": fixed}, ShapeError, "input 'h', which is written over, is read-only")
    refused({"h": np.zeros(8, np.float32)[::2]}, ShapeError, "input 'h'.*must be contiguous")
    refused({"h": odd}, ShapeError, "input 'h'.*must be aligned")
    refused({"h": [0.0] * 4}, DTypeError, "input 'h'.*must be a NumPy array to write to")
    refused({"h": np.zeros(4)}, DTypeError, "input 'h'.*must be of type float32")
    refused({"h": np.zeros(5, np.float32)}, ShapeError, "input 'h'.*must have shape")
    refused({"h": shared[:4], "x": shared[2:]}, ShapeError, "'h' is written and overlaps.*'x'")
    refused({"h": shared[:4], "g": shared[2:]}, ShapeError, "is written and overlaps")
    out = np.zeros(4, np.float32)
    refused({}, InputError, "'c' is written over input 'h'", out={"c": out})
    refused({"h": out}, ShapeError, "'b' is written and overlaps input 'h'", out={"b": out})


def test_names_that_are_not_the_models_are_refused() -> None:
    module = parse_module(STEP)
    for state, said in (({"q": "c"}, "'q' is not an input"), ({"h": "q"}, "'q' is not an output")):
        with pytest.raises(InputError, match=said):
            irkit.compile(module, state=state)
    with pytest.raises(IRKitError, match="'b' reads parameter 'h', which 'a'"):
        irkit.compile(
            parse_module(STEP.replace("(c, b, d)", "(a, c, d)").replace("exp(a)", "exp(h)")),
            state={"h": "a"},
        )


def test_a_state_of_an_onnx_model_is_kept_by_its_names() -> None:
    nodes = [make_node("Add", ["s", "x"], ["t"]), make_node("Relu", ["t"], ["y"])]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        [info(name, TensorProto.FLOAT, (2, "n")) for name in "sx"],
        [info(name, TensorProto.FLOAT, (2, "n")) for name in "ty"],
    )
    proto: onnx.ModelProto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    shapes = {"s": (2, "n"), "x": (2, "n")}
    model = irkit.compile(proto, shapes=shapes, state={"s": "t"})
    for size in (3, 5):
        s, x = np.zeros((2, size), np.float32), np.ones((2, size), np.float32)
        for _ in range(3):
            found = model.run({"s": s, "x": x})
        assert found["t"] is s
        np.testing.assert_array_equal(found["y"], 3 * x)


def with_a_pair(func: GraphFunc) -> GraphFunc | None:
    """Return a function with a pair that the verifier accepts, if there is one."""
    for at in range(len(func.params)):
        for number in range(len(results_of(func))):
            made = with_state(func, (StatePair(at, number),))
            if not verify(made):
                return made
    return None


def test_drawn_graphs_with_state_compute_the_same() -> None:
    tried, direct, seed = 0, 0, 0
    while tried < 6:
        seed += 1
        try:
            sample = draw_graph(picks_of(seed))
        except Unusable:
            continue
        if not isinstance(sample.ir, GraphFunc):
            continue
        free = with_state(sample.ir, ())
        func = None if "=" in sample.inputs[0].name else with_a_pair(free)
        if func is None:
            continue
        tried += 1
        plain, model = (irkit.compile(IRModule({"main": each})) for each in (free, func))
        names = [spec.name for spec in model.plan.inputs]
        args = [np.array(each) for each in sample.inputs[0].args]
        expected = plain.run(dict(zip(names, args, strict=True)))
        found = model.run(dict(zip(names, args, strict=True)))
        direct += not model.plan.copies
        for one, own in zip(found.values(), expected.values(), strict=True):
            np.testing.assert_array_equal(one, own)
    assert direct
