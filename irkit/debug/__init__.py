"""Functions over a trace. Reading order: summary (numbers), table (how they print)."""

from irkit.debug.summary import PassRow, summarize
from irkit.debug.table import console, pass_table

__all__ = ["PassRow", "console", "pass_table", "summarize"]
