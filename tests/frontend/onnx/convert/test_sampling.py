"""RoiAlign, DeformConv, GridSample and MelWeightMatrix in forms that ONNX's suite leaves out,
against ONNX's evaluator."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.helper import make_node
from onnx.reference import ReferenceEvaluator

from irkit.fuzz.generators.reference.onnx_reference import CORRECTED
from tests.frontend.onnx.node_cases import interpreted, native

RNG = np.random.default_rng(15)


def agree(node: onnx.NodeProto, feeds: dict[str, Any], opset: int = 22, *, code: bool) -> None:
    """Check that irkit computes what ONNX's evaluator does."""
    infos = [
        helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(each.dtype), list(each.shape)
        )
        for name, each in feeds.items()
    ]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", infos, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    evaluate: Any = ReferenceEvaluator(model, new_ops=[*CORRECTED])
    (want,) = evaluate.run(None, feeds)
    got = (native if code else interpreted)(model).run(feeds)["y"]
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("code", [False, True])
@pytest.mark.parametrize("mode", ["avg", "max"])
@pytest.mark.parametrize("transform", ["half_pixel", "output_half_pixel"])
def test_boxes_without_a_ratio_are_sampled_by_their_size(
    transform: str, mode: str, code: bool
) -> None:
    attrs = {"output_height": 2, "output_width": 3, "spatial_scale": 0.5, "mode": mode}
    node = make_node(
        "RoiAlign", ["x", "r", "i"], ["y"], coordinate_transformation_mode=transform, **attrs
    )
    boxes = [[0, 0, 9, 7], [-6, -2, 3, 30], [4, 4, 4.5, 4.2], [40, 40, 60, 60]]
    feeds = {
        "x": RNG.standard_normal((2, 2, 6, 7)).astype(np.float32),
        "r": np.array(boxes, np.float32),
        "i": np.array([0, 1, 1, 0]),
    }
    agree(node, feeds, code=code)


@pytest.mark.parametrize("code", [False, True])
def test_deformed_filters_have_groups_strides_and_dilations(code: bool) -> None:
    node = make_node(
        "DeformConv",
        ["x", "w", "o", "b", "m"],
        ["y"],
        group=2,
        offset_group=2,
        strides=[2, 1],
        dilations=[1, 2],
        pads=[1, 0, 2, 1],
    )
    feeds = {
        "x": RNG.standard_normal((2, 4, 6, 7)),
        "w": RNG.standard_normal((6, 2, 3, 2)),
        "o": 2 * RNG.standard_normal((2, 24, 4, 6)),
        "b": RNG.standard_normal(6),
        "m": RNG.random((2, 12, 4, 6)),
    }
    agree(node, {name: each.astype(np.float32) for name, each in feeds.items()}, code=code)


@pytest.mark.parametrize("bands", [1, 8, 40])
def test_bands_of_the_mel_scale_may_be_narrower_than_a_bin(bands: int) -> None:
    numbers = {"n": bands, "d": 64, "r": 8192}
    feeds: dict[str, Any] = {name: np.array(each, np.int64) for name, each in numbers.items()}
    feeds |= {"l": np.array(100.0, np.float32), "h": np.array(4000.0, np.float32)}
    agree(make_node("MelWeightMatrix", [*feeds], ["y"]), feeds, code=False)


@pytest.mark.parametrize("align", [0, 1])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize(
    ("mode", "rank"), [("nearest", 2), ("linear", 2), ("linear", 3), ("cubic", 2)]
)
def test_grids_sample_inside_and_far_outside(
    mode: str, rank: int, padding: str, align: int
) -> None:
    rng = np.random.default_rng(8)
    for _ in range(2):
        extents, out = rng.integers(2, 6, rank), rng.integers(1, 5, rank)
        feeds = {
            "x": rng.standard_normal((2, 2, *extents)).astype(np.float32),
            "g": rng.uniform(-2.4, 2.4, (2, *out, rank)).astype(np.float32),
        }
        names = {"mode": mode, "padding_mode": padding}
        node = make_node("GridSample", ["x", "g"], ["y"], align_corners=align, **names)
        agree(node, feeds, opset=20, code=False)


def test_cubic_samples_at_a_border_weigh_repeated_elements() -> None:
    """The place is -0.5, half a step before the first element: the weights of the elements -2, -1,
    0 and 1 are -0.09375, 0.59375, 0.59375 and -0.09375, and those outside are the first."""
    x = np.array([[[[8.0, 16.0]]]], np.float32)
    node = make_node("GridSample", ["x", "g"], ["y"], mode="cubic", padding_mode="border")
    feeds = {"x": x, "g": np.array([[[[-1.0, 0.0]]]], np.float32)}
    agree(node, feeds, opset=20, code=True)
    infos = [
        helper.make_tensor_value_info(name, 1, list(each.shape)) for name, each in feeds.items()
    ]
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("y", 1, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
    expected = 8 * (1 - -0.09375) + 16 * -0.09375
    np.testing.assert_allclose(interpreted(model).run(feeds)["y"], expected, rtol=1e-6)
