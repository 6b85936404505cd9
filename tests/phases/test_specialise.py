"""Models that leave shapes open run: they are compiled for what they meet."""

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.helper import make_node

import irkit
from irkit.core import FormatError, IRKitError
from irkit.frontend.onnx import UnsupportedModel
from irkit.runtime import Model
from tests.frontend.onnx.models import floats, model_of

RELU = make_node("Relu", ["x"], ["y"])


def relu(*dims: int | str) -> onnx.ModelProto:
    return model_of([RELU], {"x": dims}, ["y"], opset=13)


def reshape() -> onnx.ModelProto:
    model = model_of([make_node("Reshape", ["x", "s"], ["y"])], {"x": (6,)}, ["y"], opset=13)
    model.graph.input.append(helper.make_tensor_value_info("s", TensorProto.INT64, [2]))
    return model


def test_a_dimension_with_a_name_takes_the_sizes_of_a_call() -> None:
    model = irkit.compile(relu("N", 4))
    for size in (3, 1, 0, 3):
        x = floats(size, 4)
        np.testing.assert_array_equal(model.run({"x": x})["y"], np.maximum(x, 0))
    assert [str(each) for each in model.specialisations] == ["x: [3, 4]", "x: [0, 4]", "x: [1, 4]"]


def test_a_shape_that_the_model_does_not_say_at_all_is_that_of_the_call() -> None:
    model = relu()
    model.graph.input[0].type.tensor_type.ClearField("shape")
    compiled = irkit.compile(model)
    for shape in ((2,), (2, 3), ()):
        x = floats(*shape)
        np.testing.assert_array_equal(compiled.run({"x": x})["y"], np.maximum(x, 0))


def test_an_input_that_decides_a_shape_takes_the_values_of_a_call() -> None:
    model = irkit.compile(reshape())
    x = floats(6)
    for shape in ([2, 3], [3, 2], [-1, 1]):
        found = model.run({"x": x, "s": np.array(shape)})["y"]
        np.testing.assert_array_equal(found, x.reshape(shape))
    assert [str(each) for each in model.specialisations] == [
        "s = [-1, 1]",
        "s = [3, 2]",
        "s = [2, 3]",
    ]


def test_shapes_and_values_that_are_given_need_no_call() -> None:
    assert irkit.compile(relu("N", 4), shapes={"x": (3, 4)}).specialisations == ()
    model = irkit.compile(reshape(), values={"s": [3, 2]})
    assert model.specialisations == ()
    assert model.run({"x": floats(6)})["y"].shape == (3, 2)


def test_shapes_of_some_inputs_leave_the_others_open() -> None:
    add = make_node("Add", ["x", "z"], ["y"])
    model = model_of([add], {"x": ("N", 4), "z": ("M", 4)}, ["y"], opset=13)
    compiled = irkit.compile(model, shapes={"x": (3, 4)})
    assert compiled.run({"x": floats(3, 4), "z": floats(1, 4)})["y"].shape == (3, 4)
    assert [str(each) for each in compiled.specialisations] == ["z: [1, 4]"]
    with pytest.raises(ValueError, match=r"must be x: f32\[3, 4\], found shape \[2, 4\]"):
        compiled.run({"x": floats(2, 4), "z": floats(1, 4)})


def test_what_is_wrong_for_all_shapes_is_found_before_the_call() -> None:
    unknown = model_of([make_node("Nonsense", ["x"], ["y"])], {"x": ("N",)}, ["y"], opset=13)
    with pytest.raises(UnsupportedModel, match="Nonsense"):
        irkit.compile(unknown)
    with pytest.raises(IRKitError, match="shapes names 'q', which is not an input"):
        irkit.compile(relu("N", 4), shapes={"q": (3, 4)})
    with pytest.raises(IRKitError, match=r"shapes gives input 'x' shape \(3, 5\)"):
        irkit.compile(relu("N", 4), shapes={"x": (3, 5)})


def test_what_is_wrong_for_the_shapes_of_a_call_names_the_node() -> None:
    add = make_node("Add", ["x", "w"], ["y"], name="sum")
    model = model_of([add], {"x": ("N",)}, ["y"], opset=13, constants={"w": floats(4)})
    compiled = irkit.compile(model)
    assert compiled.run({"x": floats(4)})["y"].shape == (4,)
    with pytest.raises(ValueError, match="Add node 'sum'"):
        compiled.run({"x": floats(3)})
    assert len(compiled.specialisations) == 1


