"""The messages about models that cannot be imported, as a user reads them."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.helper import make_node

import irkit
from irkit.core import IRKitError
from irkit.frontend.onnx import UnsupportedModel, import_onnx
from tests.frontend.onnx.models import floats, model_of
from tests.frontend.onnx.refused.test_refused_models import RELU, X, one

NODES = (
    make_node("StringConcat", ["x", "x"], ["a"], name="first"),
    make_node("StringConcat", ["x", "a"], ["b"]),
    make_node("Magic", ["b"], ["y"], name="trick", domain="own"),
)
SHAPE_OF_X = make_node("Shape", ["x"], ["s"])
CYCLE = (
    make_node("Add", ["x", "b"], ["a"], name="p"),
    make_node("Neg", ["a"], ["b"], name="q"),
    make_node("Neg", ["a"], ["y"]),
)


def several(*nodes: onnx.NodeProto, **constants: object) -> onnx.ModelProto:
    return model_of(nodes, X, ["y"], opset=20, constants=constants)


def declared(*shape: int | str) -> onnx.ModelProto:
    model = one(RELU)
    info = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
    model.graph.output[0].CopyFrom(info)
    return model


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (
            several(*NODES),
            "the model uses 2 operators that irkit does not support:\n"
            "  StringConcat-20: node 'first' and 1 more\n"
            "  own.Magic-0: node 'trick'",
        ),
        (
            several(make_node("Add", ["x", "w"], ["y"], name="sum"), w=floats(4)),
            "Add node 'sum': add: argument b of shape [4] does not broadcast with a of shape "
            "[2, 3]: axis -1 is 4, expected 3 or 1 (output 'y', opset 20)",
        ),
        (
            several(
                make_node("ScatterElements", ["x", "i", "x"], ["y"], name="put"),
                i=np.zeros((2, 3), np.bool_),
            ),
            "ScatterElements node 'put': input 1 ('i') is of type bool, expected int32 or int64 "
            "(output 'y', opset 20)",
        ),
        (
            several(make_node("Concat", ["x", "x", "w"], ["y"], axis=0), w=np.ones((2, 3))),
            "Concat node 'y': input 2 ('w') is of type double, expected float, as 'x' is "
            "(opset 20)",
        ),
        (
            declared(2, 4),
            "output 'y' is declared with shape [2, 4], but its node makes f32[2, 3]",
        ),
        (
            several(*CYCLE),
            "the graph has a cycle: Add node 'p' reads 'b', which is computed from 'a', its own "
            "output (output 'a', opset 20)",
        ),
        (
            several(make_node("Neg", ["y"], ["y"])),
            "the graph has a cycle: Neg node 'y' reads 'y', its own output (opset 20)",
        ),
        (
            several(make_node("Softmax", ["x"], ["y"], axis=-3)),
            "Softmax node 'y': axis -3 is outside a tensor of rank 2 (opset 20)",
        ),
        (
            several(make_node("ReduceSum", ["x", "a"], ["y"], name="s"), a=np.array([-3])),
            "ReduceSum node 's': axis -3 is outside a tensor of rank 2 (output 'y', opset 20)",
        ),
        (
            several(
                SHAPE_OF_X,
                make_node("Mul", ["s", "b"], ["t"], name="m"),
                make_node("Reshape", ["x", "t"], ["y"]),
                b=np.array([1 << 62, 4]),
            ),
            "Reshape node 'y': its shape (input 't') comes from integers that overflow, in 't' "
            "(opset 20)",
        ),
        (
            several(
                make_node("ReduceProd", ["b"], ["p"]),
                make_node("Neg", ["p"], ["t"]),
                make_node("Expand", ["x", "t"], ["y"]),
                b=np.array([1 << 40, 1 << 40]),
            ),
            "Expand node 'y': its shape (input 't') comes from integers that overflow, in 'p' "
            "(opset 20)",
        ),
    ],
)
def test_the_message_names_what_is_wrong_once(model: onnx.ModelProto, said: str) -> None:
    with pytest.raises(IRKitError) as caught:
        irkit.compile(model)
    assert caught.value.message == said
    if isinstance(caught.value, UnsupportedModel):
        assert caught.value.hint.startswith("Register a converter")
    else:
        assert caught.value.hint == ""


def test_the_message_about_a_missing_dimension_has_the_remedy() -> None:
    model = model_of([make_node("EyeLike", ["x"], ["y"])], {"x": ("n", 3)}, ["y"], opset=13)
    with pytest.raises(IRKitError) as caught:
        import_onnx(model)
    assert str(caught.value) == (
        "EyeLike node 'y': the shape of 'x' must be constant here, but has the dimension n "
        "(opset 13)\n"
        "  Fix n on import: shapes={'x': (...)}, or --shape x=...."
    )


def test_a_model_of_another_domain_alone_lists_its_missing_operators() -> None:
    node = make_node("Nope", ["x"], ["y"], domain="ai.onnx.ml")
    model = one(node)
    del model.opset_import[:]
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
    with pytest.raises(UnsupportedModel) as caught:
        irkit.compile(model)
    assert caught.value.message == (
        "the model uses an operator that irkit does not support:\n  ai.onnx.ml.Nope-3: node 'y'"
    )


def test_sums_that_only_look_large_do_not_overflow() -> None:
    nodes = [
        make_node("Sub", ["s", "b"], ["t"]),
        make_node("Add", ["t", "b"], ["u"]),
        make_node("Expand", ["x", "u"], ["y"]),
    ]
    model = several(SHAPE_OF_X, *nodes, b=np.array([(1 << 63) - 1, 1 << 62]))
    assert irkit.compile(model).run({"x": floats(2, 3)})["y"].shape == (2, 3)


def test_an_output_may_be_declared_with_another_size_where_inputs_are_open() -> None:
    model = model_of([RELU], {"x": ("n", 3)}, ["y"], opset=13)
    for shape, right in (((1, 3), True), ((1,), False)):
        info = helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)
        model.graph.output[0].CopyFrom(info)
        if right:  # As onnxmltools exports a classifier of lightgbm.
            assert irkit.compile(model).run({"x": floats(5, 3)})["y"].shape == (5, 3)
            continue
        with pytest.raises(IRKitError, match=r"declared with shape \[1\]"):
            import_onnx(model, shapes={"x": (5, 3)})


def test_an_output_may_be_declared_with_other_names_of_dimensions() -> None:
    for shape in (("a", "b"), (2, "b"), (2, 3)):
        assert irkit.compile(declared(*shape)).run({"x": floats(2, 3)})["y"].shape == (2, 3)
