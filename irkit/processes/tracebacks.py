"""Tracebacks that begin at what matters, without the frames around it.

Frames are left out up to and including those of one file, such as the one that calls passes.
"""

import re
import traceback

_MOST = 1 << 16
_FRAMES = 50
_SECTION = re.compile(r"(?m)^(?=(?:Current t|T)hread 0x)")


def traceback_inside(error: BaseException, outer: str) -> str:
    """Format the traceback of an exception inside the file ``outer``, whole if it was not there."""
    at = error.__traceback__
    while at is not None and at.tb_frame.f_code.co_filename != outer:
        at = at.tb_next
    # Formatting runs code of the exception class.
    try:
        kept = error.with_traceback(at.tb_next) if at is not None and at.tb_next else error
        return "".join(traceback.format_exception(kept, limit=-_FRAMES))[-_MOST:]
    except Exception:
        return f"{type(error).__name__}, which cannot be printed\n"


def dumped_traceback(text: str, outer: str) -> str:
    """Return the part of faulthandler's output about the call, cut in the same way."""
    sections = _SECTION.split(text)
    chosen = next((each for each in sections if "child_main.py" in each and "serve" in each), text)
    kept: list[str] = []
    for line in chosen.splitlines(keepends=True):
        if (outer and outer in line) or "child_main.py" in line:
            break
        kept.append(line)
    return "".join(kept) if len(kept) > 1 else chosen
