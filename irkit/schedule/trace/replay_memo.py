"""Results of replays in this process: a schedule that was checked is not checked again.

A replay is known by everything that it depends on: the start function (structure, attributes and
every name), the steps, how they were checked, and the functions that ran them. So a trace that
differs in any step, or the same trace on another function, runs all its checks. What other
processes of this user found is in files (``replay_files``).
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import msgspec

from irkit.core import Node, copy_with, same, structural_hash, symbols_bound
from irkit.ir import PrimFunc, Var, shape_vars
from irkit.schedule.trace.encoder import Encoder
from irkit.schedule.trace.schedule_trace import ScheduleTrace, TraceStep

MOST_REPLAYS = 64
Key = tuple[object, ...]


class Replay(msgspec.Struct, frozen=True, eq=False):
    """A replay that was legal: the function before and after, the steps, and the names in them."""

    start: PrimFunc
    result: PrimFunc
    steps: tuple[TraceStep, ...]
    encoder: Encoder

    def on(self, func: PrimFunc) -> tuple[PrimFunc, Encoder] | None:
        """Return the result for a function of the same content, over its own variables and buffers
        and new ones for what the steps introduced; None if the content differs."""
        if not same(self.start, func):
            return None
        given = dict(zip(_symbols(self.start), _symbols(func), strict=True))
        result, mapping = copy_with(self.result, given)
        return result, self.encoder.renamed(mapping)


class ReplayMemo:
    """The latest legal replays of this process, at most ``MOST_REPLAYS``."""

    def __init__(self) -> None:
        self._known: OrderedDict[Key, Replay] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Key) -> Replay | None:
        with self._lock:
            found = self._known.get(key)
            if found is not None:
                self._known.move_to_end(key)
            return found

    def keep(self, key: Key, replay: Replay) -> None:
        with self._lock:
            self._known[key] = replay
            if len(self._known) > MOST_REPLAYS:
                self._known.popitem(last=False)

    def clear(self) -> None:
        """Forget all replays."""
        with self._lock:
            self._known.clear()


REPLAYS = ReplayMemo()


def replay_key(
    func: PrimFunc, trace: ScheduleTrace, check: str, primitives: dict[str, Callable[..., Any]]
) -> Key:
    """Return what the result of a replay depends on.

    Steps count by their ``repr``, which tells 1 from True and 1.0, and without their lines.
    """
    names = names_of(func)
    steps = repr(trace.without_where().steps)
    used = tuple(primitives.get(name) for name in sorted({s.primitive for s in trace.steps}))
    return structural_hash(func), func.name, names, steps, check, used


def names_of(func: PrimFunc) -> tuple[str, ...]:
    """Return the name of every variable and buffer of a function, in text order."""
    return tuple(getattr(symbol, "name", "") for symbol in _symbols(func))


def _symbols(func: PrimFunc) -> list[Node]:
    bound = symbols_bound(func)
    dims: list[Var] = [var for var in shape_vars(func) if var not in bound]
    return [*dims, *bound]
