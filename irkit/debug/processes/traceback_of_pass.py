"""Tracebacks that begin inside a pass, without the frames of irkit around it."""

import re
import traceback

import irkit.transform.define as _define

_MOST = 1 << 16
_FRAMES = 50
_SECTION = re.compile(r"(?m)^(?=(?:Current t|T)hread 0x)")


def traceback_of_pass(error: BaseException) -> str:
    """Format the traceback of an exception from the pass inwards, whole if there is no pass."""
    at = error.__traceback__
    while at is not None and at.tb_frame.f_code.co_filename != _define.__file__:
        at = at.tb_next
    # Formatting runs code of the exception class.
    try:
        kept = error.with_traceback(at.tb_next) if at is not None and at.tb_next else error
        return "".join(traceback.format_exception(kept, limit=-_FRAMES))[-_MOST:]
    except Exception:
        return f"{type(error).__name__}, which cannot be printed\n"


def dumped_traceback(text: str) -> str:
    """Return the part of faulthandler's output about the call, cut to the frames in the pass."""
    sections = _SECTION.split(text)
    chosen = next((each for each in sections if "child_main.py" in each and "serve" in each), text)
    kept: list[str] = []
    for line in chosen.splitlines(keepends=True):
        if _define.__file__ in line or "child_main.py" in line:
            break
        kept.append(line)
    return "".join(kept) if len(kept) > 1 else chosen
