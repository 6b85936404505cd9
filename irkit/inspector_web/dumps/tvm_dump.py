"""What TVM's pass instruments ``PrintAfterAll`` and ``PrintBeforeAll`` print.

A reader like one of another package: irkit offers it as an entry point, and nothing else names it.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from irkit.inspector_web.dumps.dump import Dumped, DumpReader, dump_lines
from irkit.inspector_web.dumps.log import Banner, events_of

_BANNER = re.compile(r"(Before|After) Running Pass: .*?\b(?:name=\"([^\"]*)\"|pass name: ([^,]*))")


def _banner(line: str) -> Banner | None:
    if not line.startswith(("Before Running Pass", "After Running Pass")):
        return None
    found = _BANNER.match(line)
    if found is None:
        return None
    side = "before" if found[1] == "Before" else "after"
    name = found[2] or found[3] or "a pass"
    return Banner(Dumped(name=name, side=side, phase_name="TVM passes"))


def _read(path: Path) -> Iterator[Dumped]:
    return events_of(
        dump_lines(path), _banner, lambda lines: "python", lambda language, text: False
    )


TVM = DumpReader(
    "tvm",
    "TVM's PrintAfterAll or PrintBeforeAll",
    lambda path, head: re.search(r"^(?:Before|After) Running Pass: ", head, re.M) is not None,
    _read,
)
