"""State that grows in the memory of the caller: rows are appended, and no others are written."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.helper import make_node

import irkit
from irkit.core import DTypeError, IRKitError, IRModule, ShapeError
from irkit.frontend.onnx import import_onnx
from irkit.graph import arrays_of, interpret, parse_module
from irkit.phases import GRAPH
from irkit.phases.executor.state_names import in_place

TEXT = """\
def main(past: f32[2, n, 3], x: f32[2, 1, 3]):
    present = concat(past, x, axis=1)
    e = exp(present)
    s = sum(e, axes=(1,), keepdims=True)
    q = sum(past, axes=(1,), keepdims=True)
    r = (present, s, q)
    return r
"""
STATE = {"past": ("present", 1, 5)}


def rows(seed: int) -> Any:
    return np.random.default_rng(seed).random((2, 1, 3), np.float32)


def test_tokens_are_appended_until_the_cache_is_full() -> None:
    model = irkit.compile(parse_module(TEXT), state=STATE)
    cache = irkit.Cache(np.full((2, 5, 3), -9, np.float32))
    given: list[Any] = []
    for token in range(5):
        given.append(rows(token))
        found = model.run({"past": cache, "x": given[-1]})
        whole = np.concatenate(given, axis=1)
        assert cache.length == token + 1
        assert np.shares_memory(found["present"], cache.array)
        np.testing.assert_array_equal(found["present"], whole)
        np.testing.assert_array_equal(cache.array[:, token + 1 :], -9)
        np.testing.assert_allclose(found["s"], np.exp(whole).sum(1, keepdims=True), rtol=1e-5)
        np.testing.assert_allclose(found["q"], whole[:, :-1].sum(1, keepdims=True), rtol=1e-5)
    before = cache.array.copy()
    with pytest.raises(ShapeError, match=r"'past' is full: output 'present' has 6 rows .* for 5"):
        model.run({"past": cache, "x": rows(9)})
    assert cache.length == 5
    np.testing.assert_array_equal(cache.array, before)


def test_a_profile_leaves_a_cache_alone_and_does_not_fill_it() -> None:
    model = irkit.compile(parse_module(TEXT), state=STATE)
    cache = irkit.Cache(np.zeros((2, 5, 3), np.float32), 4)
    model.profile({"past": cache, "x": rows(0)}, runs=3)
    assert cache.length == 4
    assert not np.any(cache.array)


def test_the_bytes_written_for_a_token_do_not_depend_on_the_length() -> None:
    for capacity in (5, 4096):
        model = irkit.compile(parse_module(TEXT), state={"past": ("present", 1, capacity)})
        (call,) = [call for call in model.plan.calls if call.kernel == "append"]
        work = model.plan.work[call.kernel]
        assert (work.stored, work.exact) == (rows(0).nbytes, True)
        assert model.plan.copies == ()


def test_the_interpreter_runs_the_kernels_of_a_cache() -> None:
    module = parse_module(TEXT)
    lowered = GRAPH.run(in_place(module, STATE))
    assert isinstance(lowered, IRModule)
    past = np.random.default_rng(1).random((2, 4, 3), np.float32)
    inputs = {"past": past, "x": rows(0)}
    both = zip(
        arrays_of(interpret(lowered, inputs)), arrays_of(interpret(module, inputs)), strict=True
    )
    for found, expected in both:
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_what_is_no_cache_is_refused() -> None:
    model, x = irkit.compile(parse_module(TEXT), state=STATE), rows(0)
    room = np.zeros((2, 5, 3), np.float32)
    for given, kind, said in (
        (room, DTypeError, "input 'past' must be an irkit.Cache, found ndarray"),
        (irkit.Cache(room, 6), ShapeError, "has a length of 6, expected 0 to 5"),
        (irkit.Cache(room[:, :4]), ShapeError, "the array of input 'past' must have shape"),
        (irkit.Cache(room[::-1]), ShapeError, "the array of input 'past' must be contiguous"),
    ):
        with pytest.raises(kind, match=said):
            model.run({"past": given, "x": x})
    with pytest.raises(ShapeError, match="input 'past' is written and overlaps input 'x'"):
        model.run({"past": irkit.Cache(room), "x": room[:, 4:]})


@pytest.mark.parametrize(
    ("text", "state", "said"),
    [
        (TEXT.replace("(past, x, axis=1)", "(x, past, axis=1)"), STATE, "concatenates rows to it"),
        (TEXT, {"past": ("present", 0, 5)}, "concatenates rows to it along axis 0"),
        (TEXT, {"past": ("s", 1, 5)}, "concatenates rows to it"),
        (TEXT.replace("(present, s, q)", "(present, s, past)"), STATE, "stands for one of them"),
        (TEXT, {"past": ("present", 1, 0)}, "whose type differs"),
    ],
)
def test_what_cannot_grow_in_place_is_refused(text: str, state: Any, said: str) -> None:
    with pytest.raises(IRKitError, match=said):
        irkit.compile(parse_module(text), state=state)


CHOICE = """\
def main(past: f32[2, n, 3], x: f32[2, 1, 3], c: bool[()]):
    present = concat(past, x, axis=1)
    if c:
        a = exp(present)
        b = sum(a, axes=(1,))
        y: f32[2, 3] = b
    else:
        d = sum(past, axes=(1,))
        y: f32[2, 3] = d
    r = (present, y)
    return r
