"""Remarks of passes with their function and line."""

from irkit.debug import remarks
from tests.debug.report.annotated_steps import STEPS


def test_remarks_on_modules_name_the_function_and_the_line() -> None:
    said = [(each.name, each.function, each.line, each.text) for each in remarks(STEPS)]
    assert said == [
        ("unroll", "f", 2, "seen"),
        ("unroll", "f", 0, "made on the way"),
        ("unroll", "g", 2, "seen"),
        ("unroll", "g", 0, "made on the way"),
        ("drop-g", "f", 1, "kept"),
    ]
    assert str(remarks(STEPS)[0]) == "f:2: unroll: seen\n    for i in serial(0, 8):"
    assert str(remarks(STEPS)[1]) == "f: unroll: made on the way"
