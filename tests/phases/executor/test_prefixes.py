"""Results whose size depends on data, in one program: prefixes of what has room for the most."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import irkit
from irkit.core import IRKitError, IRModule
from irkit.debug import check
from irkit.frontend.onnx import import_onnx
from irkit.graph import GraphFunc, GraphIf, arrays_of, interpret, parse_module, verify
from irkit.phases import GRAPH
from irkit.runtime import Model

ROWS = """\
def main(x: f32[m, 3], count: i64[()], more: bool[()]):
    r: f32[m, 3] = relu(x)
    y: f32[n, 3] = prefix(r, count)
    z: f32[n, 3] = exp(y)
    s: f32[3] = sum(z, axes=(0,), keepdims=False)
    if more:
        w: f32[k, 3] = prefix(z, count)
        t: f32[3] = max(w, axes=(0,), keepdims=False)
        o: f32[3] = t
    else:
        o: f32[3] = s
    l: (i64[()], f32[3]) = loop("step", count, more, (o,), (x, count))
    f: f32[3] = l[1]
    p: (f32[n, 3], f32[n, 3], f32[3]) = (y, z, f)
    return p

def step(number: i64[()], a: f32[3], x: f32[m, 3], count: i64[()]):
    part: f32[j, 3] = prefix(x, number)
    b: f32[3] = sum(part, axes=(0,), keepdims=False)
    c: f32[3] = add(a, b)
    again: bool[()] = constant([True])
    p: (bool[()], f32[3]) = (again, c)
    return p