"""


def decoded(model: Any, run: Any, **others: Any) -> None:
    """Append five rows, and compare each run with what the graph means."""
    cache, past = irkit.Cache(np.full((2, 5, 3), -9, np.float32)), np.zeros((2, 0, 3), np.float32)
    for token in range(5):
        given = {"x": rows(token), **{name: np.array(at(token)) for name, at in others.items()}}
        wanted = run({"past": past, **given})
        found = list(model.run({"past": cache, **given}).values())
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5)
        past = found[0].copy()


def test_a_choice_reads_a_cache() -> None:
    module = parse_module(CHOICE)
    model = irkit.compile(module, state=STATE)
    decoded(model, lambda given: arrays_of(interpret(module, given)), c=lambda at: at % 2 == 0)


def looping() -> onnx.ModelProto:
    """Return a model whose loop reads the rows of a cache."""
    info, float_ = helper.make_tensor_value_info, TensorProto.FLOAT
    body = helper.make_graph(
        [
            make_node("ReduceSum", ["present", "axes"], ["s"], keepdims=0),
            make_node("Add", ["a", "s"], ["a_next"]),
            make_node("Identity", ["on"], ["on_next"]),
        ],
        "body",
        [
            info("i", TensorProto.INT64, ()),
            info("on", TensorProto.BOOL, ()),
            info("a", float_, (2, 3)),
        ],
        [info("on_next", TensorProto.BOOL, ()), info("a_next", float_, (2, 3))],
    )
    graph = helper.make_graph(
        [
            make_node("Concat", ["past", "x"], ["present"], axis=1),
            make_node("Loop", ["k", "", "start"], ["y"], body=body),
        ],
        "g",
        [
            info("past", float_, (2, "past", 3)),
            info("x", float_, (2, 1, 3)),
            info("k", TensorProto.INT64, ()),
        ],
        [info("present", float_, None), info("y", float_, (2, 3))],
        [
            helper.make_tensor("axes", TensorProto.INT64, (1,), (1,)),
            helper.make_tensor("start", float_, (2, 3), (0.0,) * 6),
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


def test_a_loop_reads_a_cache() -> None:
    shapes = {"past": (2, "past in 0..5", 3)}
    model = irkit.compile(looping(), shapes=shapes, state=STATE)
    assert model.plan.regions
    module = import_onnx(looping(), shapes=shapes)
    decoded(model, lambda given: arrays_of(interpret(module, given)), k=lambda at: at)


TWICE = """\
def main(past: f32[2, n, 3], x: f32[2, 1, 3], k: i64[()]):
    present = concat(past, x, axis=1)
    t: bool[()] = constant([True])
    y = sum(past, axes=(1,))
    l: (i64[()], f32[2, n, 3]) = loop("step", k, t, (past,), (y,))
    w: f32[2, n, 3] = l[1]
    r = (present, w)
    return r

def step(i: i64[()], a: f32[2, n, 3], y: f32[2, 3]):
    e = expand_dims(y, axes=(1,))
    s = add(a, e)
    g: bool[()] = constant([True])
    r = (g, s)
    return r
"""


def test_a_loop_whose_state_would_be_copied_from_a_cache_is_refused() -> None:
    with pytest.raises(IRKitError, match="'l' copies 'past', which lies in a cache"):
        irkit.compile(parse_module(TWICE), state=STATE)
