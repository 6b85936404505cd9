"""Exchange IR with another process; whatever both sides have seen is sent as a number.

Both sides hold the same tables, those of a trace file, and a message is what it adds to them. A
step therefore comes back with the very nodes, variables and buffers that were sent, and only what
is new is new.
"""

from collections.abc import Iterable
from typing import Any, cast

import msgspec

from irkit.core import FormatError, IRModule, Level, Node
from irkit.transform.step import Step
from irkit.transform.trace.file import MODULE, TraceBody, TraceStepRow, Vocabulary
from irkit.transform.trace.read import Reader
from irkit.transform.trace.write import Writer, value_key

_encode = msgspec.msgpack.Encoder().encode


class StepMessage(msgspec.Struct, array_like=True):
    """A step, and the table rows it adds; ``sizes`` are those of the tables before."""

    sizes: tuple[int, int, int, int]
    classes: list[str]
    values: list[list[Any]]
    nodes: list[list[Any]]
    modules: list[list[tuple[str, int]]]
    step: TraceStepRow


class StepChannel:
    """One side of an exchange of steps. After an error the tables differ: start a new exchange."""

    def __init__(self, levels: Iterable[Level]) -> None:
        known = Vocabulary(levels)
        self._out = _MessageWriter(known)
        self._in = _MessageReader(
            TraceBody("", {}, [], [], [], [], []), known, "a message between processes"
        )

    def __len__(self) -> int:
        return len(self._in.nodes)

    def send(self, step: Step) -> bytes:
        """Return the message that sends a step to the other side.

        Raises: IRKitError if it contains something that no file can hold.
        """
        known, sizes = self._in, self._in.sizes
        row = self._out.step(step)
        made = self._out.since(sizes)
        message = StepMessage(sizes, *made, row)
        known.add_rows(message, self._out)
        self._out.forget_rows(sizes[1])
        return _encode(message)

    def receive(self, data: bytes) -> Step:
        """Read a message from the other side. Raises: FormatError if it is damaged."""
        try:
            message = msgspec.msgpack.decode(data, type=StepMessage)
        except (msgspec.DecodeError, RecursionError, ValueError) as error:
            raise FormatError(f"a message between processes is damaged: {error}") from error
        if message.sizes != self._in.sizes:
            raise FormatError("a message between processes is out of turn")
        self._in.add_rows(message, None)
        self._out.add_rows(message, self._in)
        return self._in.step(message.step)


class _MessageWriter(Writer):
    def __init__(self, known: Vocabulary) -> None:
        super().__init__(known)
        # Tables by id are valid only while the objects are alive.
        self.sent_nodes: list[Node] = []
        self.alive: dict[int, Any] = {}
        self.value_of: dict[int, Any] = {}
        self.module_objects: list[IRModule] = []

    def since(
        self, sizes: tuple[int, int, int, int]
    ) -> tuple[list[str], list[list[Any]], list[list[Any]], list[list[tuple[str, int]]]]:
        classes, values, nodes, modules = sizes
        return (
            list(self.classes)[classes:],
            self.values[values:],
            self.nodes[nodes:],
            self.modules[modules:],
        )

    def forget_rows(self, start: int) -> None:
        """Drop data that has been sent, which can be the weights of a model."""
        self.values[start:] = [[]] * (len(self.values) - start)

    def add_rows(self, message: StepMessage, known: "_MessageReader") -> None:
        """Add the rows that the other side has sent."""
        classes, values, nodes, modules = message.sizes
        for at, name in enumerate(message.classes, classes):
            self.classes[name] = at
        for at, row in enumerate(message.values, values):
            self.values.append([])
            self.value_at.setdefault(value_key(_encode(row)), at)
            self._keep(known.values[at], at)
        for at, node in enumerate(known.nodes[nodes:], nodes):
            self.nodes.append([])
            self.sent_nodes.append(node)
            self.node_at[id(node)] = at
        for at, module in enumerate(known.modules[modules:], modules):
            self.modules.append([])
            self.module_objects.append(module)
            self.module_at[id(module)] = MODULE - at

    def _keep(self, value: Any, at: int) -> None:
        if isinstance(value, msgspec.Struct):
            self.struct_at.setdefault(id(value), at)
        self.alive[id(value)] = value
        self.value_of.setdefault(at, value)

    def data(self, value: Any, *, lenient: bool = False) -> Any:
        given = super().data(value, lenient=lenient)
        if isinstance(given, list):
            self._keep(value, cast(list[int], given)[0])
            return cast(Any, given)
        return given

    def ir(self, ir: Any) -> int:
        count = len(self.modules)
        at = super().ir(ir)
        if len(self.modules) > count:
            self.module_objects.append(ir)
        return at

    def _row(self, node: Node) -> list[Any]:
        self.sent_nodes.append(node)
        return super()._row(node)


class _MessageReader(Reader):
    @property
    def sizes(self) -> tuple[int, int, int, int]:
        return len(self.classes), len(self.values), len(self.nodes), len(self.modules)

    def add_rows(self, message: StepMessage, sender: _MessageWriter | None) -> None:
        """Add the rows of a message; ``sender`` is set if this side sent it and so has the
        objects."""
        for name in message.classes:
            self.add_class(name)
        for at, row in enumerate(message.values, len(self.values)):
            old = None if sender is None else sender.value_of.get(at)
            self.values.append(self._value(row) if old is None else old)
        if sender is not None:
            self.nodes.extend(sender.sent_nodes[len(self.nodes) :])
            self.modules.extend(sender.module_objects[len(self.modules) :])
            return
        for row in message.nodes:
            self.nodes.append(self._node(row))
        for row in message.modules:
            self.modules.append(self._module(row))

    def step(self, row: TraceStepRow) -> Step:
        return self._step(row)
