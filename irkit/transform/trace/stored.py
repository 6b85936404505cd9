"""Steps of a trace file whose IR is read when it is asked for.

Reading a file of version 3 decodes its classes and the rows of its steps. The rows of nodes and
values stay packed, frame by frame, until a step is asked for its IR; then what that IR reaches is
made, once for all steps, and checked.
"""

import gc
import threading
from bisect import bisect_right, insort
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Generic, TypeVar, cast

from irkit.core import Application, FormatError, Function, IRModule, Remark, RuleReport
from irkit.transform.step import IR, FunctionState, Side, Step
from irkit.transform.trace.file import MODULE, TraceBody, TraceStepRow, Vocabulary
from irkit.transform.trace.frames import ROWS, IndexFrame, RowsFrame, content_of, decoded
from irkit.transform.trace.read import Reader
from irkit.transform.trace.size_limits import NodeSizes, ValueSizes

_T = TypeVar("_T")
_MOST_OPEN = 128
"""Frames whose rows stay decoded at the same time."""


class StoredRows:
    """The rows of a file, by number, of a few frames at a time."""

    def __init__(self, data: memoryview, index: IndexFrame) -> None:
        self._data = data
        self._places = [*index.rows, (len(data), *index.totals)]
        self._firsts = tuple([place[what] for place in index.rows] for what in (1, 2, 3))
        self._opened: OrderedDict[int, tuple[list[Any], list[Any], list[Any]]] = OrderedDict()

    def row(self, what: int, number: int) -> list[Any]:
        """Return a row of values (0), nodes (1) or modules (2)."""
        frame = bisect_right(self._firsts[what], number) - 1
        opened = self._opened.get(frame)
        if opened is None:
            opened = self._open(frame)
        return opened[what][number - self._firsts[what][frame]]

    def rows_around(self, what: int, number: int) -> tuple[list[list[Any]], int, int]:
        """Return the rows of a frame, and the numbers of the first and the one after the last."""
        self.row(what, number)
        frame = bisect_right(self._firsts[what], number) - 1
        rows, first = self._opened[frame][what], self._firsts[what][frame]
        return rows, first, first + len(rows)

    def _open(self, frame: int) -> tuple[list[Any], list[Any], list[Any]]:
        at = self._places[frame][0]
        content: RowsFrame = content_of(self._data, at, ROWS, RowsFrame)
        values = decoded(content.values, at, list[list[Any]])
        nodes = decoded(content.nodes, at, list[list[Any]])
        if (len(values), len(nodes), len(content.modules)) != content.counts:
            raise FormatError(f"at byte {at}: a frame has other rows than it says")
        before, after = self._places[frame][1:], self._places[frame + 1][1:]
        if any(old + n != new for old, n, new in zip(before, content.counts, after, strict=True)):
            raise FormatError(f"at byte {at}: a frame has other rows than the index says")
        self._opened[frame] = opened = values, nodes, content.modules
        if len(self._opened) > _MOST_OPEN:
            self._opened.popitem(last=False)
        return opened


class _Table(Generic[_T]):
    """A table whose entries are made when they are asked for; behaves like the list of them."""

    def __init__(self, count: int, make: Callable[[int], _T]) -> None:
        self.made: dict[int, _T] = {}
        self._count = count
        self._make = make

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: int) -> _T:
        found = self.made.get(at)
        return self._make(at) if found is None and at not in self.made else cast(_T, found)


