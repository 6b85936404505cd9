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

What takes long is computed once and shared (``single_flight``), and requests hold no lock of the
whole. The server keeps nothing that a reload would lose: where one is on the page stands in the
address, after ``#``. A request can name a stage (``RUN.STEP.a``) and nothing else, in particular no
file. Nothing that is uploaded can bring a pass.
"""

from irkit.inspector_web.diff.line_diff import (
    Diff as Diff,
    Hunk as Hunk,
    diff_lines as diff_lines,
)
from irkit.inspector_web.diff.rows import (
    Row as Row,
    inline as inline,
    side_by_side as side_by_side,
    unfolded as unfolded,
)
from irkit.inspector_web.diff.up_to_names import (
    diff_up_to_names as diff_up_to_names,
)
from irkit.inspector_web.runs.align import (
    Pair as Pair,
    align as align,
)
from irkit.inspector_web.runs.steps import (
    Filter as Filter,
    StepRow as StepRow,
    Steps as Steps,
)
from irkit.inspector_web.text.highlight import (
    Highlighter as Highlighter,
    Marks as Marks,
)
from irkit.inspector_web.text.lines import (
    Ids as Ids,
    LineTable as LineTable,
)
from irkit.inspector_web.text.texts import (
    GIVEN as GIVEN,
    PrintedFunction as PrintedFunction,
    Side as Side,
    State as State,
    Text as Text,
    Texts as Texts,
)
from irkit.inspector_web.views.blame import (
    Blame as Blame,
)
from irkit.inspector_web.views.graph_view import (
    Box as Box,
    GraphView as GraphView,
    GroupFrame as GroupFrame,
    graph_view as graph_view,
)
from irkit.inspector_web.views.native import (
    Mapped as Mapped,
    NativeCode as NativeCode,
    native as native,
)
from irkit.inspector_web.views.nest import (
    NestChange as NestChange,
    NestRow as NestRow,
    nest as nest,
    nest_changes as nest_changes,
)
from irkit.inspector_web.views.origin import (
    Chain as Chain,
    Link as Link,
    Origins as Origins,
    origins as origins,
)
from irkit.inspector_web.views.search import (
    PickaxeHit as PickaxeHit,
    SearchHit as SearchHit,
    pickaxe as pickaxe,
    print_all as print_all,
    search as search,
)
