"""NonZero, Compress, Unique and NonMaxSuppression, compared with NumPy and with a plain loop."""

import itertools
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from onnx import TensorProto
from onnx.helper import make_node, make_tensor_value_info

import irkit
from irkit.core import IRKitError
from irkit.frontend.onnx import DataDependent, import_onnx
from irkit.graph import arrays_of, interpret
from tests.draws import sampled
from tests.frontend.onnx.models import floats, model_of, run_node


def sparse(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    found = floats(*shape, seed=seed)
    return np.where(found > 0.3, found, np.float32(0))


@pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 3, 4), (0,), (2, 0, 3), ()])
def test_non_zero_finds_the_places_in_order(shape: tuple[int, ...]) -> None:
    x = sparse(*shape)
    (found,) = run_node(make_node("NonZero", ["x"], ["y"]), {"x": x}, opset=13)
    np.testing.assert_array_equal(found, np.array(np.nonzero(np.atleast_1d(x))))


def test_nan_is_not_zero_and_a_negative_zero_is() -> None:
    x = np.array([0.0, np.nan, -0.0, np.inf], np.float32)
    (found,) = run_node(make_node("NonZero", ["x"], ["y"]), {"x": x}, opset=13)
    assert found.tolist() == [[1, 3]]


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 0, 4)])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_compress_keeps_what_the_condition_chooses(
    shape: tuple[int, ...], axis: int | None
) -> None:
    x = floats(*shape)
    condition = np.array([False, x.size > 0])  # Shorter than most axes: the rest is dropped.
    attrs = {} if axis is None else {"axis": axis}
    model = model_of(
        [make_node("Compress", ["x", "c"], ["y"], **attrs)], {"x": shape}, ["y"], opset=13
    )
    model.graph.input.append(make_tensor_value_info("c", TensorProto.BOOL, [2]))
    found = irkit.compile(model).run({"x": x, "c": condition})["y"]
    np.testing.assert_array_equal(found, np.compress(condition, x, axis))


@pytest.mark.parametrize(
    ("dtype", "axis", "in_order"),
    sampled(
        itertools.product(
            [np.float32, np.int64, np.uint8, np.float16, np.bool_], [None, 0, -1], [True, False]
        ),
        every=5,
    ),
)
def test_unique_agrees_with_numpy(dtype: type, axis: int | None, in_order: bool) -> None:
    x = np.random.default_rng(1).integers(-2, 2, (6, 5)).astype(dtype)
    kind = {np.float32: 1, np.int64: 7, np.uint8: 2, np.float16: 10, np.bool_: 9}[dtype]
    attrs = {} if axis is None else {"axis": axis}
    node = make_node("Unique", ["x"], ["y", "i", "r", "n"], sorted=int(in_order), **attrs)
    model = model_of([node], {"x": x.shape}, ["y", "i", "r", "n"], opset=11, dtype=kind)
    found = irkit.compile(model).run({"x": x})
    values, first, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    inverse = inverse.reshape(-1)
    if not in_order:
        order = np.argsort(first)
        values, first, counts = np.take(values, order, axis or 0), first[order], counts[order]
        inverse = np.argsort(order)[inverse]
    for name, wanted in zip("yirn", (values, first, inverse, counts), strict=True):
        np.testing.assert_array_equal(found[name], wanted)


def test_unique_takes_nan_as_one_number_and_the_largest() -> None:
    x = np.array([np.nan, 2, np.inf, np.nan, 2], np.float32)
    found = run_node(make_node("Unique", ["x"], ["y", "i", "r", "n"]), {"x": x}, opset=11)
    np.testing.assert_array_equal(found[0], np.array([2, np.inf, np.nan], np.float32))
    assert [each.tolist() for each in found[1:]] == [[1, 2, 0], [2, 0, 1, 2, 0], [2, 1, 2]]


def plain_selection(
    boxes: NDArray[Any], scores: NDArray[Any], most: int, overlap: float, least: float
) -> list[list[int]]:
    """Select boxes by the text of the specification."""
    found: list[list[int]] = []
    for batch in range(len(boxes)):
        corners = np.sort(boxes[batch].reshape(-1, 2, 2), axis=1).astype(np.float32)
        for label in range(scores.shape[1]):
            kept: list[int] = []
            for at in np.argsort(-scores[batch, label], kind="stable"):
                if len(kept) == most or scores[batch, label, at] <= least:
                    break
                if all(_overlap(corners[at], corners[each]) <= overlap for each in kept):
                    kept.append(int(at))
            found += [[batch, label, at] for at in kept]
    return found


