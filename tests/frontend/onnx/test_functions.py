"""Functions of a model, function bodies of operators, shapes computed on import, and control
flow."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.helper import make_node

import irkit
from irkit.core import IRKitError
from irkit.frontend.onnx import ImportFailed, UnknownShape, UnsupportedModel, import_onnx
from tests.frontend.onnx.models import floats, model_of

X = floats(2, 3, 4)


def with_functions(node: onnx.NodeProto, *functions: onnx.FunctionProto) -> onnx.ModelProto:
    model = model_of([node], {"x": X.shape}, ["y"], opset=18)
    model.opset_import.append(helper.make_opsetid("mine", 1))
    model.functions.extend(functions)
    return model


def function(name: str, nodes: list[onnx.NodeProto], *, opset: int = 18) -> onnx.FunctionProto:
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("mine", 1)]
    return helper.make_function("mine", name, ["a", "b"], ["c"], nodes, opsets, ["axis", "alpha"])


def test_a_function_of_the_model_has_attributes_of_its_call_and_names_of_its_own() -> None:
    soft = make_node("Softmax", ["a"], ["x"])  # The model has an x too.
    axis = soft.attribute.add(name="axis", type=onnx.AttributeProto.INT)
    axis.ref_attr_name = "axis"
    made = function("Soft", [soft, make_node("Neg", ["x"], ["c"])])
    model = with_functions(make_node("Soft", ["x"], ["y"], domain="mine", axis=1), made)
    powers = np.exp(X - X.max(axis=1, keepdims=True))
    want = -powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(irkit.compile(model).run({"x": X})["y"], want, rtol=1e-5)


def test_a_function_has_the_operator_versions_that_it_imports() -> None:
    made = function("Soft", [make_node("Softmax", ["a"], ["c"])], opset=12)
    model = with_functions(make_node("Soft", ["x"], ["y"], domain="mine"), made)
    flat = X.reshape(2, 12)
    powers = np.exp(flat - flat.max(axis=1, keepdims=True))
    want = (powers / powers.sum(axis=1, keepdims=True)).reshape(X.shape)
    np.testing.assert_allclose(irkit.compile(model).run({"x": X})["y"], want, rtol=1e-5)


def test_a_function_that_calls_itself_is_refused() -> None:
    made = function("Again", [make_node("Again", ["a"], ["c"], domain="mine")])
    model = with_functions(make_node("Again", ["x"], ["y"], domain="mine"), made)
    with pytest.raises(ImportFailed, match="functions are nested more than"):
        irkit.compile(model)


def test_an_operator_that_is_missing_inside_a_function_is_listed() -> None:
    made = function("Deep", [make_node("TfIdfVectorizer", ["a"], ["c"], name="inside")])
    model = with_functions(make_node("Deep", ["x"], ["y"], domain="mine"), made)
    with pytest.raises(UnsupportedModel, match="TfIdfVectorizer-9: node 'inside'"):
        irkit.compile(model)


def test_an_error_inside_a_function_names_the_call_and_the_node() -> None:
    made = function("Bad", [make_node("Transpose", ["a"], ["c"], perm=[0, 0, 1], name="inside")])
    model = with_functions(make_node("Bad", ["x"], ["y"], domain="mine", name="outside"), made)
    with pytest.raises(IRKitError, match=r"Bad node 'outside': in its function body, .*'inside'"):
        irkit.compile(model)


CHAIN = [
    make_node("Shape", ["x"], ["s"]),
    make_node("Gather", ["s", "zero"], ["n"]),
    make_node("Mul", ["n", "two"], ["m"]),
    make_node("Unsqueeze", ["m", "zero_axis"], ["u"]),
    make_node("Concat", ["u", "rest"], ["t"], axis=0),
    make_node("Reshape", ["x", "t"], ["y"]),
]
NUMBERS = {
    "zero": np.array(0), "two": np.array(2), "zero_axis": np.array([0]), "rest": np.array([-1]),
}  # fmt: skip


def test_a_shape_that_is_computed_from_a_shape_is_known() -> None:
    model = model_of(CHAIN, {"x": X.shape}, ["y"], opset=13, constants=NUMBERS)
    got = irkit.compile(model).run({"x": X})["y"]
    np.testing.assert_array_equal(got, X.reshape(4, 6))


def test_a_shape_that_is_computed_from_an_input_names_that_input() -> None:
    nodes = [
        make_node("Cast", ["n"], ["i"], to=TensorProto.INT64),
        make_node("Neg", ["i"], ["j"]),
        make_node("Reshape", ["x", "j"], ["y"]),
    ]
    model = model_of(nodes, {"x": X.shape, "n": (1,)}, ["y"], opset=13)
    with pytest.raises(UnknownShape, match="input 'j'") as caught:
        import_onnx(model)
    assert caught.value.input == "n"
    assert "values={'n': array}" in caught.value.hint


def branch(name: str, operator: str) -> onnx.GraphProto:
    out = helper.make_empty_tensor_value_info(name)
    return helper.make_graph([make_node(operator, ["x"], [name])], name, [], [out])


@pytest.mark.parametrize("known", [True, False])
def test_if_takes_a_known_branch_and_chooses_between_both_otherwise(known: bool) -> None:
    node = make_node(
        "If", ["c"], ["y"], then_branch=branch("p", "Neg"), else_branch=branch("q", "Abs")
    )
    model = model_of([node], {"x": X.shape}, ["y"], opset=13)
    model.graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, ()))
    for cond in (np.array(True), np.array(False)):
        values = {"c": cond} if known else {}
        feeds = {"x": X} if known else {"x": X, "c": cond}
        compiled = irkit.compile(model, values=values)
        np.testing.assert_array_equal(compiled.run(feeds)["y"], -X if cond else np.abs(X))
