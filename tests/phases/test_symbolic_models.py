"""Models whose shapes are known at the call only: one program, all sizes."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import irkit
from irkit.core import IRKitError, ShapeError
from irkit.runtime import Model

SIZES = (1, 2, 3, 5, 8, 17, 64)


def weights(*shape: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float32]]:
    found = np.random.default_rng(seed + sum(shape)).standard_normal(shape)
    return (found / np.sqrt(shape[-1])).astype(np.float32)


def model(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, list[Any]],
    outputs: dict[str, list[Any]],
    constants: dict[str, Any],
) -> onnx.ModelProto:
    infos = [
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in each.items()]
        for each in (inputs, outputs)
    ]
    tensors = [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()]
    graph = helper.make_graph(nodes, "main", *infos, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def mlp() -> onnx.ModelProto:
    return model(
        [
            helper.make_node("Gemm", ["x", "w0", "b0"], ["h"]),
            helper.make_node("Relu", ["h"], ["r"]),
            helper.make_node("Gemm", ["r", "w1", "b1"], ["g"]),
            helper.make_node("Softmax", ["g"], ["y"], axis=-1),
        ],
        {"x": ["N", 20]},
        {"y": ["N", 10]},
        {"w0": weights(20, 32), "b0": weights(32), "w1": weights(32, 10), "b1": weights(10)},
    )


def agree(made: Model, proto: onnx.ModelProto, **shapes: tuple[int, ...]) -> None:
    """Compare a call with onnx.reference, which shares no code with irkit."""
    feeds = {n: weights(*shape, 1).reshape(shape) for n, shape in shapes.items()}
    wanted = ReferenceEvaluator(proto).run(None, feeds)
    found = made.run(feeds)
    assert isinstance(wanted, list)
    for array, reference in zip(found.values(), wanted, strict=True):
        np.testing.assert_allclose(array, reference, rtol=1e-4, atol=1e-5)


@pytest.fixture(scope="module")
def compiled_mlp() -> Model:
    return irkit.compile(mlp(), shapes={"x": ("batch in 1..64", 20)})


def test_one_program_runs_all_sizes(compiled_mlp: Model) -> None:
    for size in SIZES:
        agree(compiled_mlp, mlp(), x=(size, 20))
    assert compiled_mlp.specialisations == ()


def test_a_package_runs_all_sizes(compiled_mlp: Model, tmp_path: Path) -> None:
    compiled_mlp.save(tmp_path / "mlp.irkit")
    loaded = irkit.load(tmp_path / "mlp.irkit")
    for size in (64, 1, 7):
        agree(loaded, mlp(), x=(size, 20))


def test_a_size_outside_its_range_is_refused_and_nothing_is_written(compiled_mlp: Model) -> None:
    out = np.full((65, 10), 7, np.float32)
    for size in (0, 65):
        with pytest.raises(ShapeError, match=rf"of input 'x' is {size}, but 'batch' must be fro"):
            compiled_mlp.run({"x": np.zeros((size, 20), np.float32)}, out={"y": out[:size]})
    assert (out == 7).all()


def test_more_memory_than_the_limit_is_refused_with_the_sizes() -> None:
    made = irkit.compile(mlp(), shapes={"x": ("batch", 20)}, memory_limit=2_000)
    with pytest.raises(ShapeError, match=r"with batch = 64, a call needs \d+ bytes"):
        made.run({"x": np.zeros((64, 20), np.float32)})
    agree(made, mlp(), x=(3, 20))
