"""Functions over a trace. Reading order: lines (where a node is printed), summary (numbers), idle,
remarks, printing, timing, golden, table (how numbers print); inputs, compare, precision, running
(native, native_child), check (does each step keep the meaning), graph_check; bisect (which rewrite
does not), contracts (what every pass promises; contract_child); command."""

from irkit.debug.bisect import Culprit, bisect
from irkit.debug.check import Verdict, check, is_trusted
from irkit.debug.compare import Difference
from irkit.debug.contracts import Breach, assert_contracts, contracts, differing_elsewhere
from irkit.debug.golden import golden_diff, phase_texts, write_golden
from irkit.debug.idle import Idle, idle_passes
from irkit.debug.inputs import InputSet, input_sets
from irkit.debug.lines import Lines
from irkit.debug.printing import Printing, file_name
from irkit.debug.remarks import Said, remarks
from irkit.debug.summary import PassRow, RuleRow, summarize, summarize_rules
from irkit.debug.table import console, pass_table, rule_table, verdict_table
from irkit.debug.timing import chrome_trace, time_table

__all__ = [
    "Breach",
    "Culprit",
    "Difference",
    "Idle",
    "InputSet",
    "Lines",
    "PassRow",
    "Printing",
    "RuleRow",
    "Said",
    "Verdict",
    "assert_contracts",
    "bisect",
    "check",
    "chrome_trace",
    "console",
    "contracts",
    "differing_elsewhere",
    "file_name",
    "golden_diff",
    "idle_passes",
    "input_sets",
    "is_trusted",
    "pass_table",
    "phase_texts",
    "remarks",
    "rule_table",
    "summarize",
    "summarize_rules",
    "time_table",
    "verdict_table",
    "write_golden",
]