def _overlap(one: NDArray[Any], two: NDArray[Any]) -> float:
    sides: NDArray[Any] = np.minimum(one[1], two[1]) - np.maximum(one[0], two[0])
    if (sides <= 0).any():
        return 0
    both = np.prod(sides)
    return float(both / (np.prod(one[1] - one[0]) + np.prod(two[1] - two[0]) - both))


@pytest.mark.parametrize("most", [0, 1, 5, 100])
@pytest.mark.parametrize("seed", sampled(range(3), every=3))
def test_selected_boxes_are_those_of_a_plain_loop(most: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    boxes = rng.integers(0, 12, (2, 20, 4)).astype(np.float32)
    scores = (rng.integers(0, 9, (2, 3, 20)) / 8).astype(np.float32)  # Many are equal.
    names = ["boxes", "scores", "most", "overlap", "least"]
    constants = {"most": np.array(most), "overlap": np.float32(0.3), "least": np.float32(0.25)}
    (found,) = run_node(
        make_node("NonMaxSuppression", names, ["y"]),
        {"boxes": boxes, "scores": scores},
        opset=11,
        constants=constants,
    )
    wanted = plain_selection(boxes, scores, most, float(np.float32(0.3)), 0.25)
    assert found.tolist() == wanted
    assert found.shape == (len(wanted), 3)


@pytest.mark.long
@pytest.mark.skipif(not find_spec("onnxruntime"), reason="needs onnxruntime: the extra networks")
@pytest.mark.parametrize("centred", [0, 1])
@pytest.mark.parametrize("seed", range(10))
def test_selected_boxes_are_those_of_onnx_runtime(seed: int, centred: int) -> None:
    rng = np.random.default_rng(seed)
    batches, classes, count = (int(rng.integers(1, most)) for most in (4, 5, 120))
    names = ["boxes", "scores", "most", "overlap", "least"]
    node = make_node("NonMaxSuppression", names, ["y"], center_point_box=centred)
    model = model_of(
        [node],
        {"boxes": (batches, count, 4), "scores": (batches, classes, count)},
        ["y"],
        opset=11,
        constants={
            "most": np.array([int(rng.integers(0, 40))]),
            "overlap": np.array([rng.random()], np.float32),
            "least": np.array([rng.random() / 2], np.float32),
        },
    )
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
    feeds = {
        "boxes": rng.random((batches, count, 4)).astype(np.float32),
        "scores": rng.random((batches, classes, count)).astype(np.float32),
    }
    session = import_module("onnxruntime").InferenceSession(model.SerializeToString())
    (wanted,) = session.run(None, feeds)
    found = irkit.compile(model).run(feeds)["y"]
    np.testing.assert_array_equal(found, wanted)


def test_a_result_that_is_known_on_import_is_cut_there() -> None:
    nodes = [make_node("NonZero", ["w"], ["i"]), make_node("Add", ["i", "x"], ["y"])]
    model = model_of(
        nodes, {"x": (1, 2)}, ["y"], opset=13, constants={"w": np.array([0, 3, 0, 4])}, dtype=7
    )
    compiled = irkit.compile(model)
    assert compiled.specialisations == ()
    assert compiled.run({"x": np.array([[10, 20]])})["y"].tolist() == [[11, 23]]


def test_a_size_that_depends_on_data_is_cut_or_counted() -> None:
    model = model_of([make_node("NonZero", ["x"], ["y"], name="n")], {"x": (4,)}, ["y"], opset=13)
    x = {"x": np.array([0, 1, 0, 1], "f4")}
    found = arrays_of(interpret(import_onnx(model), x))
    assert [array.tolist() for array in found] == [[[1, 3]]]
    counted = arrays_of(interpret(import_onnx(model, counted=["y"]), x))
    assert [array.tolist() for array in counted] == [[[1, 3, 0, 0]], [2]]
    with pytest.raises(DataDependent, match="NonZero node 'n'"):
        import_onnx(model, counted=[])


def test_more_elements_than_there_is_room_for_are_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = import_module("irkit.frontend.onnx.convert.data_dependent.compress")
    monkeypatch.setattr(module, "MAX_ROOM", 3)
    model = irkit.compile(
        model_of([make_node("NonZero", ["x"], ["y"], name="n")], {"x": (5,)}, ["y"], opset=13)
    )
    assert model.run({"x": np.array([1, 0, 1, 0, 1], "f4")})["y"].tolist() == [[0, 2, 4]]
    with pytest.raises(IRKitError, match="n makes 4 rows, and has room for 3"):
        model.run({"x": np.array([1, 1, 1, 0, 1], "f4")})
