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

from irkit.inspector_web.diff.line_diff import Diff, Hunk, diff_lines
from irkit.inspector_web.diff.rows import Row, inline, side_by_side, unfolded
from irkit.inspector_web.diff.up_to_names import diff_up_to_names
from irkit.inspector_web.runs.align import Pair, align
from irkit.inspector_web.runs.steps import Filter, StepRow, Steps
from irkit.inspector_web.text.highlight import Highlighter, Marks
from irkit.inspector_web.text.lines import Ids, LineTable
from irkit.inspector_web.text.texts import GIVEN, PrintedFunction, Side, State, Text, Texts
from irkit.inspector_web.views.blame import Blame
from irkit.inspector_web.views.graph_view import Box, GraphView, GroupFrame, graph_view
from irkit.inspector_web.views.native import Mapped, NativeCode, native
from irkit.inspector_web.views.nest import NestChange, NestRow, nest, nest_changes
from irkit.inspector_web.views.origin import Chain, Link, Origins, origins
from irkit.inspector_web.views.search import PickaxeHit, SearchHit, pickaxe, print_all, search

__all__ = [
    "GIVEN",
    "Blame",
    "Box",
    "Chain",
    "Diff",
    "Filter",
    "GraphView",
    "GroupFrame",
    "Highlighter",
    "Hunk",
    "Ids",
    "LineTable",
    "Link",
    "Mapped",
    "Marks",
    "NativeCode",
    "NestChange",
    "NestRow",
    "Origins",
    "Pair",
    "PickaxeHit",
    "PrintedFunction",
    "Row",
    "SearchHit",
    "Side",
    "State",
    "StepRow",
    "Steps",
    "Text",
    "Texts",
    "align",
    "diff_lines",
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
