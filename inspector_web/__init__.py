"""The inspector over a Trace: functions and plain structs that pages are made of. It reads a trace
and nothing else. Reading order: lines, texts (what is printed); few_edits, lcs, diff, pairing,
rows, renaming (what changed); highlight."""

from irkit.inspector_web.diff import Diff, Hunk, diff
from irkit.inspector_web.highlight import Highlighter, Marks
from irkit.inspector_web.lines import Ids, LineTable
from irkit.inspector_web.renaming import diff_up_to_names
from irkit.inspector_web.rows import Row, inline, side_by_side, unfolded
from irkit.inspector_web.texts import GIVEN, FunctionText, Side, State, Text, Texts

__all__ = [
    "GIVEN",
    "Diff",
    "FunctionText",
    "Highlighter",
    "Hunk",
    "Ids",
    "LineTable",
    "Marks",
    "Row",
    "Side",
    "State",
    "Text",
    "Texts",
    "diff",
    "diff_up_to_names",
    "inline",
    "side_by_side",
    "unfolded",
]
