"""Converters that users register: which one is used, what they may do, errors that name them."""

import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import irkit
from irkit.core import IRKitError, ShapeError
from irkit.frontend.onnx import (
    ImportFailed,
    OnnxNode,
    UnsupportedModel,
    import_onnx,
    register,
    unregister,
)
from irkit.frontend.onnx.user_converters import load_converter, load_entry_point
from irkit.graph import Builder, Value, tensor_type
from irkit.ir import parse
from tests.frontend.onnx.models import floats

DOMAIN, HERE = "com.example", __name__
Outputs = Value | Sequence[Value | None]


def model(*, version: int = 1, outputs: int = 1, **attributes: object) -> onnx.ModelProto:
    names = [f"y{at}" for at in range(outputs)]
    node = helper.make_node("Mine", ["x"], names, domain=DOMAIN, name="mine", **attributes)
    graph = helper.make_graph(
        [node],
        "graph",
        [helper.make_tensor_value_info("x", 1, [2, 3])],
        [helper.make_empty_tensor_value_info(name) for name in names],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, version)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    yield
    unregister(DOMAIN, "Mine")


def scaled(node: OnnxNode) -> Value:
    return node.op("multiply", node.input(0), node.number("by", 2.0))


def negated(node: OnnxNode) -> Value:
    return node.op("negative", node.input(0))


def test_a_registered_converter_is_used_and_runs_natively() -> None:
    assert register(DOMAIN, "Mine")(scaled) is scaled
    x = floats(2, 3)
    found = irkit.compile(model(by=3.0)).run({"x": x})["y0"]
    np.testing.assert_array_equal(found, x * np.float32(3))


def test_the_newest_version_up_to_that_of_the_model_is_used() -> None:
    register(DOMAIN, "Mine")(scaled)
    register(DOMAIN, "Mine", since=4)(negated)
    assert "multiply" in import_onnx(model(version=3))["main"].script()
    assert "negative" in import_onnx(model(version=9))["main"].script()


def test_a_converter_can_call_a_kernel_of_its_own() -> None:
    def reversed_rows(node: OnnxNode) -> Value:
        func = parse(
            "def flip(x: f32[2, 3], y: f32[2, 3]):\n"
            "    for i in serial(0, 2):\n"
            "        for j in serial(0, 3):\n"
            "            y[i, j] = x[i, 2 - j]\n"
        )
        [made] = node.loops(func, node.input(0), types=[tensor_type((2, 3))])
        return made

    register(DOMAIN, "Mine")(reversed_rows)
    x, module = floats(2, 3), import_onnx(model())
    assert set(module.functions) == {"main", "flip"}
    np.testing.assert_array_equal(irkit.compile(module).run({"x": x})["y0"], x[:, ::-1])


def test_an_operator_without_a_converter_is_refused_with_the_remedy() -> None:
    with pytest.raises(UnsupportedModel, match=r"com\.example\.Mine-1: node 'mine'") as caught:
        import_onnx(model())
    assert "irkit.frontend.onnx.register" in caught.value.hint
    assert "--converter MODULE:FUNCTION" in caught.value.hint


def test_a_converter_is_only_used_for_versions_from_its_first_on() -> None:
    register(DOMAIN, "Mine", since=2)(scaled)
    with pytest.raises(UnsupportedModel):
        import_onnx(model(version=1))


def test_an_exception_names_the_node_the_converter_and_the_line() -> None:
    def broken(node: OnnxNode) -> Value:
        raise KeyError("oops")

    register(DOMAIN, "Mine")(broken)
    with pytest.raises(ImportFailed) as caught:
        import_onnx(model())
    assert caught.value.message.startswith("Mine node 'mine': the converter ")
    assert f"{HERE}:test_an_exception" in caught.value.message
    assert f"{Path(__file__).name}:" in caught.value.message
    assert caught.value.message.endswith("raised KeyError: 'oops' (output 'y0', opset 1)")
    assert caught.value.hint.endswith('raise KeyError("oops")')


def test_endless_recursion_in_a_converter_is_an_error() -> None:
    def endless(node: OnnxNode) -> Value:
        return endless(node)

    register(DOMAIN, "Mine")(endless)
    with pytest.raises(ImportFailed, match="raised RecursionError"):
        import_onnx(model())


def test_an_error_of_irkit_keeps_its_class_and_names_the_converter() -> None:
    def mismatched(node: OnnxNode) -> Value:
        return node.op("matmul", node.input(0), node.input(0))

    register(DOMAIN, "Mine")(mismatched)
    with pytest.raises(ShapeError, match="Mine node 'mine': matmul") as caught:
        import_onnx(model())
    assert "In the converter" in caught.value.hint


