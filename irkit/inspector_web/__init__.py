"""The inspector over a Trace: functions and plain structs that pages are made of. It reads a trace
and nothing else.

Reading order: lines, texts (what is printed); few_edits, lcs, diff, pairing, sliding, rows,
renaming (what changed); highlight; search (search_child), blame, steps, align (which pass did it);
origin, native (where a line came from, what becomes of it); nest, graph_view; printed_diff,
command_diff. The page: runs, answers, details, views (what it asks for), planning (the passes of a
run); collecting, recording, strangers, progress (in a child), restoring, scratch, opening (how a
file
becomes runs); tasks, kinds, task_routes (work that takes a while): verdicts, bisecting, costs,
llvm_passes, constants, questions, rerun, uploads; security, app, server, command_inspect; report,
summaries, command_report (files that need no server). static/ runs in the browser: main.js puts the
parts together, waiting.js waits for runs, moves.js is where one can go, controls.js what clicks and
keys do.
"""

from irkit.inspector_web.align import Pair, align
from irkit.inspector_web.blame import Blame
from irkit.inspector_web.diff import Diff, Hunk, diff
from irkit.inspector_web.graph_view import Box, Frame, GraphView, graph_view
from irkit.inspector_web.highlight import Highlighter, Marks
from irkit.inspector_web.lines import Ids, LineTable
from irkit.inspector_web.native import Mapped, Native, native
from irkit.inspector_web.nest import NestChange, NestRow, nest, nest_changes
from irkit.inspector_web.origin import Chain, Link, Origins, origins
from irkit.inspector_web.renaming import diff_up_to_names
from irkit.inspector_web.rows import Row, inline, side_by_side, unfolded
from irkit.inspector_web.search import Found, Touch, pickaxe, print_all, search
from irkit.inspector_web.steps import Filter, StepRow, Steps
from irkit.inspector_web.texts import GIVEN, FunctionText, Side, State, Text, Texts

__all__ = [
    "GIVEN",
    "Blame",
    "Box",
    "Chain",
    "Diff",
    "Filter",
    "Found",
    "Frame",
    "FunctionText",
    "GraphView",
    "Highlighter",
    "Hunk",
    "Ids",
    "LineTable",
    "Link",
    "Mapped",
    "Marks",
    "Native",
    "NestChange",
    "NestRow",
    "Origins",
    "Pair",
    "Row",
    "Side",
    "State",
    "StepRow",
    "Steps",
    "Text",
    "Texts",
    "Touch",
    "align",
    "diff",
    "diff_up_to_names",
    "graph_view",
    "inline",
    "native",
    "nest",
    "nest_changes",
    "origins",
    "pickaxe",
    "print_all",
    "search",
    "side_by_side",
    "unfolded",
]
