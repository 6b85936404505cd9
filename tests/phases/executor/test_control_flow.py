"""Choices and function values of a graph run natively, as what they mean."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import irkit
from irkit.core import IRKitError, IRModule, same, walk
from irkit.fuzz.generators.graphs.graph_samples import draw_graph
from irkit.fuzz.generators.sample import Sample, Unusable
from irkit.fuzz.judge.models import in_caches
from irkit.fuzz.picks import picks_of
from irkit.graph import (
    Apply,
    Bind,
    Builder,
    GraphFunc,
    GraphIf,
    GraphLoop,
    arrays_of,
    interpret,
    parse,
    parse_module,
    verify,
)

X = np.array([-1.0, 2.0, 0.5, 3.0], np.float32)


def samples(wanted: type, count: int) -> Iterator[tuple[Sample, IRModule]]:
    """Yield graphs of constant shapes with a step of a class, in the order of their seeds."""
    seed = 0
    while count:
        seed += 1
        try:
            sample = draw_graph(picks_of(seed))
        except Unusable:
            continue
        drawn = sample.ir  # A module if it has a loop, whose body is a function of its own.
        module = drawn if isinstance(drawn, IRModule) else IRModule({"main": drawn})
        func = module["main"]
        assert isinstance(func, GraphFunc)
        steps = [bind.step for bind in walk(func.body, Bind)]
        if "=" not in sample.inputs[0].name and any(isinstance(step, wanted) for step in steps):
            count -= 1
            yield sample, module


@pytest.mark.parametrize("wanted", [GraphIf, Apply, GraphLoop])
def test_drawn_graphs_run_as_what_they_mean(wanted: type) -> None:
    for sample, module in samples(wanted, 9):
        model = irkit.compile(module)
        names = [spec.name for spec in model.plan.inputs]
        given = dict(zip(names, sample.inputs[0].args, strict=True))
        found = model.run({**given, **in_caches(model, given)})
        (expected,), (allowed,) = sample.expected, sample.allowed
        assert expected is not None
        for one, own, most in zip(found.values(), expected, allowed, strict=True):
            limit = 0.0 if most is None else most
            own = own.astype(one.dtype)
            equal = (one == own) | ((one != one) & (own != own))
            with np.errstate(all="ignore"):
                apart = np.abs(one.astype(np.float64) - own.astype(np.float64))
            assert np.all(equal | (apart <= limit)), module["main"].script()


NESTED = """
def main(x: f32[4], c: bool[()], d: bool[()]):
    w: f32[4] = constant([1.0, 2.0, 3.0, 4.0])
    s: f32[4] = add(x, w)
    if c:
        a: f32[4] = exp(s)
        if d:
            b: f32[4] = multiply(a, w)
            p: (f32[4], f32[4]) = (b, a)
            q: (f32[4], f32[4]) = p
        else:
            e: (f32[4], f32[4]) = (a, a)
            q: (f32[4], f32[4]) = e
        i: f32[4] = q[0]
        j: f32[4] = q[1]
        k: f32[4] = subtract(i, j)
        r: f32[4] = k
    else:
        r: f32[4] = w
    y: f32[4] = add(r, s)
    return y
