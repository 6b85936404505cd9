"""Outputs to which iterations add rows of different shapes are refused by name."""

import onnx
import pytest
from onnx import TensorProto, helper

import irkit
from irkit.core import IRKitError


def _info(
    name: str, shape: list[int | str | None], kind: int = TensorProto.FLOAT
) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def _scan(rows: int | str) -> onnx.ModelProto:
    """Return a Scan whose output collects the places of what is not 0 in each row."""
    found = _info("found", [1, None], TensorProto.INT64)
    nodes = [
        helper.make_node("NonZero", ["row"], ["found"], name="find"),
        helper.make_node("Identity", ["before"], ["after"]),
    ]
    body = helper.make_graph(
        nodes, "body", [_info("before", []), _info("row", [4])], [_info("after", []), found]
    )
    node = helper.make_node(
        "Scan", ["start", "x"], ["last", "places"], name="rows", num_scan_inputs=1, body=body
    )
    inputs = [_info("start", []), _info("x", [rows, 4])]
    outputs = [_info("last", []), _info("places", [None, 1, None], TensorProto.INT64)]
    graph = helper.make_graph([node], "model", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (3, "in iteration 0 and .* in iteration 1; expected one type in all iterations"),
        ("n", "in each iteration, which finds the size itself; expected one shape in all"),
    ],
)
def test_rows_whose_sizes_a_run_finds_are_refused_by_name(rows: int | str, message: str) -> None:
    shapes = {"x": (rows, 4)} if isinstance(rows, str) else None
    named = r"^Scan node 'rows': its output 'places' collects i64\[1, \w+\] "
    with pytest.raises(IRKitError, match=named + message) as caught:
        irkit.compile(_scan(rows), shapes=shapes)
    assert "shapes=" not in caught.value.hint
