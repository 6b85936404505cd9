"""A network as quantisers export it runs on integers, at most one step from what ONNX computes."""

from typing import Any

import numpy as np
import onnx
from onnx.helper import make_node
from onnx.reference import ReferenceEvaluator

import irkit
from irkit.frontend.onnx import import_onnx
from irkit.graph import Op, bindings_of
from irkit.phases import GRAPH
from tests.frontend.onnx.models import model_of

RNG = np.random.default_rng(3)


def whole(low: int, high: int, shape: tuple[int, ...], kind: str) -> Any:
    return RNG.integers(low, high, shape).astype(kind)


def network() -> onnx.ModelProto:
    """Return Conv, Relu, MaxPool, Flatten and Gemm, with a pair of nodes around each."""

    def pair(x: str, name: str) -> list[onnx.NodeProto]:
        given = [f"{name}_s", f"{name}_z"]
        return [
            make_node("QuantizeLinear", [x, *given], [f"{name}_q"]),
            make_node("DequantizeLinear", [f"{name}_q", *given], [name]),
        ]

    nodes = [
        *pair("x", "a"),
        make_node("DequantizeLinear", ["w", "w_s", "w_z"], ["wf"], axis=0),
        make_node("DequantizeLinear", ["b", "b_s"], ["bf"], axis=0),
        make_node("Conv", ["a", "wf", "bf"], ["c"], pads=[1, 1, 1, 1]),
        make_node("Relu", ["c"], ["r"]),
        *pair("r", "d"),
        make_node("MaxPool", ["d"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        *pair("p", "d2"),
        make_node("Flatten", ["d2"], ["f"]),
        make_node("DequantizeLinear", ["m", "m_s", "m_z"], ["mf"], axis=0),
        make_node("Gemm", ["f", "mf", "g"], ["h"], transB=1),
        make_node("QuantizeLinear", ["h", "h_s", "h_z"], ["y"]),
    ]
    w_scale = RNG.uniform(0.01, 0.03, 8).astype("f")
    constants = {
        **{"a_s": np.float32(0.02), "a_z": np.uint8(128)},
        **{"w": whole(-127, 128, (8, 3, 3, 3), "i1"), "w_s": w_scale, "w_z": np.zeros(8, "i1")},
        **{"b": whole(-900, 900, (8,), "i4"), "b_s": w_scale * np.float32(0.02)},
        **{"d_s": np.float32(0.04), "d_z": np.uint8(0)},
        **{"d2_s": np.float32(0.04), "d2_z": np.uint8(0)},
        **{"m": whole(-127, 128, (10, 128), "i1"), "m_z": np.zeros(10, "i1")},
        **{"m_s": RNG.uniform(0.01, 0.02, 10).astype("f"), "g": np.linspace(-1, 1, 10, dtype="f")},
        **{"h_s": np.float32(0.5), "h_z": np.uint8(120)},
    }
    return model_of(nodes, {"x": (1, 3, 8, 8)}, ["y"], opset=21, constants=constants)


def test_a_quantised_network_multiplies_integers_only() -> None:
    graph = GRAPH.stop_after(0).run(import_onnx(network())["main"])
    steps = [bind.step for bind in bindings_of(graph).values()]
    names = [step.name for step in steps if isinstance(step, Op)]
    assert {"conv", "matmul"}.isdisjoint(names)
    assert names.count("conv_integer") == names.count("matmul_integer") == 1
    assert names.count("round") == 3, "the pool between the same scales needs none"


def test_a_quantised_network_is_at_most_one_step_off() -> None:
    model = network()
    reference, compiled = ReferenceEvaluator(model), irkit.compile(model)
    far = 0
    for _ in range(20):
        x = RNG.normal(size=(1, 3, 8, 8)).astype("f")
        (expected,) = reference.run(None, {"x": x})
        found = compiled.run({"x": x})["y"]
        apart = np.abs(found.astype(int) - np.asarray(expected).astype(int))
        assert found.dtype == np.uint8
        assert apart.max() <= 1
        far += int((apart > 0).sum())
    assert far < 10, "a step lies between two sums only where these are next to a half"
