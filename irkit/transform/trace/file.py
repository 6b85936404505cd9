"""The format of trace files: the rows they consist of, and the classes they can name.

A line of text with the version is followed by frames (see ``frames``) whose content is MessagePack;
in versions 1 and 2 it is followed by one piece of MessagePack, ``TraceBody``. Both hold a table of
values (types, spans, attributes) and one of nodes. Each entry refers to earlier ones only, so
nothing can be cyclic.
Whatever steps share is stored once, so a symbol is the same in all of them. Floats are stored as
their 64 bits. Nothing in the file is ever executed.

A node is a row: the number of its class, then its fields in order. A field that holds nodes is a
number, None, or a list of numbers. Data is stored as itself if it is a number of at most 64 bits, a
string, a bool or None, and otherwise as a list of one number: its row in the table of values.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from irkit.core import Codec, Level, Node, Span, structs_within

MAGIC = b"irkit-trace "
VERSION = 3
READABLE = (1, 2, 3)
FORMER_NAMES = {
    "irkit.ir:IfThenElse": "irkit.ir:Conditional",
    "irkit.graph:If": "irkit.graph:GraphIf",
}
"""Class names in files of version 1, and what they are called today."""
MODULE = -1  # Modules count downwards from here; functions are nodes.


class ValueTag:
    """The first item of a row in the table of values, which tells how to read the rest."""

    BIG = "i"  # An integer of more than 64 bits, in hexadecimal.
    TUPLE = "t"
    BYTES = "b"
    STRUCT = "s"  # The name of its class and its fields.
    CODED = "c"  # The name of its codec and the packed value.


class ApplicationRow(msgspec.Struct, array_like=True):
    number: int
    rule: str
    before: int
    after: int
    span: Any = None


class RuleReportRow(msgspec.Struct, array_like=True):
    rule: str
    hits: int
    seconds: float
    rounds: int
    span: Any = None


class TraceStepRow(msgspec.Struct, array_like=True):
    """A step; ``before`` and ``after`` are nodes, or modules if negative.

    ``reports`` and what follows are younger than version 2: files without them are read, and older
    software passes over them.
    """

    index: int
    level: str
    phase: int
    phase_name: str
    name: str
    pass_text: str
    options: list[tuple[str, Any]]
    function: str
    before: int
    after: int
    seconds: float
    applications: int
    kept: list[ApplicationRow]
    remarks: list[tuple[int, str]]
    facts: list[str]
    reports: list[RuleReportRow] = []
    changes_rounding: bool = False


class TraceBody(msgspec.Struct, array_like=True):
    """The whole file below its first line, in versions 1 and 2."""

    title: str
    versions: dict[str, str]
    classes: list[str]
    values: list[list[Any]]
    nodes: list[list[Any]]
    modules: list[list[tuple[str, int]]]
    steps: list[TraceStepRow]


class Vocabulary:
    """The classes that a file can name: nodes, plain structs and codecs of some levels."""

    def __init__(self, levels: Iterable[Level]) -> None:
        self.levels = {level.name: level for level in levels}
        self.nodes: dict[str, type[Node]] = {}
        self.structs: dict[str, type[msgspec.Struct]] = {class_name(Span): Span}
        self.codecs: dict[str, Codec] = {}
        self.codec_of: dict[type[Any], Codec] = {}
        for level in self.levels.values():
            for codec in level.codecs:
                self.codecs[codec.name] = self.codec_of[codec.cls] = codec
            for cls in level.nodes:
                self._add_node(cls)

    def _add_node(self, cls: type[Node]) -> None:
        assert self.nodes.setdefault(class_name(cls), cls) is cls, class_name(cls)
        waiting = list(structs_within(cls))
        while waiting:
            held = waiting.pop()
            known = issubclass(held, Node) or class_name(held) in self.structs
            if not known and held not in self.codec_of:
                self.structs[class_name(held)] = held
                waiting.extend(structs_within(held))


def class_name(cls: type[Any]) -> str:
    """Name a class by its folder, so that it can move from file to file."""
    return f"{cls.__module__.rpartition('.')[0]}:{cls.__qualname__}"
