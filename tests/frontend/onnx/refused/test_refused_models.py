"""A model that cannot be imported is refused with one error that names the cause."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.helper import make_node

import irkit
from irkit.core import FormatError, IRKitError
from irkit.frontend.onnx import ImportFailed, UnknownShape, UnsupportedModel, import_onnx, onnx_node
from tests.frontend.onnx.models import floats, model_of

X = {"x": (2, 3)}
BODY = helper.make_graph(
    [make_node("Identity", ["c"], ["d"]), make_node("Relu", ["v"], ["w"])],
    "body",
    [helper.make_empty_tensor_value_info(name) for name in "icv"],
    [helper.make_empty_tensor_value_info(name) for name in "dw"],
)
RELU = make_node("Relu", ["x"], ["y"])


def one(node: onnx.NodeProto, opset: int = 13, **constants: Any) -> onnx.ModelProto:
    return model_of([node], X, ["y"], opset=opset, constants=constants)


def test_all_operators_that_are_missing_are_listed_with_nodes_and_versions() -> None:
    nodes = [
        make_node("TfIdfVectorizer", ["x"], ["a"], name="first"),
        make_node("Relu", ["a"], ["b"]),
        make_node("StringSplit", ["b"], ["c", ""]),
        make_node("Magic", ["c"], ["f"], name="trick", domain="com.example"),
        make_node("TfIdfVectorizer", ["f"], ["y"], name="last"),
    ]
    with pytest.raises(UnsupportedModel) as caught:
        irkit.compile(model_of(nodes, X, ["y"], opset=20))
    assert caught.value.operators == (
        ("TfIdfVectorizer", 9, "first"),
        ("StringSplit", 20, "c,"),
        ("com.example.Magic", 0, "trick"),
        ("TfIdfVectorizer", 9, "last"),
    )
    for text in ("3 operators", "TfIdfVectorizer-9: node 'first'", "com.example.Magic", "'trick'"):
        assert text in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"no model file .*lost\.onnx"):
        irkit.compile(tmp_path / "lost.onnx")
    with pytest.raises(FormatError, match="no model file"):
        irkit.compile(tmp_path)


@pytest.mark.parametrize("data", [b"", b"\0", b"hello", bytes(range(256)) * 8, b"\xff" * 99])
def test_bytes_that_are_not_a_model_are_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="the model"):
        irkit.compile(data)
    path = tmp_path / "odd.onnx"
    path.write_bytes(data)
    with pytest.raises(FormatError, match=r"odd\.onnx|the model"):
        irkit.compile(path)


def test_a_file_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    data = one(make_node("Add", ["x", "w"], ["y"]), w=floats(2, 3)).SerializeToString()
    path = tmp_path / "cut.onnx"
    for size in range(0, len(data), 3):
        path.write_bytes(data[:size])
        with pytest.raises(IRKitError):
            irkit.compile(path)


@pytest.mark.parametrize("suffix", ["json", "textproto", "onnxtxt"])
def test_the_name_of_a_file_does_not_matter_for_its_format(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"model.{suffix}"
    path.write_bytes(one(RELU).SerializeToString())
    assert "main" in import_onnx(path)


def test_text_that_is_not_utf_8_is_refused() -> None:
    data = one(make_node("Relu", ["x"], ["y"], name="QQQQ")).SerializeToString()
    for name in (b"Relu", b"QQQQ"):
        with pytest.raises(FormatError, match=r"not UTF-8|cannot be read"):
            irkit.compile(data.replace(name, b"\xff\xfe\xfd\xfc"))


def with_cycle() -> onnx.ModelProto:
    return model_of(
        [make_node("Add", ["x", "b"], ["a"]), make_node("Relu", ["a"], ["b"])], X, ["b"], opset=13
    )


def test_a_cycle_and_nodes_out_of_order_are_refused() -> None:
    with pytest.raises(ImportFailed, match=r"the graph has a cycle: .* reads 'b'"):
        irkit.compile(with_cycle())
    nodes = [make_node("Relu", ["a"], ["y"]), make_node("Relu", ["x"], ["a"])]
    with pytest.raises(ImportFailed, match="order"):
        irkit.compile(model_of(nodes, X, ["y"], opset=13))


def twice(field: str) -> onnx.ModelProto:
    model = one(make_node("Add", ["x", "w"], ["y"]), w=floats(3))
    entries = getattr(model.graph, field)
    entries.append(entries[0])
    return model


@pytest.mark.parametrize("field", ["input", "initializer", "output"])
def test_a_name_that_is_declared_twice_is_refused(field: str) -> None:
    with pytest.raises(FormatError, match=r"two of its .* are named"):
        irkit.compile(twice(field))


def test_a_name_that_is_defined_twice_is_refused() -> None:
    for nodes in (
        [make_node("Relu", ["x"], ["y"]), make_node("Tanh", ["x"], ["y"])],
        [make_node("Relu", ["x"], ["x"]), make_node("Tanh", ["x"], ["y"])],
        [make_node("Dropout", ["x"], ["y", "x"])],
    ):
        with pytest.raises(ImportFailed, match="is defined twice"):
            irkit.compile(model_of(nodes, X, ["y"], opset=13))


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (one(make_node("Relu", [], ["y"])), "input 0 is missing"),
        (one(make_node("Add", ["x"], ["y"])), "input 1 is missing"),
        (one(make_node("Add", ["x", ""], ["y"])), "input 1 is missing"),
        (one(make_node("Conv", ["x"], ["y"])), "input 1 is missing"),
        (one(make_node("Relu", ["x", "x"], ["y"])), "input 1 does not exist at version 13"),
        (one(make_node("Relu", ["x"], ["y", "z"])), "output 1 does not exist"),
        (one(make_node("Relu", ["x"], ["y"], alpha=1.0)), "attribute 'alpha' does not exist"),
        (one(make_node("Add", ["x", "x"], ["y"], broadcast=1)), "'broadcast' does not exist"),
        (one(make_node("Relu", ["x"], ["z"])), "no node defines output 'y' of the model"),
        (one(make_node("Softmax", ["x"], ["y"], axis="1")), "type STRING, expected INT"),
        (one(make_node("Softmax", ["x"], ["y"], axis=1.5)), "type FLOAT, expected INT"),
        (one(make_node("Transpose", ["x"], ["y"], perm=1)), "type INT, expected INTS"),
        (one(make_node("Softmax", ["x"], ["y"], axis=2)), "axis 2 is outside"),
        (one(make_node("Transpose", ["x"], ["y"], perm=[0, 0])), "not a permutation"),
        (one(make_node("Concat", ["x", "x"], ["y"], axis=1 << 40)), "is outside"),
        (one(make_node("Add", ["x", "w"], ["y"]), w=np.arange(3)), "int64"),
        (one(make_node("Add", ["x", "w"], ["y"]), w=floats(4)), "does not broadcast"),
        (one(make_node("RNN", ["x", "x", "x"], ["y"])), "RNN node 'y': .* do not fit together"),
        (one(make_node("Cast", ["x"], ["y"], to=99)), "element type 99 is not supported"),
        (one(make_node("Slice", ["x", "a", "a"], ["y"]), a=np.array([5, 5, 5])), "Slice"),
        (one(make_node("Expand", ["x", "a"], ["y"]), a=np.array([4, 3])), "broadcast"),
        (one(make_node("Tile", ["x", "a"], ["y"]), a=np.array([1 << 40, 1])), "elements"),
        (one(make_node("Range", ["a", "a", "b"], ["y"]), a=np.int64(1), b=np.int64(0)), "is 0"),
        (one(make_node("Split", ["x", "a"], ["y"]), a=np.array([1])), "do not fill"),
        (one(make_node("Pad", ["x", "a"], ["y"]), a=np.array([1, 1])), "two numbers for each"),
        (one(make_node("TopK", ["x", "a"], ["y", "z"]), a=np.array([9])), "k is .9"),
        (one(make_node("Einsum", ["x"], ["y"], equation="ij->k")), "do not have"),
        (one(make_node("Loop", ["", "t", "x"], ["y"], body=BODY), t=np.array(True)), "never ends"),
    ],
)
def test_an_invalid_node_is_named(model: onnx.ModelProto, said: str) -> None:
    with pytest.raises(IRKitError, match=said):
        irkit.compile(model)


@pytest.mark.parametrize("opset", [0, -1, 1 << 40, onnx.defs.onnx_opset_version() + 1])
def test_an_unknown_operator_set_is_refused(opset: int) -> None:
    with pytest.raises(FormatError, match=r"version .* of the ONNX operators"):
        irkit.compile(one(RELU, opset))


def test_a_model_without_operator_set_or_outputs_is_refused() -> None:
    model = one(RELU)
    del model.opset_import[:]
    with pytest.raises(FormatError, match="does not say which version"):
        irkit.compile(model)
    model = one(RELU)
    del model.graph.output[:]
    with pytest.raises(FormatError, match="no outputs"):
        irkit.compile(model)


def external(location: str) -> onnx.ModelProto:
    model = one(make_node("Add", ["x", "w"], ["y"]), w=floats(3))
    (tensor,) = model.graph.initializer
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", location
    return model


def test_external_data_beside_the_model_are_read(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(floats(3).tobytes())
    path = tmp_path / "model.onnx"
    path.write_bytes(external("w.bin").SerializeToString())
    x = floats(2, 3, seed=1)
    (got,) = irkit.compile(path).run({"x": x}).values()
    np.testing.assert_array_equal(got, x + floats(3))


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("../w.bin", ", outside the folder of the model"),
        ("/etc/passwd", ", outside the folder of the model"),
        ("link.bin", ", outside the folder of the model"),
        ("lost.bin", ", which is not a file of its folder"),
        (".", ", which is not a file of its folder"),
    ],
)
def test_external_data_outside_the_folder_of_the_model_are_refused(
    location: str, why: str, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "w.bin").write_bytes(floats(3).tobytes())
    (folder / "link.bin").symlink_to(tmp_path / "w.bin")
    path = folder / "model.onnx"
    path.write_bytes(external(location).SerializeToString())
    with pytest.raises(IRKitError) as caught:
        irkit.compile(path)
    assert caught.value.message == f"{str(path)!r}: the data of tensor 'w' are in {location!r}{why}"


def test_external_data_of_a_model_without_a_folder_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "w.bin").write_bytes(floats(3).tobytes())
    monkeypatch.chdir(tmp_path)
    for model in (external("w.bin"), external("w.bin").SerializeToString()):
        with pytest.raises(ImportFailed, match="are in another file"):
            irkit.compile(model)


HUGE = 1 << 40
IMAGE = {"x": (1, 1, 8, 8)}


def image(node: onnx.NodeProto) -> onnx.ModelProto:
    return model_of([node], IMAGE, ["y"], opset=13, constants={"w": floats(1, 1, 3, 3)})


@pytest.mark.parametrize(
    "model",
    [
        one(make_node("ConstantOfShape", ["s"], ["y"]), s=np.array([1 << 20, 1 << 20])),
        one(make_node("ConstantOfShape", ["s"], ["y"]), s=np.array([1 << 62, 1 << 62, 0, 1])),
        one(make_node("ConstantOfShape", ["s"], ["y"]), s=np.ones(99, np.int64)),
        one(make_node("ConstantOfShape", ["s"], ["y"]), s=np.array([-5])),
        one(make_node("Reshape", ["x", "s"], ["y"]), s=np.array([HUGE, -1])),
        one(make_node("Reshape", ["x", "s"], ["y"]), s=np.array([-(1 << 63), -1])),
        one(make_node("Unsqueeze", ["x", "s"], ["y"]), s=np.arange(5000)),
        image(make_node("Conv", ["x", "w"], ["y"], pads=[HUGE] * 4)),
        image(make_node("Conv", ["x", "w"], ["y"], pads=[HUGE, 0, 0, 0], strides=[HUGE, 1])),
        image(make_node("Conv", ["x", "w"], ["y"], strides=[0, 1])),
        image(make_node("Conv", ["x", "w"], ["y"], dilations=[HUGE, HUGE])),
        image(make_node("Conv", ["x", "w"], ["y"], group=HUGE)),
        image(make_node("MaxPool", ["x"], ["y"], kernel_shape=[HUGE, HUGE])),
        image(make_node("MaxPool", ["x"], ["y"], kernel_shape=[HUGE, 1], pads=[HUGE - 1, 0] * 2)),
        image(make_node("AveragePool", ["x"], ["y"], kernel_shape=[-1, 1])),
    ],
)
def test_huge_shapes_are_refused_before_anything_is_allocated(model: onnx.ModelProto) -> None:
    with pytest.raises(IRKitError):
        irkit.compile(model)


def test_many_large_constants_are_refused_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_node, "MAX_CONSTANT_BYTES", 1 << 20)
    names = [f"c{at}" for at in range(40)]
    nodes = [make_node("ConstantOfShape", ["s"], [name]) for name in names]
    model = model_of(
        [*nodes, make_node("Sum", names, ["y"])],
        {},
        ["y"],
        opset=13,
        constants={"s": np.array([1 << 14])},
    )
    with pytest.raises(ImportFailed, match="constants made by nodes take more than"):
        import_onnx(model)


def test_a_constant_that_takes_seconds_to_fill_is_refused() -> None:
    model = model_of(
        [make_node("ConstantOfShape", ["s"], ["c"]), make_node("Sum", ["c", "x"], ["y"])],
        {"x": (2, 5)},
        ["y"],
        opset=13,
        constants={"s": np.array([134217730, 3])},
    )
    with pytest.raises(ImportFailed, match="constants made by nodes take more than"):
        import_onnx(model)


def test_the_reach_of_lrn_does_not_allocate() -> None:
    node = make_node("LRN", ["x"], ["y"], size=HUGE, alpha=1.0, beta=1.0)
    x = floats(1, 4, 2)
    model = model_of([node], {"x": x.shape}, ["y"], opset=13)
    (got,) = irkit.compile(model).run({"x": x}).values()
    np.testing.assert_allclose(got, x, rtol=1e-5)  # alpha / size is next to nothing.


def symbolic() -> onnx.ModelProto:
    shapes = {"x": ("batch", 3), "z": ("batch", 3)}
    return model_of([make_node("Add", ["x", "z"], ["y"])], shapes, ["y"], opset=13)


def test_a_shape_that_only_a_run_knows_is_refused_by_the_import() -> None:
    whole = make_node("Cast", ["x"], ["s"], to=TensorProto.INT64)
    model = model_of([whole, make_node("Reshape", ["x", "s"], ["y"])], X, ["y"], opset=13)
    with pytest.raises(UnknownShape, match="only known when the model runs"):
        import_onnx(model)


def test_a_symbolic_dimension_is_refused_by_the_import_with_its_remedy() -> None:
    diagonal = [make_node("EyeLike", ["x"], ["y"])]
    model = model_of(diagonal, {"x": ("n", "c")}, ["y"], opset=13)
    with pytest.raises(IRKitError, match="shape of 'x' must be constant") as caught:
        import_onnx(model)
    assert caught.value.hint == "Fix n, c on import: shapes={'x': (...)}, or --shape x=...."


@pytest.mark.parametrize("shapes", [{"x": (2, 3)}, {"z": (2, 3)}, {"x": (2, 3), "z": (2, 3)}])
def test_shapes_fix_symbolic_dimensions_wherever_they_occur(
    shapes: dict[str, tuple[int, ...]],
) -> None:
    model = irkit.compile(symbolic(), shapes=shapes)
    x, z = floats(2, 3), floats(2, 3, seed=1)
    np.testing.assert_array_equal(model.run({"x": x, "z": z})["y"], x + z)


def test_shapes_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(IRKitError, match="'batch' is 2 in another input"):
        irkit.compile(symbolic(), shapes={"x": (2, 3), "z": (4, 3)})


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"shapes": {"x": (3, 3)}}, r"shapes gives input 'x' shape \(3, 3\), .*\(2, 3\)"),
        ({"shapes": {"x": (2, 3, 1)}}, "shapes gives input 'x'"),
        ({"shapes": {"x": (2, -3)}}, "impossible shape"),
        ({"shapes": {"w": (2, 3)}}, "shapes names 'w', which is not an input .*: x"),
        ({"values": {"q": 1.0}}, "values names 'q', which is not an input"),
        ({"values": {"x": np.zeros((2, 3))}}, "values gives input 'x' type float64"),
        ({"values": {"x": np.zeros((2, 4), np.float32)}}, "values gives input 'x' shape"),
    ],
)
def test_shapes_and_values_that_contradict_the_model_are_refused(
    how: dict[str, Any], said: str
) -> None:
    with pytest.raises(IRKitError, match=said):
        irkit.compile(one(RELU), **how)


def test_inputs_that_are_not_numeric_tensors_are_refused() -> None:
    model = model_of([RELU], X, ["y"], opset=13, dtype=TensorProto.STRING)
    with pytest.raises(ImportFailed, match="input 'x' has unsupported type STRING"):
        irkit.compile(model)
    model.graph.input[0].type.tensor_type.elem_type = 99
    with pytest.raises(ImportFailed, match="input 'x' has unsupported type 99"):
        irkit.compile(model)


def test_odd_names_are_only_names() -> None:
    names = ["a b", 'say "hi"', "def", "Straße/1:0", "line\nbreak", "x'", "1", "\\"]
    nodes = [make_node("Relu", [a], [b], name=a) for a, b in pairwise(names)]
    model = model_of(nodes, {names[0]: (3,)}, [names[-1]], opset=13)
    compiled = irkit.compile(model, verify=True)
    x = floats(3)
    np.testing.assert_array_equal(compiled.run({names[0]: x})[names[-1]], np.maximum(x, 0))


@pytest.mark.long
def test_functions_that_double_at_each_level_are_refused() -> None:
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]

    def function(number: int, *nodes: onnx.NodeProto) -> onnx.FunctionProto:
        return helper.make_function("own", f"f{number}", ["x"], ["y"], nodes, opsets)

    def call(number: int, *names: str) -> onnx.NodeProto:
        return make_node(f"f{number}", names[:1], names[1:], domain="own")

    twice_each = [function(at, call(at + 1, *"xt"), call(at + 1, *"ty")) for at in range(16)]
    functions = [*twice_each, function(16, make_node("Relu", ["x"], ["y"]))]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy")
    graph = helper.make_graph([call(0, "x", "y")], "g", [x], [y])
    with pytest.raises(ImportFailed, match="functions and loops expand to more than 20000 nodes"):
        import_onnx(helper.make_model(graph, functions=functions, opset_imports=opsets))