def test_a_refusal_is_not_named_twice() -> None:
    def refuses(node: OnnxNode) -> Value:
        raise node.fail("by must be 1", hint="Export again.")

    register(DOMAIN, "Mine")(refuses)
    with pytest.raises(ImportFailed) as caught:
        import_onnx(model())
    assert caught.value.message == "Mine node 'mine': by must be 1 (output 'y0', opset 1)"
    assert caught.value.hint.startswith("Export again.\n  In the converter ")


def _nothing(node: OnnxNode) -> Outputs:
    return None  # pyright: ignore[reportReturnType]


def _array(node: OnnxNode) -> Outputs:
    return [np.zeros(3)]  # pyright: ignore[reportReturnType]


def _of_another_graph(node: OnnxNode) -> Outputs:
    return Builder("other").param("strange", (2, 3))


def _too_many(node: OnnxNode) -> Outputs:
    return [node.input(0), node.input(0)]


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (_nothing, "returned a NoneType"),
        (_array, "returned a ndarray among its outputs"),
        (_of_another_graph, "returned 'strange', which is not of this graph"),
        (_too_many, "returned 2 outputs; the node has 1"),
    ],
)
def test_what_is_returned_is_checked(function: object, what: str) -> None:
    register(DOMAIN, "Mine")(function)  # pyright: ignore[reportArgumentType]
    with pytest.raises(ImportFailed, match=what):
        import_onnx(model())


def test_an_output_that_nobody_uses_can_be_left_out() -> None:
    def first_only(node: OnnxNode) -> Outputs:
        return [node.op("relu", node.input(0)), None]

    register(DOMAIN, "Mine")(first_only)
    used = model(outputs=2)
    with pytest.raises(ImportFailed, match=r"output 1 \('y1'\) is not supported"):
        import_onnx(used)
    del used.graph.output[1]
    used.graph.node[0].output[1] = ""
    import_onnx(used)


def test_two_converters_for_one_operator_are_an_error_that_names_both() -> None:
    register(DOMAIN, "Mine")(scaled)
    with pytest.raises(IRKitError, match=r":scaled \(.*\) and .*:negated \("):
        register(DOMAIN, "Mine")(negated)
    register(DOMAIN, "Mine")(scaled)


@pytest.mark.parametrize("name", ["Relu", "If"])
def test_an_operator_that_irkit_converts_cannot_be_registered(name: str) -> None:
    for domain in ("", "ai.onnx"):
        with pytest.raises(IRKitError, match=f"irkit converts {name} itself"):
            register(domain, name)(scaled)


def test_a_function_of_the_model_comes_before_a_registered_converter() -> None:
    register(DOMAIN, "Mine")(scaled)
    given = model()
    body = [helper.make_node("Neg", ["a"], ["b"])]
    opsets = [helper.make_opsetid("", 17)]
    given.functions.append(helper.make_function(DOMAIN, "Mine", ["a"], ["b"], body, opsets))
    assert "negative" in import_onnx(given)["main"].script()


MODULE = """\
from irkit.frontend.onnx import register


@register("com.example", "Mine")
def mine(node):
    return node.op("negative", node.input(0))


def not_registered(node):
    return node.input(0)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "my_converters.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield "my_converters"
    sys.modules.pop("my_converters", None)


def test_a_converter_is_loaded_by_its_path(module: str) -> None:
    load_converter(f"{module}:mine")
    assert "negative" in import_onnx(model())["main"].script()
    for wrong in (f"{module}:not_registered", module):
        with pytest.raises(IRKitError, match="is not a registered converter"):
            load_converter(wrong)
    for missing in (f"{module}:other", "no_such_module_at_all:f"):
        with pytest.raises(IRKitError, match="cannot be loaded"):
            load_converter(missing)


def test_a_converter_is_loaded_by_its_entry_point(module: str) -> None:
    group = "irkit.onnx_converters"
    load_entry_point(EntryPoint("mine", f"{module}:mine", group))
    assert "negative" in import_onnx(model())["main"].script()
    with pytest.raises(IRKitError, match=r"entry point 'mine' \(my_converters:not_registered\)"):
        load_entry_point(EntryPoint("mine", f"{module}:not_registered", group))


def test_installed_entry_points_are_found(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "example-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: example\nVersion: 1.0\n")
    entry = f"[irkit.onnx_converters]\nmine = {module}:mine\n"
    (folder / "entry_points.txt").write_text(entry)
    monkeypatch.setattr("irkit.frontend.onnx.user_converters._loaded", [])
    assert "negative" in import_onnx(model())["main"].script()