class StoredReader(Reader):
    """The tables of a file, made as far as they are needed. Safe to use from several threads."""

    def __init__(
        self,
        data: memoryview,
        index: IndexFrame,
        known: Vocabulary,
        name: str,
    ) -> None:
        super().__init__(TraceBody("", {}, index.classes, [], [], [], []), known, name)
        self._stored, totals = StoredRows(data, index), index.totals
        self._lock = threading.RLock()
        self._functions: dict[int, list[tuple[str, int]]] = {}
        self._roots: list[int] = []
        self._values: _Table[Any] = _Table(totals[0], self._make_value)
        self._nodes: _Table[Any] = _Table(totals[1], self._make_node)
        self._modules: _Table[IRModule] = _Table(totals[2], self._make_module)
        self.values = cast(list[Any], self._values)
        self.nodes = cast(list[Any], self._nodes)
        self.modules = cast(list[IRModule], self._modules)
        self._value_sizes = ValueSizes(totals[0])
        self._node_sizes = NodeSizes(totals[1])
        self.made_nodes, self.made_values = self._nodes.made, self._values.made

    def stored_step(self, row: TraceStepRow) -> Step:
        """Return a step that reads its IR when it is asked for it."""
        for at in (row.before, row.after):
            if not -len(self.modules) <= at < len(self.nodes):
                self.fail(f"step {row.index} refers to {at}, which is not in the file")
        return StoredStep(
            index=row.index,
            level=self._found(self.known.levels, row.level, "level"),
            phase=row.phase,
            phase_name=row.phase_name,
            name=row.name,
            pass_text=row.pass_text,
            options=cast(Any, _Deferred(self, self.options, row)),
            function=row.function,
            before=cast(Any, _Deferred(self, self.ir, row.before)),
            after=cast(Any, _Deferred(self, self.ir, row.after)),
            seconds=row.seconds,
            applications=row.applications,
            kept=cast(Any, _Deferred(self, self.applications, row)),
            remarks=cast(Any, _Deferred(self, self.remarks, row)),
            facts=tuple(row.facts),
            reports=cast(Any, _Deferred(self, self.reports, row)),
            changes_rounding=row.changes_rounding,
        )

    def functions_in(self, number: int) -> list[tuple[str, int]]:
        """Return names and numbers of the functions of a module, or the one function; only rows
        are read."""
        if number >= 0:
            return [("", number)]
        held = self._stored.row(2, MODULE - number)
        for _, at in held:
            if not 0 <= at < len(self.nodes):
                self.fail(f"a module refers to {at}, which is not in the file")
        return cast(list[tuple[str, int]], held)

    def functions_of(self, number: int) -> list[tuple[str, int]]:
        """Return the same as functions_in, without waiting while something large is read: pages of
        lines ask for it."""
        if number >= 0:
            return self.functions_in(number)
        found = self._functions.get(number)
        if found is None:
            found = self._functions[number] = self.asked(self.functions_in, number)
        return found

    def unread(self, number: int) -> int:
        """Return about how many nodes have to be made for a function or module: files have the
        nodes of later steps behind those of earlier ones, and most are shared."""
        made, roots, total = self._nodes.made, self._roots, 0
        for _, at in self.functions_in(number):
            if at not in made:
                nearest = bisect_right(roots, at)
                total += at - (roots[nearest - 1] if nearest else -1)
        return total

    def function(self, number: int) -> Function:
        """Return a function."""
        found = self.ir(number)
        assert isinstance(found, Function)
        return found

    def asked(self, read: Callable[[Any], _T], given: Any) -> _T:
        """Read something now. Raises: FormatError that names the file."""
        with self._lock:
            try:
                return read(given)
            except FormatError as error:
                if error.message.startswith(self.name):
                    raise
                raise FormatError(f"{self.name} is damaged {error.message}") from error
            finally:
                self.place = None

    def _make_value(self, root: int) -> Any:
        made, sizes, asking = self._values.made, self._value_sizes, self.place
        row = self._stored.row(0, root)
        # Most values, such as places in a source, consist of plain data and of values that exist.
        alone = list not in map(type, row) or all(
            each in made for each in _values_in(row) if each.__class__ is int
        )
        order = [(root, row)] if alone else self._in_order(0, root, made, _values_in)
        for at, row in order:
            self.place = "value", at
            odd = sizes.add(at, row)
            if odd:
                self.fail(odd)
            made[at] = self._value(row)
        self.place = asking
        return made[root]

    def _make_node(self, root: int) -> Any:
        made, add = self._nodes.made, self._node_sizes.add
        with _without_collection():
            for at, row in reversed(self._nodes_below(root)):
                self.place = "node", at
                made[at] = node = self._node(row)
                odd = add(at, row, node)
                if odd:
                    self.fail(odd)
        insort(self._roots, root)
        return made[root]

    def _make_module(self, at: int) -> IRModule:
        self._modules.made[at] = made = self._module(self._stored.row(2, at))
        return made

    def _nodes_below(self, root: int) -> list[tuple[int, list[Any]]]:
        """List the rows that a node needs and that are not made, each before those it needs.

        A row refers to earlier ones only, so one sweep downwards finds them.
        """
        made, places = self._nodes.made, self.places
        needed, order = bytearray(root + 1), list[tuple[int, list[Any]]]()
        rows: list[list[Any]] = []
        at, first, end = root, 0, 0
        while at >= 0:
            if not first <= at < end:
                rows, first, end = self._stored.rows_around(1, at)
            row = rows[at - first]
            order.append((at, row))
            number: Any = row[0] if row else None
            known = number.__class__ is int and 0 <= number < len(places)
            for place in places[int(number)].items if known else ():
                held = row[place] if place < len(row) else None
                if held is None:
                    continue
                for other in held if held.__class__ is list else (held,):
                    if other.__class__ is not int or not 0 <= other < at:
                        self.place = "node", at
                        self.fail(f"entry {str(other)[:40]} does not refer to an earlier one")
                    if other not in made:
                        needed[other] = 1
            at = needed.rfind(1, 0, at)
        return order

    def _in_order(
        self,
        what: int,
        root: int,
        made: dict[int, Any],
        held_in: Callable[[list[Any]], list[Any]],
    ) -> Iterator[tuple[int, list[Any]]]:
        """Yield the rows that an entry needs and that are not made, each after those it needs."""
        found: dict[int, list[Any]] = {}
        waiting = [root]
        rows: list[list[Any]] = []
        first = end = 0
        while waiting:
            at = waiting.pop()
            if at in found:
                continue
            if not first <= at < end:
                rows, first, end = self._stored.rows_around(what, at)
            found[at] = row = rows[at - first]
            for other in held_in(row):
                if other.__class__ is not int or not 0 <= other < at:
                    self.place = ("value", "node")[what], at
                    self.fail(f"entry {str(other)[:40]} does not refer to an earlier one")
                if other not in found and other not in made:
                    waiting.append(other)
        for at in sorted(found):
            yield at, found[at]


