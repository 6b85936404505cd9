"""The table of operators in the documentation is the one of now."""

from irkit.frontend.onnx import CONVERTERS
from tests.frontend.onnx.operator_matrix import BEGIN, OTHERS, PAGE, page


def test_the_table_of_operators_is_current() -> None:
    text = PAGE.read_text("utf-8")
    assert page(text) == text, "run python -m tests.frontend.onnx.operator_matrix"


def test_every_converter_has_a_row_and_a_stale_row_is_noticed() -> None:
    text = PAGE.read_text("utf-8")
    table = text[text.index(BEGIN) :]
    assert all(f"\n| {name} |" in table for name in CONVERTERS if not name.startswith(OTHERS))
    general = PAGE.with_name("onnx.md").read_text("utf-8")
    assert all(name in general for name in CONVERTERS if name.startswith(OTHERS))
    stale = text.replace("| Abs |", "| Absent |")
    assert stale != text
    assert page(stale) != stale
