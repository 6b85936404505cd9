"""Models as C whose sizes only the run finds: outputs in room for the most, and what is refused."""

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto
from onnx.helper import make_node, make_tensor_value_info as info

import irkit
from irkit.runtime import build_library
from tests.codegen.c.build import needs_compiler
from tests.frontend.onnx.control_flow.test_control_flow import model
from tests.frontend.onnx.control_flow.test_growing_state import loop_model
from tests.runtime.deploy.dlpack import CModel, Tensor, tensor

pytestmark = needs_compiler


def library(proto: onnx.ModelProto, folder: Path, **options: Any) -> CModel:
    compiled = irkit.compile(proto, target="c", keep_trace=False, schedule="none", **options)
    path = folder / "libfound.so"
    build_library(compiled, path, "shared", name="found")
    made = CModel(path, "found")
    assert made.code == 0
    return made


def outputs(made: CModel, given: list[Tensor], *, strides: bool) -> tuple[list[Any], list[Tensor]]:
    shapes = made.output_shapes(given)
    assert not isinstance(shapes, str), shapes
    arrays = [np.full(shape, 7, "f4") for shape in shapes]
    return arrays, [tensor(array, strides=strides) for array in arrays]


@pytest.mark.parametrize("strides", [False, True])
def test_outputs_are_as_large_as_the_run_finds(tmp_path: Path, strides: bool) -> None:
    nodes = [
        make_node("Greater", ["k", "zero"], ["keep"]),
        make_node("Compress", ["x", "keep"], ["part"], axis=1),
        make_node("Add", ["part", "part"], ["y"]),
    ]
    inputs = [info("x", TensorProto.FLOAT, [2, "n"]), info("k", TensorProto.FLOAT, ["n"])]
    outs = [info("y", TensorProto.FLOAT, [2, "m"])]
    proto = model(nodes, inputs, outs, {"zero": np.float32(0)})
    made = library(proto, tmp_path, shapes={"x": (2, "n in 1..9"), "k": ("n",)})
    for n in (1, 5):
        x = np.arange(2.0 * n, dtype="f4").reshape(2, n)
        for k in (np.zeros(n, "f4"), np.arange(n, dtype="f4"), np.ones(n, "f4")):
            given = [tensor(x), tensor(k)]
            (whole,), (described,) = outputs(made, given, strides=strides)
            assert whole.shape == (2, n)
            assert made.run_tensors(given, [described]) == 0, made.error
            want = 2 * x[:, k > 0]
            assert tuple(described.shape[:2]) == want.shape
            if strides:
                assert tuple(described.strides[:2]) == (want.shape[1], 1)
            np.testing.assert_array_equal(whole.reshape(-1)[: want.size].reshape(want.shape), want)
    made.close()


def test_a_loop_that_is_full_names_itself_and_the_iteration(tmp_path: Path) -> None:
    made = library(loop_model("a", 0, None), tmp_path, shapes={"x": ("n in 1..9", 3)})
    x = np.ones((4, 3), "f4")
    for most, code in ((100.0, 0), (1e9, 4)):
        limit = np.array(most, "f4")
        given = [tensor(x), tensor(limit)]
        arrays, described = outputs(made, given, strides=False)
        assert made.run_tensors(given, described) == code, made.error
        if not code:
            assert described[0].shape[0] == 64
            assert (arrays[0][:64] == -1).all()
    assert made.error == (
        "onnx grower makes 8192 rows, and has room for 4100: the size of its outputs depends on "
        "data, and is limited, in iteration 11 of loop 'grower'"
    )
    assert ctypes.string_at(made.function("model_error", ctypes.c_char_p)(made.handle))
    made.close()
