"""Functions over a trace. Reading order: lines (where a node is printed), summary
(numbers), table (how they print), command."""

from irkit.debug.lines import Lines
from irkit.debug.summary import PassRow, RuleRow, summarize, summarize_rules
from irkit.debug.table import console, pass_table, rule_table

__all__ = [
    "Lines",
    "PassRow",
    "RuleRow",
    "console",
    "pass_table",
    "rule_table",
    "summarize",
    "summarize_rules",
]
