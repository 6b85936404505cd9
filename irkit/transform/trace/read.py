"""Read the tables of traces.

A file can be damaged or hostile, so every number and type in it is checked.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn, TypeVar, cast

import msgspec

from irkit.core import (
    Application,
    FieldChecker,
    FormatError,
    Function,
    IRKitError,
    IRModule,
    Node,
    Recorder,
    Remark,
    RuleReport,
    Span,
    field_checker,
    fields,
)
from irkit.transform.step import IR, Step
from irkit.transform.trace.file import (
    FORMER_NAMES,
    TraceBody,
    TraceStepRow,
    ValueTag,
    Vocabulary,
)
from irkit.transform.trace.size_limits import MAX_HEX_DIGITS, NodeSizes, ValueSizes

_T = TypeVar("_T")


def decode_body(
    data: memoryview, known: Vocabulary, name: str, first: int
) -> tuple[tuple[Step, ...], str, dict[str, str]]:
    """Read the steps, title and versions of a file of version 1 or 2 whose first line ends at
    ``first``."""
    try:
        body = msgspec.msgpack.decode(data[first:], type=TraceBody)
    except UnicodeDecodeError as error:
        # The error counts from the start of one string of the file.
        at = bytes(data).find(error.object)
        raise FormatError(f"{name} is damaged: invalid UTF-8 (byte {at + error.start})") from error
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise FormatError(f"{name} is damaged: {error}") from error
    reader = Reader(body, known, name)
    reader.check_sizes()
    return reader.steps(), body.title, body.versions


class Reader:
    """The tables of a file while it is read."""

    def __init__(self, body: TraceBody, known: Vocabulary, name: str) -> None:
        self.body = body
        self.known = known
        self.name = name
        self.place: tuple[str, int] | None = None
        self.classes: list[type[Node]] = []
        self.places: list[FieldPlaces] = []
        # Entries by number, for readers that have them so.
        self.made_nodes: dict[int, Node] = {}
        self.made_values: dict[int, Any] = {}
        for cls in self._rows("class", body.classes):
            self.add_class(cls)
        self.values: list[Any] = []
        for row in self._rows("value", body.values):
            self.values.append(self._value(row))
        self.nodes: list[Node] = []
        for row in self._rows("node", body.nodes):
            self.nodes.append(self._node(row))
        self.modules = [self._module(row) for row in self._rows("module", body.modules)]
        self.place = None

    def add_class(self, name: str) -> None:
        """Add a node class."""
        name = FORMER_NAMES.get(name, name)
        self.classes.append(self._found(self.known.nodes, name, "node class"))
        self.places.append(FieldPlaces(self.classes[-1]))

    def _rows(self, what: str, table: Iterable[_T]) -> Iterator[_T]:
        """Iterate over a table, and remember the place for messages."""
        for at, row in enumerate(table):
            self.place = what, at
            yield row

    def fail(self, what: str) -> NoReturn:
        raise FormatError(f"{self.name} is damaged{self._where()}: {what}")

    def _where(self) -> str:
        return f" at {self.place[0]} {self.place[1]}" if self.place else ""

    def _found(self, table: dict[str, _T], key: object, what: str) -> _T:
        found = table.get(key) if isinstance(key, str) else None
        if found is None:
            levels = ", ".join(self.known.levels) or "none"
            raise FormatError(
                f"{self.name} has an unknown {what} {str(key)[:80]!r}{self._where()}",
                hint=f"Levels known here: {levels}.",
            )
        return found

    def pick(self, table: list[_T], at: Any) -> _T:
        """Return an earlier entry of a table."""
        if at.__class__ is not int or not 0 <= at < len(table):
            self.fail(f"entry {str(at)[:40]} does not refer to an earlier one")
        index: int = at
        return table[index]

    def datum(self, given: Any) -> Any:
        if isinstance(given, list):
            row = cast(list[Any], given)
            if len(row) != 1:
                self.fail("a reference to a value is not a list of one number")
            return self.pick(self.values, row[0])
        if given is not None and not isinstance(given, (bool, int, float, str)):
            self.fail(f"unexpected data of type {type(given).__name__}")
        return given

    def _value(self, row: list[Any]) -> Any:
        if len(row) > 1 and row[0] == ValueTag.STRUCT:  # Most are: places in a source.
            cls = self._found(self.known.structs, row[1], "struct")
            plain = [item if item.__class__ in _PLAIN else self.datum(item) for item in row[2:]]
            return self._struct(field_checker(cls), plain)
        match row:
            case [ValueTag.BIG, str() as text] if len(text) <= MAX_HEX_DIGITS:
                return self._made(int, text, 16)
            case [ValueTag.BYTES, bytes() as data]:
                return data
            case [ValueTag.TUPLE, *items]:
                return tuple(self.datum(item) for item in items)
            case [ValueTag.CODED, name, packed]:
                codec = self._found(self.known.codecs, name, "codec")
                value = self._made(codec.unpack, packed)
                if not isinstance(value, codec.cls):
                    self.fail(f"codec {codec.name} returned a {type(value).__name__}")
                return value
            case _:
                return self.fail("a value has an unknown tag")

    def _struct(self, checker: FieldChecker, values: list[Any]) -> Any:
        name = checker.cls.__name__
        if len(values) != len(checker.names):
            self.fail(f"{name} has {len(checker.names)} fields, not {len(values)}")
        at = checker.wrong(values)
        if at is not None:
            held = type(values[at]).__name__
            self.fail(f"field {checker.names[at]!r} of {name} holds a {held}")
        return self._made(checker.make, *values)

    def _made(self, make: Callable[..., Any], *args: Any) -> Any:
        try:
            return make(*args)
        except (IRKitError, ValueError, TypeError, KeyError, OverflowError) as error:
            return self.fail(f"a value cannot be made: {error}")

    def _node(self, row: list[Any]) -> Node:
        if not row:
            self.fail("a node is empty")
        places = self.pick(self.places, row[0])
        if len(row) != places.count + 1:
            name = places.checker.cls.__name__
            self.fail(f"{name} has {places.count} fields, not {len(row) - 1}")
        values, made = row[1:], self.made_nodes
        for at in places.held:
            given = values[at]
            try:
                if given.__class__ is int:
                    values[at] = made[given]
                elif given.__class__ is list and _NUMBERS.issuperset(map(type, given)):
                    values[at] = tuple([made[number] for number in given])
                else:
                    values[at] = self.held(given)
            except KeyError:
                values[at] = self.held(given)
        for at in places.data:
            given = values[at]
            if given.__class__ is list:
                known = None
                if len(given) == 1 and given[0].__class__ is int:
                    known = self.made_values.get(given[0])
                values[at] = self.datum(given) if known is None else known
            elif given.__class__ not in _PLAIN:
                values[at] = self.datum(given)
        return self._struct(places.checker, values)

    def held(self, given: Any) -> Any:
        """Read a field that holds nodes."""
        if isinstance(given, list):
            return tuple(self.pick(self.nodes, at) for at in cast(list[Any], given))
        return None if given is None else self.pick(self.nodes, given)

    def _module(self, row: list[tuple[str, int]]) -> IRModule:
        found: dict[str, Function] = {}
        for name, at in row:
            func = self.pick(self.nodes, at)
            if not isinstance(func, Function):
                self.fail(f"function {name!r} of a module is a {type(func).__name__}")
            found[name] = func
        return IRModule(found)

    def check_sizes(self) -> None:
        """Refuse values, expressions and functions that are immense written out."""
        values, nodes = ValueSizes(len(self.values)), NodeSizes(len(self.nodes))
        for at, row in enumerate(self.body.values):
            self.place = "value", at
            odd = values.add(at, row)
            if odd:
                self.fail(odd)
        for at, (row, node) in enumerate(zip(self.body.nodes, self.nodes, strict=True)):
            self.place = "node", at
            self.check_size(nodes, row, node)

    def check_size(self, sizes: NodeSizes, row: list[Any], node: Node) -> None:
        """Measure the node at ``place``, and refuse it if it is immense written out."""
        assert self.place is not None
        odd = sizes.add(self.place[1], row, node)
        if odd:
            self.fail(odd)

    def steps(self) -> tuple[Step, ...]:
        return tuple(self._step(row) for row in self._rows("step", self.body.steps))

    def _step(self, row: TraceStepRow) -> Step:
        return Step(
            index=row.index,
            level=self._found(self.known.levels, row.level, "level"),
            phase=row.phase,
            phase_name=row.phase_name,
            name=row.name,
            pass_text=row.pass_text,
            options=self.options(row),
            function=row.function,
            before=self.ir(row.before),
            after=self.ir(row.after),
            seconds=row.seconds,
            applications=row.applications,
            kept=self.applications(row),
            remarks=self.remarks(row),
            facts=tuple(row.facts),
            reports=self.reports(row),
            changes_rounding=row.changes_rounding,
        )

    def options(self, row: TraceStepRow) -> dict[str, Any]:
        """Return the options of a pass."""
        return {name: self.datum(value) for name, value in row.options}

    def applications(self, row: TraceStepRow) -> tuple[Application, ...]:
        """Return the applications that a step kept."""
        return tuple(
            Application(
                each.number,
                each.rule,
                self.pick(self.nodes, each.before),
                self.pick(self.nodes, each.after),
                self._place(each.span),
            )
            for each in row.kept
        )

    def remarks(self, row: TraceStepRow) -> tuple[Remark, ...]:
        """Return the remarks of a step."""
        return tuple(Remark(self.pick(self.nodes, at), text) for at, text in row.remarks)

    def reports(self, row: TraceStepRow) -> tuple[RuleReport, ...]:
        """Return the reports of a step; those of a file that has none are counted."""
        given = tuple(
            RuleReport(each.rule, each.hits, each.seconds, each.rounds, self._place(each.span))
            for each in row.reports
        )
        return given or _counted(self.applications(row))

    def _place(self, given: Any) -> Span | None:
        span = self.datum(given)
        if span is not None and not isinstance(span, Span):
            self.fail(f"the place of a rule is a {type(span).__name__}")
        return span

    def ir(self, at: int) -> IR:
        """Return a function, or a module if the number is negative."""
        if at < 0:
            return self.pick(self.modules, -1 - at)
        node = self.pick(self.nodes, at)
        if not isinstance(node, Function):
            self.fail(f"a step is about a {type(node).__name__}, not a function")
        return node


def _counted(kept: tuple[Application, ...]) -> tuple[RuleReport, ...]:
    """Return the reports of a file that has none, without times."""
    recorder = Recorder()
    for each in kept:
        recorder.report(each.rule, each.span).hits += 1
    return tuple(recorder.rules.values())


_PLAIN = frozenset({type(None), bool, int, float, str})
"""Classes of data that stands for itself."""


_NUMBERS = frozenset({int})


class FieldPlaces:
    """Which fields of a node class hold nodes, and which hold data."""

    def __init__(self, cls: type[Node]) -> None:
        kinds = [field.kind for field in fields(cls)]
        self.count = len(kinds)
        self.held = [at for at, kind in enumerate(kinds) if kind != "data"]
        self.items = [at + 1 for at in self.held]
        """Places in a row of the fields that hold nodes: a row begins with the class."""
        self.data = [at for at, kind in enumerate(kinds) if kind == "data"]
        self.checker = field_checker(cls)
