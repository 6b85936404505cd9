"""Coverage of irkit's own code: the branches that a case takes and no case before it took.

From Python 3.12 on, `sys.monitoring` calls back when code is reached for the first time, and costs
next to nothing afterwards. On 3.11 a trace function sees the lines of the first calls of a function
in each case, and of a few later ones. That takes twice the time of a case, so one in six is
watched, and not where passes run once more.
"""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import msgspec

_ROOT = f"{Path(__file__).parents[2]}/"
_PARTS = (
    *("codegen", "core", "frontend", "graph", "ir", "passes", "phases", "runtime", "schedule"),
    *("te", "topi", "transform"),
)
_FOLDERS = tuple(f"{_ROOT}{part}/" for part in _PARTS)
"""What compiles; not what draws, judges and shows."""
_TOOL = 4
"""Number of a tool of `sys.monitoring` that none of Python's own has."""
_NAME = "irkit fuzz"
_FIRST_CALLS = 4
_MOST_CALLBACKS = 64
"""A branch that went one way so often is no longer watched."""
WATCHED = 1 if sys.version_info >= (3, 12) else 6
"""One case in so many is worth watching."""
_AGAIN = ("each pass", "invariants")
_Trace = Callable[[FrameType, str, Any], Any]


class Branches:
    """The branches that this process has taken so far, ``seen``, and ``new`` ones of one case.

    A branch is text, and the same in every process with the same Python: a file, and two lines or
    two places in its code.
    """

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.new: set[str] = set()

    @contextmanager
    def watching(self) -> Generator[None]:
        """Watch a case. A debugger, or a tool that measures coverage, is left in peace, and nothing
        is seen."""
        self.new = set()
        started = self.start()
        try:
            yield
        finally:
            if started:
                self.stop()
            self.seen |= self.new

    def start(self) -> bool:
        """Begin to watch, if that is possible."""
        raise NotImplementedError

    def stop(self) -> None:
        """Watch no longer."""
        raise NotImplementedError

    def enter(self, tier: str) -> None:
        """Take note of the tier that a case comes to."""


@cache
def branches_here() -> Branches:
    """Return the branches of this process."""
    return MonitoredBranches() if sys.version_info >= (3, 12) else TracedBranches()


class MonitoredBranches(Branches):
    """Branches by `sys.monitoring`, from Python 3.12 on.

    Lines are watched too: before 3.14 both ways of a branch are one event, which cannot be watched
    for ever, and most branches lead to a line of their own.
    """

    def __init__(self) -> None:
        super().__init__()
        self._monitoring: Any = getattr(sys, "monitoring")
        events = self._monitoring.events
        ways = [getattr(events, name, 0) for name in ("BRANCH_LEFT", "BRANCH_RIGHT")]
        self._both_ways = not all(ways)
        self._callbacks = {events.LINE: self._line, events.PY_START: self._line}
        self._callbacks |= dict.fromkeys([events.BRANCH] if self._both_ways else ways, self._branch)
        self._watches = False
        self._counts: dict[tuple[int, int], int] = {}
        self._kept: dict[int, CodeType] = {}  # So that no other code gets its id.

    def start(self) -> bool:
        tool = self._monitoring.get_tool(_TOOL)
        if tool not in (None, _NAME):
            return False
        self._watches = True
        if tool is None:
            self._monitoring.use_tool_id(_TOOL, _NAME)
            for event, callback in self._callbacks.items():
                self._monitoring.register_callback(_TOOL, event, callback)
            self._monitoring.set_events(_TOOL, sum(self._callbacks))
        return True

    def stop(self) -> None:
        self._watches = False  # To begin anew would look at all code again.

    def _line(self, code: CodeType, line: int) -> Any:
        if not self._watches:
            return None
        if code.co_filename.startswith(_FOLDERS):
            self._take(f"{code.co_filename[len(_ROOT) :]}:{line}")
        return self._monitoring.DISABLE

    def _branch(self, code: CodeType, offset: int, to: int) -> Any:
        if not self._watches:
            return None
        if not code.co_filename.startswith(_FOLDERS):
            return self._monitoring.DISABLE
        where = f"{code.co_filename[len(_ROOT) :]}:{code.co_firstlineno}"
        self._take(f"{where}+{offset}>{to}")
        if not self._both_ways:
            return self._monitoring.DISABLE
        self._kept[id(code)] = code
        place = id(code), offset
        count = self._counts[place] = self._counts.get(place, 0) + 1
        return self._monitoring.DISABLE if count > _MOST_CALLBACKS else None

    def _take(self, branch: str) -> None:
        if branch not in self.seen:
            self.new.add(branch)


class _Traced(msgspec.Struct, gc=False):
    """A function that is traced: how often it was called in a case."""

    code: CodeType
    file: str
    case: int = 0
    calls: int = 0


class TracedBranches(Branches):
    """Branches by a trace function, on Python 3.11: pairs of lines, one after the other."""

    def __init__(self) -> None:
        super().__init__()
        self._case = 0
        self._functions: dict[int, _Traced | None] = {}
        self._kept: list[CodeType] = []  # So that no other code gets its id.
        self._taken: set[tuple[str, int, int]] = set()

    def start(self) -> bool:
        if sys.gettrace() is not None:
            return False
        self._case += 1
        sys.settrace(self._called)
        return True

    def stop(self) -> None:
        if sys.gettrace() == self._called:
            sys.settrace(None)

    def enter(self, tier: str) -> None:
        if tier in _AGAIN:
            self.stop()

    def _called(self, frame: FrameType, event: str, arg: object) -> _Trace | None:
        code = frame.f_code
        key = id(code)  # Code compares by its contents, which is slow.
        traced = self._functions.get(key)
        if traced is None:
            if key in self._functions:
                return None
            self._kept.append(code)
            covered = code.co_filename.startswith(_FOLDERS)
            traced = _Traced(code, code.co_filename[len(_ROOT) :]) if covered else None
            self._functions[key] = traced
            if traced is None:
                return None
        if traced.case != self._case:
            traced.case, traced.calls = self._case, 0
        traced.calls = calls = traced.calls + 1
        # Of many calls, every power of two.
        if calls > _FIRST_CALLS and calls & (calls - 1):
            return None
        return self._lines_of(traced.file, code.co_firstlineno)

    def _lines_of(self, file: str, first: int) -> _Trace:
        last, taken, new = -first, self._taken, self.new

        def trace(frame: FrameType, event: str, arg: object) -> _Trace:
            nonlocal last
            if event == "line":
                line = frame.f_lineno
                branch = file, last, line
                if branch not in taken:
                    taken.add(branch)
                    new.add(f"{file}:{last}>{line}")
                last = line
            return trace

        return trace
