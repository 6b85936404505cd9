"""Functions over a trace. Reading order: lines (where a node is printed), summary
(numbers), table (how they print)."""

from irkit.debug.lines import Lines
from irkit.debug.summary import PassRow, summarize
from irkit.debug.table import console, pass_table

__all__ = ["Lines", "PassRow", "console", "pass_table", "summarize"]
