"""The inspector: a web page, a report and ``irkit diff`` over the traces of passes.

Reading order: text (the printed text of every step, as numbers of lines), diff (what changed
between two texts), views (what else can be known of a printed function: blame, search, loop nest,
graph, machine code), runs (the runs on one page), api (what the page asks for, as plain structs),
record (make traces in a child process), jobs (work that takes a while, such as checking every
step), dumps (what other compilers print, as steps of text), load (open the files that the user
names), server (the routes), report (a run as a file that needs no server). single_flight computes a
value once for all threads that ask for it. static/ runs in the browser: main.js puts the page
together, source/ fetches the data, panels/, diff/, views/ and jobs/ show it, navigation/ is where
one can go and what clicks and keys do.

What takes long is computed once and shared (``single_flight``), and requests hold no lock of the
whole. The server keeps nothing that a reload would lose: where one is on the page stands in the
address, after ``#``. A request can name a stage (``RUN.STEP.a``) and nothing else, in particular no
file. Nothing that is uploaded can bring a pass.
"""

from irkit.inspector_web.diff.line_diff import (
    Diff as Diff,
    diff_lines as diff_lines,
)
from irkit.inspector_web.diff.rows import (
    side_by_side as side_by_side,
)
from irkit.inspector_web.diff.terminal import printed_diff as printed_diff
from irkit.inspector_web.diff.up_to_names import (
    diff_up_to_names as diff_up_to_names,
)
from irkit.inspector_web.dumps.dump import (
    DumpDamage as DumpDamage,
    Dumped as Dumped,
    DumpReader as DumpReader,
    dump_lines as dump_lines,
)
from irkit.inspector_web.runs.align import (
    Pair as Pair,
    align as align,
)
from irkit.inspector_web.runs.run import (
    LoadedTrace as LoadedTrace,
    Run as Run,
)
from irkit.inspector_web.runs.steps import (
    Steps as Steps,
)
from irkit.inspector_web.runs.workspace import Workspace as Workspace
from irkit.inspector_web.text.lines import (
    Ids as Ids,
    LineTable as LineTable,
)
from irkit.inspector_web.text.texts import (
    Side as Side,
    Texts as Texts,
)
from irkit.inspector_web.views.blame import (
    Blame as Blame,
)
from irkit.inspector_web.views.graph_view import (
    graph_view as graph_view,
)
from irkit.inspector_web.views.search import (
    pickaxe as pickaxe,
)