def test_a_package_holds_what_was_compiled_and_refuses_the_rest(tmp_path: Path) -> None:
    model = irkit.compile(reshape())
    x = floats(6)
    with pytest.raises(IRKitError) as caught:
        model.save(tmp_path / "m.irkit")
    assert str(caught.value) == (
        "Reshape node 'y': its shape (input 's') decides a shape, but is only known when the model "
        "runs (opset 13), and nothing is compiled for it yet: a package would hold no code\n"
        "  Fix it on import (shapes= and values=, or --shape and --value), or run the model on "
        "inputs before it is saved (--inputs FILE.npz)."
    )
    assert not list(tmp_path.iterdir())
    for shape in ([2, 3], [3, 2]):
        model.run({"x": x, "s": np.array(shape)})
    model.save(tmp_path / "m.irkit")
    loaded = irkit.load(tmp_path / "m.irkit")
    found = loaded.run({"x": x, "s": np.array([2, 3])})["y"]
    np.testing.assert_array_equal(found, x.reshape(2, 3))
    with pytest.raises(IRKitError) as caught:
        loaded.run({"x": x, "s": np.array([6, 1])})
    assert str(caught.value) == (
        "the package was not compiled for s = [6, 1]; it holds:\n  s = [2, 3]\n  s = [3, 2]\n"
        "  Compile the model for these inputs, run it on them, and save it again."
    )


def test_a_loaded_package_can_be_saved_again(tmp_path: Path) -> None:
    model = irkit.compile(relu("N", 4))
    model.run({"x": floats(3, 4)})
    model.save(tmp_path / "a.irkit")
    irkit.load(tmp_path / "a.irkit").save(tmp_path / "b.irkit")
    assert (tmp_path / "a.irkit").read_bytes() == (tmp_path / "b.irkit").read_bytes()


def test_a_damaged_package_of_several_parts_is_refused(tmp_path: Path) -> None:
    model = irkit.compile(relu("N", 4))
    model.run({"x": floats(3, 4)})
    path = tmp_path / "m.irkit"
    model.save(path)
    whole = path.read_bytes()
    for length in range(0, len(whole), 397):
        path.write_bytes(whole[:length])
        with pytest.raises(FormatError):
            irkit.load(path)
    for old, new in ((b'"format": 1', b'"format": 7'), (b'"number": 0', b'"number": 9')):
        path.write_bytes(_with_parts(whole, tmp_path, old, new))
        with pytest.raises(FormatError, match=r"format 7|damaged: part 9"):
            irkit.load(path)


def _with_parts(whole: bytes, folder: Path, old: bytes, new: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as source, zipfile.ZipFile(made, "w") as target:
        for info in source.infolist():
            data = source.read(info)
            target.writestr(info, data.replace(old, new) if info.filename == "parts.json" else data)
    return made.getvalue()


def test_a_pickled_model_compiles_for_new_shapes() -> None:
    model: Any = irkit.compile(relu("N", 4), keep_trace=False)
    restored = pickle.loads(pickle.dumps(model))
    x = floats(3, 4)
    np.testing.assert_array_equal(restored.run({"x": x})["y"], np.maximum(x, 0))


def test_a_model_of_a_pipeline_of_ones_own_is_not_pickled() -> None:
    model = irkit.compile(relu("N", 4), pipeline=irkit.DEFAULT.without("simplify"))
    with pytest.raises(IRKitError, match="by a pipeline or backend that is not irkit's own"):
        pickle.dumps(model)


def chain(nodes: list[onnx.NodeProto], outputs: list[str], **constants: Any) -> onnx.ModelProto:
    return model_of(nodes, {"x": (2, 6)}, outputs, opset=13, constants=constants)


def test_what_follows_an_output_of_unknown_size_is_compiled_for_the_size_found() -> None:
    nodes = [
        make_node("Relu", ["x"], ["a"]),
        make_node("NonZero", ["a"], ["i"]),
        make_node("Transpose", ["i"], ["t"]),
        make_node("GatherND", ["a", "t"], ["y"]),
        make_node("Neg", ["a"], ["z"]),
    ]
    model = irkit.compile(chain(nodes, ["z", "y"]))
    for seed in (0, 1, 0):
        x = floats(2, 6, seed=seed)
        found = model.run({"x": x})
        assert list(found) == ["z", "y"]
        np.testing.assert_array_equal(found["z"], -np.maximum(x, 0))
        np.testing.assert_array_equal(found["y"], x[x > 0])
    sizes = [np.count_nonzero(floats(2, 6, seed=seed) > 0) for seed in (0, 1)]
    assert [str(each) for each in model.specialisations] == [f"i: [2, {size}]" for size in sizes]


def test_a_model_in_parts_writes_to_given_memory_and_is_pickled_and_profiled() -> None:
    nodes = [make_node("NonZero", ["x"], ["i"]), make_node("Neg", ["i"], ["y"])]
    model = irkit.compile(chain(nodes, ["y"]))
    x = np.array([[0, 1, 0, 0, 2, 0], [3, 0, 0, 0, 0, 0]], np.float32)
    wanted = -np.array(np.nonzero(x))
    given = np.zeros((2, 3), np.int64)
    assert model.run({"x": x}, out={"y": given})["y"] is given
    np.testing.assert_array_equal(given, wanted)
    with pytest.raises(IRKitError, match=r"output 'y' must have shape \(2, 3\), found \(2, 4\)"):
        model.run({"x": x}, out={"y": np.zeros((2, 4), np.int64)})
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.run({"x": x})["y"], wanted)
    profile = model.profile({"x": x}, runs=1)
    assert len(profile.calls) >= 2
    assert profile.seconds > 0