"""


def test_nested_choices_copy_what_they_do_not_compute() -> None:
    func = parse(NESTED)
    model = irkit.compile(IRModule({"main": func}))
    for c in (False, True):
        for d in (False, True):
            inputs = {"x": X, "c": np.array(c), "d": np.array(d)}
            (expected,) = arrays_of(interpret(func, inputs))
            np.testing.assert_allclose(model.run(inputs)["y"], expected, rtol=1e-6)


def test_only_one_side_runs_and_a_profile_counts_no_other() -> None:
    model = irkit.compile(IRModule({"main": parse(NESTED)}))
    inputs = {"x": X, "c": np.array(False), "d": np.array(True)}
    taken = model.profile(inputs, runs=2).calls
    assert len(taken) == 3
    more = model.profile({**inputs, "c": np.array(True)}, runs=2).calls
    assert len(more) > len(taken)
    assert len(model.plan.calls) > len(more)


def test_a_condition_can_be_computed_and_a_model_saved(tmp_path: Path) -> None:
    b = Builder("main")
    x = b.param("x", (4,))
    total = b.op("sum", x, axes=(0,), keepdims=False)
    zero = b.constant(np.float32(0))
    then, otherwise = b.inner(), b.inner()
    made = b.branch(
        b.op("less", total, zero),
        then.body(then.op("negative", x)),
        otherwise.body(otherwise.op("exp", x)),
    )
    model = irkit.compile(IRModule({"main": b.finish(made)}))
    model.save(tmp_path / "choice.irkit")
    for each in (model, irkit.load(tmp_path / "choice.irkit")):
        for array in (X, -X):
            expected = -array if array.sum() < 0 else np.exp(array)
            (found,) = each.run({"x": array}).values()
            np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_choice_by_a_constant_is_made_when_it_is_compiled() -> None:
    b = Builder("main")
    x = b.param("x", (4,))
    then, otherwise = b.inner(), b.inner()
    taken = b.branch(
        b.constant(np.array(True)),
        then.body(then.op("exp", x)),
        otherwise.body(otherwise.op("negative", x)),
    )
    model = irkit.compile(IRModule({"main": b.finish(taken)}))
    assert not model.plan.regions
    assert len(model.plan.calls) == 1


def test_functions_of_a_module_are_inlined_and_recursion_is_refused() -> None:
    inner = parse("def half(x: f32[4]):\n    y: f32[4] = exp(x)\n    return y\n")
    main = parse(
        "def main(x: f32[4]):\n"
        '    a: f32[4] = call("half", x)\n'
        '    b: f32[4] = call("half", a)\n'
        "    return b\n"
    )
    (found,) = irkit.compile(IRModule({"main": main, "half": inner})).run({"x": X}).values()
    np.testing.assert_allclose(found, np.exp(np.exp(X)), rtol=1e-5)
    loop = parse('def half(x: f32[4]):\n    y: f32[4] = call("half", x)\n    return y\n')
    with pytest.raises(IRKitError, match="cannot inline a recursive function: 'main' calls"):
        irkit.compile(IRModule({"main": main, "half": loop}))


STEP = """
def step(i: i64[()], a: f32[4], total: f32[()], w: f32[4]):
    s: f32[4] = multiply(a, w)
    t: f32[()] = sum(s, axes=(0,), keepdims=False)
    u: f32[()] = add(total, t)
    l: f32[()] = constant([100.0])
    g: bool[()] = less(u, l)
    r: (bool[()], f32[4], f32[()], f32[4], f32[()]) = (g, s, u, a, u)
    return r
"""
MAIN = """
def main(x: f32[4], w: f32[4], n: i64[()], c: bool[()]):
    z: f32[()] = constant([0.0])
    y: (i64[()], f32[4], f32[()], f32[6, 4], f32[6]) = loop("step", n, c, (x, z), (w,))
    return y