class _Deferred:
    """Something that a reader reads when it is asked for."""

    def __init__(self, reader: StoredReader, read: Callable[[Any], Any], given: Any) -> None:
        self.reader, self.read, self.given = reader, read, given

    def get(self) -> Any:
        return self.reader.asked(self.read, self.given)


class StoredStep(Step, frozen=True, eq=False):
    """A step of a file; whatever holds IR is read from it when it is asked for."""

    @property
    def options(self) -> dict[str, Any]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return _now(_OPTIONS(self))

    @property
    def before(self) -> IR:  # pyright: ignore[reportIncompatibleVariableOverride]
        return _now(_BEFORE(self))

    @property
    def after(self) -> IR:  # pyright: ignore[reportIncompatibleVariableOverride]
        return _now(_AFTER(self))

    @property
    def kept(self) -> tuple[Application, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return _now(_KEPT(self))

    @property
    def remarks(self) -> tuple[Remark, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return _now(_REMARKS(self))

    @property
    def reports(self) -> tuple[RuleReport, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        return _now(_REPORTS(self))

    @property
    def remark_count(self) -> int:
        held = _REMARKS(self)
        return len(held.given.remarks) if isinstance(held, _Deferred) else len(self.remarks)

    @property
    def unread(self) -> int:
        held = [each for each in (_BEFORE(self), _AFTER(self)) if isinstance(each, _Deferred)]
        return sum([each.reader.asked(each.reader.unread, each.given) for each in held])

    def states(self, side: Side) -> list[FunctionState]:
        held = (_BEFORE if side == "before" else _AFTER)(self)
        if not isinstance(held, _Deferred):
            return super().states(side)
        reader = held.reader
        found: list[FunctionState] = []
        for name, at in reader.functions_of(held.given):
            read = partial(reader.asked, reader.function, at)
            shown = name or self.function or read().name
            found.append(FunctionState(shown, (id(reader), at), read))
        return found

    @property
    def changed(self) -> bool:
        before, after = _BEFORE(self), _AFTER(self)
        if isinstance(before, _Deferred) and isinstance(after, _Deferred):
            return before.given != after.given
        return self.after is not self.before


def _values_in(row: list[Any]) -> list[Any]:
    return list(ValueSizes.held(row))


def _now(held: Any) -> Any:
    return held.get() if isinstance(held, _Deferred) else held


def _slot(name: str) -> Callable[[Step], Any]:
    return Step.__dict__[name].__get__


_BEFORE, _AFTER, _KEPT = _slot("before"), _slot("after"), _slot("kept")
_OPTIONS, _REMARKS, _REPORTS = _slot("options"), _slot("remarks"), _slot("reports")


@contextmanager
def _without_collection() -> Generator[None]:
    """Switch garbage collection off: it would take as long as the reading and free nothing."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