def test_one_such_operator_may_follow_another() -> None:
    nodes = [
        make_node("NonZero", ["x"], ["i"]),
        make_node("GatherND", ["x", "t"], ["g"]),
        make_node("Compress", ["g", "c"], ["y"]),
    ]
    nodes.insert(1, make_node("Transpose", ["i"], ["t"]))
    nodes.insert(3, make_node("Greater", ["g", "w"], ["c"]))
    model = irkit.compile(chain(nodes, ["y"], w=np.float32(0)))
    for seed in (0, 1):
        x = np.where(floats(2, 6, seed=seed) > 0.5, 0, floats(2, 6, seed=seed))
        np.testing.assert_array_equal(model.run({"x": x})["y"], x[x > 0])


def test_a_number_computed_from_data_decides_a_shape() -> None:
    nodes = [
        make_node("ReduceMax", ["x"], ["m"], keepdims=0),
        make_node("Cast", ["m"], ["n"], to=TensorProto.INT64),
        make_node("Range", ["zero", "n", "one"], ["y"]),
    ]
    model = irkit.compile(chain(nodes, ["y"], zero=np.int64(0), one=np.int64(1)))
    for most in (3, 5, 3):
        x = np.full((2, 6), most, np.float32)
        assert model.run({"x": x})["y"].tolist() == [*range(most)]
    assert [str(each) for each in model.specialisations] == ["n = 3", "n = 5"]


def test_a_branch_that_data_choose_may_have_results_of_another_shape() -> None:
    def branch(name: str, *nodes: onnx.NodeProto) -> onnx.GraphProto:
        return helper.make_graph(nodes, name, [], [helper.make_empty_tensor_value_info(name)])

    nodes = [
        make_node("ReduceSum", ["x"], ["s"], keepdims=0),
        make_node("Greater", ["s", "w"], ["c"]),
        make_node(
            "If",
            ["c"],
            ["y"],
            then_branch=branch("p", make_node("Neg", ["x"], ["p"])),
            else_branch=branch("q", make_node("Flatten", ["x"], ["q"], axis=0)),
        ),
    ]
    model = irkit.compile(chain(nodes, ["y"], w=np.float32(0)))
    x = np.ones((2, 6), np.float32)
    np.testing.assert_array_equal(model.run({"x": x})["y"], -x)
    np.testing.assert_array_equal(model.run({"x": -x})["y"], -x.reshape(1, 12))


def test_dimensions_values_and_sizes_found_may_meet_in_one_model() -> None:
    nodes = [
        make_node("Reshape", ["x", "s"], ["r"]),
        make_node("NonZero", ["r"], ["i"]),
        make_node("Gather", ["r", "j"], ["y"], axis=0),
    ]
    nodes.insert(2, make_node("Slice", ["i", "zero", "one", "zero"], ["h"]))
    nodes.insert(3, make_node("Squeeze", ["h", "zero"], ["j"]))
    model = model_of(
        nodes,
        {"x": ("N", 2)},
        ["y"],
        opset=13,
        constants={"zero": np.array([0]), "one": np.array([1])},
    )
    model.graph.input.append(helper.make_tensor_value_info("s", TensorProto.INT64, [2]))
    compiled = irkit.compile(model)
    for size, shape in ((2, [4, 1]), (4, [2, 4]), (2, [4, 1])):
        x = floats(size, 2).round()
        r = x.reshape(shape)
        found = compiled.run({"x": x, "s": np.array(shape)})["y"]
        np.testing.assert_array_equal(found, r[np.nonzero(r)[0]])
    assert len(compiled.specialisations) == 2


def test_a_package_of_a_model_in_parts_runs(tmp_path: Path) -> None:
    nodes = [
        make_node("NonZero", ["x"], ["i"]),
        make_node("Reshape", ["i", "s"], ["r"]),
        # What is mirrored must have a number of elements.
        make_node("Pad", ["r", "front"], ["y"], mode="reflect"),
    ]
    model = irkit.compile(chain(nodes, ["y"], s=np.array([-1]), front=np.array([1, 0])))
    x, full = np.eye(2, 6, dtype=np.float32), np.ones((2, 6), np.float32)
    assert model.run({"x": x})["y"].tolist() == [1, 0, 1, 0, 1]
    model.save(tmp_path / "m.irkit")
    loaded = irkit.load(tmp_path / "m.irkit")
    assert loaded.run({"x": x})["y"].tolist() == [1, 0, 1, 0, 1]
    with pytest.raises(IRKitError, match=r"not compiled for i: \[2, 12\]; it holds:\n  i: \[2, 2"):
        loaded.run({"x": full})


def test_an_output_of_unknown_size_needs_no_parts(tmp_path: Path) -> None:
    nodes = [make_node("NonZero", ["x"], ["i"]), make_node("Neg", ["i"], ["y"])]
    model = irkit.compile(chain(nodes, ["y"]))
    model.save(tmp_path / "m.irkit")
    loaded = irkit.load(tmp_path / "m.irkit")
    assert type(loaded) is Model
    for x in (np.eye(2, 6, dtype=np.float32), np.ones((2, 6), np.float32)):
        assert np.array_equal(loaded.run({"x": x})["y"], -np.array(np.nonzero(x)))