"""


@pytest.fixture(scope="module")
def rows() -> tuple[IRModule, Model]:
    module = parse_module(ROWS)
    return module, irkit.compile(module, keep_trace=False)


def floats(*shape: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(sum(shape)).uniform(-1, 1, shape).astype(np.float32)


@pytest.mark.parametrize("more", [True, False])
def test_a_program_runs_any_number_of_rows(rows: tuple[IRModule, Model], more: bool) -> None:
    module, model = rows
    for most in (1, 4, 70):
        for count in {1, 2, most} - {2 if most == 1 else 0}:
            feeds = {"x": floats(most, 3), "count": np.array(count), "more": np.array(more)}
            found = list(model.run(feeds).values())
            for one, other in zip(found, arrays_of(interpret(module, feeds)), strict=True):
                assert one.shape == other.shape
                np.testing.assert_allclose(one, other, 1e-5, 1e-5)


def test_more_rows_than_there_are_end_the_run_with_an_error(rows: tuple[IRModule, Model]) -> None:
    module, model = rows
    for count in (5, -1, 1 << 40):
        feeds = {"x": floats(4, 3), "count": np.array(count), "more": np.array(False)}
        with pytest.raises(IRKitError, match="and has room for"):
            model.run(feeds)
        with pytest.raises(IRKitError, match=r"'y' takes -?\d+ rows of 'r', which has 4"):
            interpret(module, feeds)


def test_a_loaded_package_profiles_and_writes_to_given_memory(
    rows: tuple[IRModule, Model], tmp_path: Path
) -> None:
    rows[1].save(tmp_path / "m.irkit")
    model = irkit.load(tmp_path / "m.irkit")
    feeds = {"x": floats(6, 3), "count": np.array(2), "more": np.array(True)}
    want = model.run(feeds)
    given = np.zeros((2, 3), np.float32)
    found = model.run(feeds, out={"z": given})
    assert found["z"] is given
    assert np.array_equal(given, want["z"])
    with pytest.raises(irkit.core.ShapeError, match=r"output 'z' must have shape \(2, 3\)"):
        model.run(feeds, out={"z": np.zeros((3, 3), np.float32)})
    assert {call.kernel for call in model.profile(feeds, runs=1).calls} >= {"relu", "exp"}


def test_the_memory_of_a_call_is_that_of_the_most_rows(rows: tuple[IRModule, Model]) -> None:
    plan = rows[1].plan
    assert plan.capacities == {0: ("m", 3), 1: ("m", 3)}
    assert [each.most for each in plan.measured] == ["m", "n", "m"]
    before = {*(dim.name for dim in plan.dims), *(step.name for step in plan.sizes)}
    places = {place.at for call in plan.calls for place in call.args if place.kind == "arena"}
    assert {at for at in places if isinstance(at, str)} <= before


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("    s: f32[3] = sum(z", "    s: f32[3] = sum(w", ""),
        ("prefix(z, count)", "prefix(count, count)", "count has no rows"),
        ("prefix(r, count)", "prefix(r, x)", "must be i64"),
    ],
)
def test_the_verifier_knows_prefixes(before: str, after: str, problem: str) -> None:
    text = ROWS.replace(before, after)
    if not problem:
        with pytest.raises(IRKitError, match="unknown value"):
            parse_module(text)
        return
    assert any(problem in str(each) for each in verify(parse_module(text)))


def test_a_dimension_does_not_leave_the_body_that_binds_it() -> None:
    main = parse_module(ROWS)["main"]
    assert isinstance(main, GraphFunc)
    (choice,) = (bind for bind in main.body.bindings if isinstance(bind.step, GraphIf))
    assert isinstance(choice.step, GraphIf)
    inside = choice.step.then.bindings[0].var
    wrong = choice.replace(var=choice.var.replace(type=inside.type))
    bindings = tuple(wrong if each is choice else each for each in main.body.bindings)
    problems = verify(main.replace(body=main.body.replace(bindings=bindings)))
    assert any("dimension 'k', which is not bound there" in str(each) for each in problems)


def head() -> onnx.ModelProto:
    """Return a detection head: boxes in one of two forms by a choice, then suppression."""

    def side(name: str, *nodes: onnx.NodeProto) -> onnx.GraphProto:
        return helper.make_graph(nodes, name, [], [helper.make_empty_tensor_value_info(name)])

    node = helper.make_node
    nodes = [
        node("If", ["corners"], ["boxes"],
             then_branch=side("as_is", node("Identity", ["raw"], ["as_is"])),
             else_branch=side("turned", node("Split", ["raw"], ["c", "d"], axis=2, num_outputs=2),
                              node("Mul", ["d", "half"], ["h"]), node("Sub", ["c", "h"], ["low"]),
                              node("Add", ["c", "h"], ["high"]),
                              node("Concat", ["low", "high"], ["turned"], axis=2))),
        node("Sigmoid", ["logits"], ["scores"]),
        node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "least"], ["selected"]),
        node("Slice", ["selected", "two", "three", "one"], ["column"]),
        node("Squeeze", ["column", "one"], ["places"]),
        node("Squeeze", ["boxes", "zero"], ["flat"]),
        node("Gather", ["flat", "places"], ["found"], axis=0),
        node("ReduceSum", ["found", "zero"], ["total"], keepdims=0),
    ]  # fmt: skip
    constants = {"most": np.array([5]), "overlap": np.float32([0.4]), "least": np.float32([0.5]),
                 "zero": np.array([0]), "one": np.array([1]), "two": np.array([2]),
                 "three": np.array([3]), "half": np.float32(0.5)}  # fmt: skip
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "head",
        [value("raw", TensorProto.FLOAT, [1, "n", 4]),
         value("logits", TensorProto.FLOAT, [1, "classes", "n"]),
         value("corners", TensorProto.BOOL, [])],
        [value("selected", TensorProto.INT64, ["k", 3]),
         value("found", TensorProto.FLOAT, ["k", 4]), value("total", TensorProto.FLOAT, [4])],
        [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def boxes_of(count: int, classes: int, corners: bool) -> dict[str, Any]:
    rng = np.random.default_rng(count)
    low, size = rng.uniform(0, 1, (1, count, 2)), rng.uniform(0.05, 0.3, (1, count, 2))
    logits = rng.uniform(-1, 2, (1, classes, count))
    raw = np.concatenate([low, low + size if corners else size], axis=2)
    return {
        "raw": raw.astype(np.float32),
        "logits": logits.astype(np.float32),
        "corners": np.array(corners),
    }


HEAD_SHAPES = {"raw": (1, "n in 0..500", 4), "logits": (1, "classes in 1..8", "n")}


@pytest.fixture(scope="module")
def compiled_head() -> Model:
    return irkit.compile(head(), shapes=HEAD_SHAPES, keep_trace=False)


@pytest.mark.parametrize("corners", [True, False])
def test_a_detection_head_is_one_program_for_all_sizes(compiled_head: Model, corners: bool) -> None:
    assert type(compiled_head) is Model
    assert compiled_head.specialisations == ()
    reference = ReferenceEvaluator(head())
    for count, classes in ((1, 1), (2, 3), (9, 8), (60, 2)):
        feeds = boxes_of(count, classes, corners)
        want = reference.run(None, feeds)
        for one, other in zip(compiled_head.run(feeds).values(), want, strict=True):
            assert one.shape == other.shape
            np.testing.assert_allclose(one, other, 1e-5, 1e-6)
    empty = compiled_head.run(boxes_of(0, 2, corners))
    assert empty["selected"].shape == (0, 3)
    assert empty["total"].tolist() == [0] * 4


def test_check_compares_each_pass_on_a_program_with_prefixes() -> None:
    module = import_onnx(head(), shapes={"raw": (1, 6, 4), "logits": (1, 2, 6)})
    verdicts = check(GRAPH.steps(module), boxes_of(6, 2, True))
    unknown = [verdict.message for verdict in verdicts if verdict.status != "same"]
    assert len(unknown) < len(verdicts)
    # A step on one function does not hold the kernels that the others of the module are.
    assert all("'select_boxes' is called, and is not known here" in each for each in unknown)
