"""The table of docs/onnx-operators.md, which ``python -m tests.frontend.onnx.operator_matrix``
writes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import onnx

from irkit.core import IRKitError
from irkit.frontend.onnx import CONVERTERS, SHAPE_INPUTS
from irkit.frontend.onnx.control_flow.operators import CONTROL_FLOW
from irkit.fuzz.generators.onnx_models.suite_cases import refused_cases
from irkit.ir import from_numpy
from tests.frontend.onnx import node_cases as suite

PAGE = Path(__file__).parents[3] / "docs" / "onnx-operators.md"
BEGIN, END = "<!-- operators: begin -->", "<!-- operators: end -->"
_HEAD = """\
| operator | versions | tested at | types tested | cases | must be known |
| --- | --- | --- | --- | --- | --- |
"""

OTHERS = "com."
"""Beginning of the domains that ONNX says nothing about: docs/onnx.md names their operators."""


def operators() -> list[str]:
    """List what the importer converts: by a converter, a rule, or the body that ONNX defines."""
    with_body = {
        schema.name
        for schema in _schemas()
        if schema.domain == "" and (schema.has_function or schema.has_context_dependent_function)
    }
    used = {suite.operator_of(case) for case in _accepted()}
    own = {name for name in CONVERTERS if not name.startswith(OTHERS)}
    return sorted({*own, *CONTROL_FLOW, *(with_body & used)}, key=str.lower)


def matrix() -> str:
    """Return the table, made from the schemas of ONNX and the cases that are accepted."""
    versions = _versions()
    tested: dict[str, set[int]] = {}
    types: dict[str, set[str]] = {}
    for case in _accepted():
        opsets = {each.domain: each.version for each in case.model.opset_import}
        for node in case.nodes:
            name = f"{node.domain}.{node.op_type}" if node.domain else node.op_type
            opset = opsets.get(node.domain, 0)
            at = max((each for each in versions.get(name, ()) if each <= opset), default=0)
            tested.setdefault(name, set()).add(at)
        types.setdefault(_name(case), set()).update(_types(case))
    accepted = {case.name for case in _accepted()}
    plain: dict[str, list[suite.NodeCase]] = {}
    for case in suite.node_cases():
        if "_expanded" not in case.name:
            plain.setdefault(_name(case), []).append(case)
    rows: list[str] = []
    for name in operators():
        own = plain.get(name, [])
        passed = sum(case.name in accepted for case in own)
        cells = (
            name,
            _numbers(versions.get(name, ())),
            _numbers(tested.get(name, ())) or "no case",
            " ".join(sorted(types.get(name, ()), key=_ORDER.index)),
            f"{passed} of {len(own)}",
            _known(name),
        )
        rows.append(f"| {' | '.join(cells)} |\n")
    return _HEAD + "".join(rows)


_ORDER = [
    *("f32", "f16", "bf16", "f64", "i8", "i16", "i32", "i64"),
    *("u8", "u16", "u32", "u64", "bool"),
]


def _schemas() -> list[Any]:
    found: Any = onnx.defs.get_all_schemas_with_history()
    return list(found)


def _versions() -> Mapping[str, list[int]]:
    found: dict[str, list[int]] = {}
    for schema in _schemas():
        name = f"{schema.domain}.{schema.name}" if schema.domain else schema.name
        if not schema.deprecated:
            found.setdefault(name, []).append(schema.since_version)
    return {name: sorted(each) for name, each in found.items()}


def _accepted() -> list[suite.NodeCase]:
    refused = refused_cases()
    return [case for case in suite.node_cases() if case.name not in refused]


def _name(case: suite.NodeCase) -> str:
    node = case.nodes[-1]
    return f"{node.domain}.{node.op_type}" if node.domain else node.op_type


def _types(case: suite.NodeCase) -> set[str]:
    found: set[str] = set()
    for info in case.model.graph.input:
        try:
            number = info.type.tensor_type.elem_type
            found.add(str(from_numpy(onnx.helper.tensor_dtype_to_np_dtype(number))))
        except (IRKitError, KeyError):
            continue
    return found


def _numbers(values: Any) -> str:
    return " ".join(str(each) for each in sorted(values) if each)


def _known(name: str) -> str:
    at = SHAPE_INPUTS.get(name, ())
    if not at:
        return ""
    newest: Any = onnx.defs.get_schema(name)
    names = [newest.inputs[each].name for each in at if each < len(newest.inputs)]
    return ", ".join(names)


def page(text: str) -> str:
    """Return the page with the table of now."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{matrix()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8")), "utf-8")
