"""Limits of the inspector: what it keeps, what it sends, and what a request may hold.

Limits of jobs stand with the jobs, those of the ways to compare texts with the ways.
"""

from irkit.processes import Limits, half_of_memory

# A cache is emptied from its oldest entry on; what is gone is computed again.
MOST_CACHED_TEXT = 20_000_000
"""Of printed texts. Units: lines."""
MOST_COMPARED = 10_000_000
"""Of differences between steps. Units: lines."""
MOST_CACHED_LINES = 5_000_000
"""Of differences that are shown, and of origins. Units: lines."""
MOST_RESPONSE_BYTES = 64 << 20
"""Of encoded responses. Units: bytes."""
MOST_NATIVE = 16
"""Of stages compiled to native code."""

# What a page shows must stay quick to draw; it says how much is left out.
MOST_LINES = 20_000
"""Lines in one response."""
MOST_SENT = 4_000
"""Changed lines that are sent with a difference; the page asks for others as they are shown."""
MOST_NEST_ROWS = 2_000
"""Rows of a loop nest."""
MOST_BOXES = 500
"""Boxes of a graph."""
MOST_INSIDE, DEEPEST = 20 * MOST_BOXES, 40
"""Bindings in fused functions that are drawn one by one, and their nesting: functions that call
others twice grow exponentially."""
MOST_READ_FOR_LINE = 1_000_000
"""Nodes that are read from a file to say where one line comes from: about eight seconds."""
MOST_REMARKS = 200
"""Remarks of a step."""
MOST_RULES = 50
"""Rules of a step."""
MOST_SOURCE = 60_000
"""Source of a pass. Units: characters."""
MOST_ROWS = 200
"""Rows of a table in a text report."""

# What comes with a request comes from outside.
MOST_POSTED = 1 << 16
"""Body of a request. Units: bytes."""
MOST_ASKED = 1 << 20
"""Body of a request for a job, which can hold edited IR. Units: bytes."""
MOST_PATTERN = 1_000
"""Regular expression in a search, or text that steps are filtered by. Units: characters."""
MOST_SEARCHED = 2_000
"""Text in a search. Units: characters."""
MOST_ADDED = 100
"""Runs that are added to a page: each holds a trace."""
MOST_PLANNED = 500
"""Passes in a plan of a run."""

MOST_DUMP_BYTES = 1 << 28
"""Dump of another compiler. Units: bytes."""
MOST_DUMPED = 20_000
"""Steps that are read from a dump."""
MOST_DUMP_FILES = 50_000
"""Files in a folder of dumps."""

# A child process that exceeds its limits is killed, and the page says so.
PASS_LIMITS = Limits(seconds=60.0, memory=half_of_memory())
"""To run one pass again."""
LOAD_LIMITS = Limits(seconds=600.0, memory=16 << 30)
"""To open a file: a large model is compiled."""
NATIVE_LIMITS = Limits(seconds=30.0, memory=4 << 30)
"""To compile one stage to native code."""
