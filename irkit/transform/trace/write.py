"""The rows of a trace file: values and nodes are numbered as they are met, each once."""

from hashlib import blake2b
from typing import Any, cast

import msgspec

from irkit.core import Function, IRKitError, Node, Span, fields
from irkit.transform.step import IR, Step
from irkit.transform.trace.file import (
    MODULE,
    ApplicationRow,
    RuleReportRow,
    TraceStepRow,
    ValueTag,
    Vocabulary,
    class_name,
)

_encode = msgspec.msgpack.Encoder().encode
_LONG_KEY = 256


class Writer:
    """The tables of a file while it is written; everything numbered must stay alive."""

    # Tables by id are safe because the steps keep everything they hold alive.
    def __init__(self, known: Vocabulary) -> None:
        self.known = known
        self.classes: dict[str, int] = {}
        self.values: list[list[Any]] = []
        self.value_at: dict[bytes, int] = {}
        self.struct_at: dict[int, int] = {}
        self.nodes: list[list[Any]] = []
        self.node_at: dict[int, int] = {}
        self.modules: list[list[tuple[str, int]]] = []
        self.module_at: dict[int, int] = {}

    def forget(self) -> None:
        """Forget which objects have a number, so that they need no longer be kept alive."""
        self.struct_at.clear()
        self.node_at.clear()
        self.module_at.clear()

    def step(self, step: Step) -> TraceStepRow:
        options = [(name, self.data(value, lenient=True)) for name, value in step.options.items()]
        return TraceStepRow(
            index=step.index,
            level=step.level.name,
            phase=step.phase,
            phase_name=step.phase_name,
            name=step.name,
            pass_text=step.pass_text,
            options=options,
            function=step.function,
            before=self.ir(step.before),
            after=self.ir(step.after),
            seconds=step.seconds,
            applications=step.applications,
            kept=[
                ApplicationRow(
                    each.number,
                    each.rule,
                    self.node(each.before),
                    self.node(each.after),
                    self.data(each.span),
                )
                for each in step.kept
            ],
            remarks=[(self.node(remark.node), remark.text) for remark in step.remarks],
            facts=list(step.facts),
            reports=[
                RuleReportRow(each.rule, each.hits, each.seconds, each.rounds, self.data(each.span))
                for each in step.reports
            ],
            changes_rounding=step.changes_rounding,
        )

    def ir(self, ir: IR) -> int:
        if isinstance(ir, Function):
            return self.node(ir)
        if id(ir) not in self.module_at:
            self.modules.append([(name, self.node(func)) for name, func in ir.functions.items()])
            self.module_at[id(ir)] = MODULE - (len(self.modules) - 1)
        return self.module_at[id(ir)]

    def node(self, root: Node) -> int:
        stack: list[tuple[Node, bool]] = [(root, False)]
        while stack:
            node, below_done = stack.pop()
            if id(node) in self.node_at:
                continue
            if below_done:
                self.node_at[id(node)] = len(self.nodes)
                self.nodes.append(self._row(node))
                continue
            stack.append((node, True))
            for field in fields(type(node)):
                if field.kind != "data":
                    held = getattr(node, field.name)
                    listed = cast(tuple[Node, ...], held) if isinstance(held, tuple) else (held,)
                    stack.extend((each, False) for each in listed if each is not None)
        return self.node_at[id(root)]

    def _row(self, node: Node) -> list[Any]:
        row: list[Any] = [self._class(node)]
        for field in fields(type(node)):
            value = getattr(node, field.name)
            if field.kind == "data":
                row.append(self.data(value))
            elif isinstance(value, tuple):
                row.append([self.node_at[id(each)] for each in cast(tuple[Node, ...], value)])
            else:
                row.append(None if value is None else self.node_at[id(value)])
        return row

    def _class(self, node: Node) -> int:
        name = class_name(type(node))
        if name not in self.classes:
            if self.known.nodes.get(name) is not type(node):
                levels = ", ".join(self.known.levels)
                raise IRKitError(
                    f"cannot write a {name}: it belongs to none of the levels {levels}"
                )
            self.classes[name] = len(self.classes)
        return self.classes[name]

    def data(self, value: Any, *, lenient: bool = False) -> Any:
        """Return the item that represents a value in a row."""
        if value is None or isinstance(value, (bool, float, str)):
            return value
        if isinstance(value, int) and -(1 << 63) <= value < 1 << 64:
            return value
        if isinstance(value, Span):
            return [self._span(value)]
        if isinstance(value, msgspec.Struct):
            # Nearly every node has a type; identical objects are not encoded again.
            if id(value) not in self.struct_at:
                self.struct_at[id(value)] = self._intern(self._packed(value, lenient))
            return [self.struct_at[id(value)]]
        return [self._intern(self._packed(value, lenient))]

    def _span(self, span: Span) -> int:
        at = -1
        for each in reversed(span.chain()):
            if id(each) not in self.struct_at:
                held = [getattr(each, name) for name in Span.__struct_fields__ if name != "parent"]
                parent = [at] if each.parent is not None else None
                self.struct_at[id(each)] = self._intern(
                    [ValueTag.STRUCT, class_name(Span), *held, parent]
                )
            at = self.struct_at[id(each)]
        return at

    def _packed(self, value: Any, lenient: bool) -> list[Any]:
        cls = cast(type[Any], type(value))
        codec = self.known.codec_of.get(cls)
        if codec is not None:
            return [ValueTag.CODED, codec.name, codec.pack(value)]
        if isinstance(value, int):
            return [ValueTag.BIG, hex(value)]
        if isinstance(value, bytes):
            return [ValueTag.BYTES, value]
        if isinstance(value, (tuple, list)):
            items = cast(tuple[Any, ...], value)
            return [ValueTag.TUPLE, *(self.data(item, lenient=lenient) for item in items)]
        name = class_name(cls)
        if self.known.structs.get(name) is cls:
            held = (getattr(value, each) for each in cls.__struct_fields__)
            return [ValueTag.STRUCT, name, *(self.data(each, lenient=lenient) for each in held)]
        if lenient:
            return [ValueTag.TUPLE, str(value)]
        raise IRKitError(
            f"cannot write a {name} to a trace",
            hint="Add a codec for this class to its level.",
        )

    def _intern(self, row: list[Any]) -> int:
        key = value_key(_encode(row))
        if key not in self.value_at:
            self.value_at[key] = len(self.values)
            self.values.append(row)
        return self.value_at[key]


def value_key(encoded: bytes) -> bytes:
    """Return what a value is known by: short, because a value can be the weights of a model."""
    return encoded if len(encoded) <= _LONG_KEY else blake2b(encoded).digest()
