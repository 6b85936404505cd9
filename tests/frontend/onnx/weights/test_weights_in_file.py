"""Large weights stay in the file until they are asked for, and are those of the file."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import irkit
from irkit.core import FormatError, IRKitError
from irkit.frontend.onnx import external_files, keep_data, load_model, opened_model, tensors_of
from irkit.frontend.onnx.weights_in_file import LARGE, weights_of

RNG = np.random.default_rng(0)
FORWARD = RNG.random((600, 600), dtype=np.float32)
ADDED = RNG.random((600,), dtype=np.float32)


def model(kind: Any = np.float32) -> onnx.ModelProto:
    """Return x @ w + b, with a large and a small weight."""
    array = FORWARD.astype(kind)
    element = helper.np_dtype_to_tensor_dtype(array.dtype)
    weights = [
        numpy_helper.from_array(array, "w"),
        numpy_helper.from_array(ADDED.astype(kind), "b"),
    ]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["m"]),
        helper.make_node("Add", ["m", "b"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(name, element, (2, 600)) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    onnx.save(model(), tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


def test_the_message_has_no_bytes_of_large_weights(path: Path) -> None:
    with opened_model(path) as found:
        large, small = tensors_of(found)
        assert (large.name, len(large.raw_data)) == ("w", 0)
        assert len(small.raw_data) == 2400
        read = weights_of(large)
        assert read is not None
        np.testing.assert_array_equal(read, FORWARD)
        assert not read.flags.writeable
        assert weights_of(small) is None
        # All else is as the library reads it.
        keep_data(found)
        assert found.SerializeToString(deterministic=True) == load_model(path).SerializeToString(
            deterministic=True
        )
    assert weights_of(large) is None


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.float16, np.int64, np.int8, np.bool_])
def test_weights_of_every_type_are_those_of_the_file(kind: Any, tmp_path: Path) -> None:
    array = np.tile(FORWARD * 100, (4, 1)).astype(kind)
    made = model()
    made.graph.initializer[0].CopyFrom(numpy_helper.from_array(array, "w"))
    onnx.save(made, tmp_path / "m.onnx")
    with opened_model(tmp_path / "m.onnx") as found:
        tensor = next(tensors_of(found))
        read = weights_of(tensor)
        assert (read is None) == (array.nbytes < LARGE or kind is np.bool_)
        known = numpy_helper.to_array(tensor) if read is None else read
        np.testing.assert_array_equal(known, array)


@pytest.mark.parametrize("external", [False, True])
def test_a_model_from_its_file_computes_what_it_does_from_memory(
    external: bool, tmp_path: Path
) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(model(), path, save_as_external_data=external, location="m.data", size_threshold=0)
    x = RNG.random((2, 600), dtype=np.float32)
    found = irkit.compile(path).run({"x": x})["y"]
    np.testing.assert_array_equal(found, irkit.compile(model()).run({"x": x})["y"])
    np.testing.assert_allclose(found, x @ FORWARD + ADDED, rtol=1e-4)


def test_a_model_that_is_compiled_later_keeps_its_weights(tmp_path: Path) -> None:
    path, made = tmp_path / "m.onnx", model()
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "n"
    made.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "n"
    onnx.save(made, path)
    compiled = irkit.compile(path)
    path.write_bytes(b"")
    x = RNG.random((3, 600), dtype=np.float32)
    np.testing.assert_allclose(compiled.run({"x": x})["y"], x @ FORWARD + ADDED, rtol=1e-4)


def test_no_model_can_ask_for_bytes_of_another_file(path: Path) -> None:
    with opened_model(path) as found:
        known = next(tensors_of(found)).external_data[0].value
        stranger = model()
        tensor = stranger.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for name in ("/etc/hostname", "irkit:", known[:-1] + "?"):
            del tensor.external_data[:]
            tensor.external_data.add(key="location", value=name)
            with pytest.raises(IRKitError, match="are in another file"):
                irkit.compile(stranger)


@pytest.mark.parametrize("name", ["/etc/hostname", "../secret", "pipe", ""])
def test_files_of_a_model_are_files_of_its_folder(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    stranger = model()
    tensor = stranger.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=name)
    (tmp_path / "m.onnx").write_bytes(stranger.SerializeToString())
    with pytest.raises(ValueError, match="the data of tensor"):
        external_files(tmp_path / "m.onnx")
    with pytest.raises(FormatError, match="the data of tensor"):
        irkit.compile(tmp_path / "m.onnx")


@pytest.mark.parametrize("cut", [1, 50, 3000])
def test_a_damaged_file_is_refused_as_before(cut: int, path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(FormatError) as usual:
        load_model(path)
    with pytest.raises(FormatError) as found:
        irkit.compile(path)
    assert str(found.value) == str(usual.value)