"""


def looped(x: np.ndarray, w: np.ndarray, n: int, c: bool) -> list[np.ndarray]:
    """Compute what the loop means, in NumPy."""
    rows, totals = np.zeros((6, 4), np.float32), np.zeros(6, np.float32)
    made, total = 0, np.float32(0)
    while c and made < min(n, 6):
        rows[made] = x
        x = x * w
        total = np.float32(total + x.sum())
        totals[made] = total
        c, made = bool(total < 100), made + 1
    return [np.array(made), x, total, rows, totals]


@pytest.mark.parametrize("n", [-1, 0, 1, 3, 6, 9])
def test_a_loop_keeps_its_state_and_its_rows(n: int) -> None:
    module = IRModule({"main": parse(MAIN), "step": parse(STEP)})
    assert verify(module) == []
    assert same(parse_module(module.script()), module)
    model = irkit.compile(module)
    for factor in (1.0, 2.0, 5.0):
        for c in (False, True):
            w = np.full(4, factor, np.float32)
            inputs = {"x": X, "w": w, "n": np.array(n), "c": np.array(c)}
            expected = looped(X, w, n, c)
            meant = list(arrays_of(interpret(module, inputs)))
            found = list(model.run(inputs).values())
            for one, two, three in zip(expected, meant, found, strict=True):
                np.testing.assert_allclose(two, one, rtol=1e-6)
                np.testing.assert_allclose(three, one, rtol=1e-6)
            assert len(model.profile(inputs, runs=1).calls) == (
                len(model.plan.calls) if c and n > 0 else 0
            )


RECURRENT = [
    ("LSTM", 4),
    pytest.param("GRU", 3, marks=pytest.mark.long),
    pytest.param("RNN", 1, marks=pytest.mark.long),
]


def recurrent(
    operator: str, weights: list[np.ndarray[Any, Any]], direction: str = "forward", *, lens: bool
) -> onnx.ModelProto:
    info = helper.make_tensor_value_info
    named = [numpy_helper.from_array(each, name) for each, name in zip(weights, "wrb", strict=True)]
    inputs = [info("x", onnx.TensorProto.FLOAT, ("seq", "batch", 3))]
    inputs += [info("lens", onnx.TensorProto.INT32, ("batch",))] * lens
    names = ["x", "w", "r", "b", *["lens"] * lens]
    node = helper.make_node(operator, names, ["y", "h"], hidden_size=4, direction=direction)
    outputs = [info(name, onnx.TensorProto.FLOAT, None) for name in ("y", "h")]
    graph = helper.make_graph([node], "g", inputs, outputs, named)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


@pytest.mark.parametrize(("operator", "gates"), RECURRENT)
def test_a_recurrence_of_any_length_runs_in_both_directions(operator: str, gates: int) -> None:
    rng = np.random.default_rng(3)
    shapes = ((2, gates * 4, 3), (2, gates * 4, 4), (2, gates * 8))
    weights = [rng.standard_normal(shape).astype("f") for shape in shapes]
    proto = recurrent(operator, weights, "bidirectional", lens=True)
    model = irkit.compile(
        proto, shapes={"x": ("seq in 1..64", "batch", 3), "lens": ("batch",)}, keep_trace=False
    )
    assert len(model.plan.regions) == 2
    # The reference goes forwards over one sequence: so each is cut, and turned, by hand.
    sides = [recurrent(operator, [each[at : at + 1] for each in weights], lens=False)
             for at in (0, 1)]  # fmt: skip
    references = [ReferenceEvaluator(side) for side in sides]
    for length, lens in ((1, [1]), (6, [6, 2]), (21, [1, 20, 21])):
        x = rng.standard_normal((length, len(lens), 3)).astype("f")
        found = model.run({"x": x, "lens": np.array(lens, np.int32)})
        for at, used in enumerate(lens):
            for side, turn in enumerate((slice(None), slice(None, None, -1))):
                y, h = references[side].run(None, {"x": x[:used, at : at + 1][turn]})
                np.testing.assert_allclose(
                    found["y"][:used, side, at], y[:, 0, 0][turn], 1e-4, 1e-5
                )
                assert not found["y"][used:, side, at].any()
                np.testing.assert_allclose(found["h"][side, at], h[0, 0], 1e-4, 1e-5)


def test_a_scan_of_any_length_goes_backwards() -> None:
    info, f = helper.make_tensor_value_info, onnx.TensorProto.FLOAT
    body = helper.make_graph(
        [helper.make_node("Add", ["s", "row"], ["t"]), helper.make_node("Identity", ["t"], ["u"])],
        "body", [info(each, f, (2,)) for each in ("s", "row")],
        [info(each, f, (2,)) for each in ("t", "u")],
    )  # fmt: skip
    node = helper.make_node(
        "Scan", ["s", "x"], ["last", "sums"], body=body, num_scan_inputs=1,
        scan_input_directions=[1], scan_output_directions=[1],
    )  # fmt: skip
    graph = helper.make_graph(
        [node], "g", [info("s", f, (2,)), info("x", f, ("n", 2))],
        [info("last", f, (2,)), info("sums", f, ("n", 2))],
    )  # fmt: skip
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    model = irkit.compile(proto, shapes={"x": ("n in 0..90", 2)}, keep_trace=False)
    for rows in (1, 3, 40):
        x = np.random.default_rng(rows).integers(-9, 9, (rows, 2)).astype("f")
        found = model.run({"s": np.ones(2, "f"), "x": x})
        assert np.array_equal(found["last"], 1 + x.sum(0))
        assert np.array_equal(found["sums"], 1 + x[::-1].cumsum(0)[::-1])


def test_a_loop_over_a_dimension_stacks_a_row_for_each_step() -> None:
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [
            helper.make_node("Gather", ["x", "i"], ["row"]),
            helper.make_node("Add", ["total", "row"], ["next"]),
            helper.make_node("Identity", ["next"], ["kept"]),
            helper.make_node("Identity", ["on"], ["on_next"]),
        ],
        "body",
        [
            info("i", onnx.TensorProto.INT64, ()),
            info("on", onnx.TensorProto.BOOL, ()),
            info("total", onnx.TensorProto.FLOAT, (3,)),
        ],
        [
            info("on_next", onnx.TensorProto.BOOL, ()),
            info("next", onnx.TensorProto.FLOAT, (3,)),
            info("kept", onnx.TensorProto.FLOAT, (3,)),
        ],
    )
    graph = helper.make_graph(
        [
            helper.make_node("Shape", ["x"], ["n"], start=0, end=1),
            helper.make_node("Squeeze", ["n"], ["steps"]),
            helper.make_node("Loop", ["steps", "", "start"], ["last", "rows"], body=body),
        ],
        "g",
        [info("x", onnx.TensorProto.FLOAT, ("seq", 3))],
        [info(name, onnx.TensorProto.FLOAT, None) for name in ("last", "rows")],
        [helper.make_tensor("start", onnx.TensorProto.FLOAT, (3,), (0.0,) * 3)],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    model = irkit.compile(proto, shapes={"x": ("seq in 0..64", 3)}, keep_trace=False)
    for length in (0, 1, 30):
        x = np.random.default_rng(length).integers(-4, 5, (length, 3)).astype("f")
        found = model.run({"x": x})
        np.testing.assert_array_equal(found["rows"], np.cumsum(x, axis=0))
        np.testing.assert_array_equal(found["last"], x.sum(0))
