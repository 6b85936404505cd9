"""Trace files with rows of their tables changed, or with damaged bytes."""

from collections.abc import Callable
from functools import cache
from typing import Any, cast

import msgspec

from irkit.core import IRModule
from irkit.fuzz.generators.malformed.byte_damage import damaged
from irkit.fuzz.generators.seed_corpus.texts import GRAPHS, KERNELS
from irkit.fuzz.picks import Picks
from irkit.graph import parse as parse_graph
from irkit.ir import parse
from irkit.phases import compile as compile_model, trace
from irkit.transform import Trace
from irkit.transform.trace.file import MAGIC, VERSION, TraceBody, Vocabulary
from irkit.transform.trace.frames import HEAD, ROWS, STEP, packed_frame
from irkit.transform.trace.write import Writer

_encode = msgspec.msgpack.encode
_TRACED = ("MATMUL", "BRANCHES", "CARRIED", "BIG_INDEX", "THREAD_TREE")
JUNK: tuple[Any, ...] = (
    None, -1, 0, 1, 2, 3, 7, 100, 10**6, 1 << 31, (1 << 63) - 1, -(1 << 63), 1.5, float("nan"),
    float("inf"), True, False, "", "x", "x" * 5_000, "\0", "é", "<script>alert(1)</script>",
    "serial", "f32", b"", b"x", b"\xff" * 99, [], [0], [1], [10**6], [-1], [[0]], [0, 1], {"a": 1},
    ["i", "ff"], ["i", "-" + "f" * 4_000], ["t"], ["t", 1, 2], ["b", b"x"], ["s", "x"],
    ["c", "x", 1],
)  # fmt: skip
VERSIONS = (b"0", b"2", b"3", b"4", b"-1", b"01", b"1.0", b"", b"9" * 40, b"\xb2", b"1 ", b"x")


@cache
def trace_seeds() -> tuple[bytes, ...]:
    """Make the trace files to change, of version 2: loop functions, and graphs down to loops."""
    made = [trace(parse(KERNELS[name], file=f"{name}.irs")) for name in _TRACED]
    graph = IRModule({"main": parse_graph(GRAPHS["BRANCHING"])})
    made.append(compile_model(graph).trace)
    return tuple(_file(each) for each in made)


def _file(made: Trace) -> bytes:
    writer = Writer(Vocabulary(step.level for step in made))
    rows = [writer.step(step) for step in made]
    body = TraceBody(
        made.title,
        dict(made.versions),
        list(writer.classes),
        writer.values,
        writer.nodes,
        writer.modules,
        rows,
    )
    return MAGIC + b"2\n" + _encode(body)


def _framed(body: list[Any]) -> bytes:
    """Return a file of frames with the tables of a body, whatever they hold."""
    title, versions, classes, values, nodes, modules, steps = body
    counts = [len(_items(table)) for table in (values, nodes, modules)]
    rows = [counts, classes, values, nodes, modules]
    frames = [packed_frame(HEAD, _encode([title, versions])), packed_frame(ROWS, _encode(rows))]
    frames += [packed_frame(STEP, _encode(step)) for step in _items(steps)]
    return MAGIC + str(VERSION).encode() + b"\n" + b"".join(frames)


def trace_case(picks: Picks) -> bytes:
    """Make a malformed trace file."""
    seeds = trace_seeds()
    data = picks.pick(seeds)
    if picks.one_in(4):
        return damaged(data, picks, picks.some(seeds, 2))
    if picks.one_in(8):
        framed = _framed(msgspec.msgpack.decode(data.partition(b"\n")[2]))
        return damaged(framed, picks, picks.some(seeds, 2))
    head, _, rest = data.partition(b"\n")
    if picks.one_in(40):
        return b"irkit-trace " + picks.pick(VERSIONS) + b"\n" + rest
    body = msgspec.msgpack.decode(rest)
    for _ in range(1 + picks.below(3)):
        picks.pick(_CHANGES)(body, picks)
    if picks.one_in(2):
        return _framed(body)
    return head + b"\n" + msgspec.msgpack.encode(body)


def _items(given: object) -> list[Any]:
    """Return a list unchanged, and an empty one for anything else."""
    return cast(list[Any], given) if isinstance(given, list) else []


def _row(body: Any, picks: Picks) -> list[Any]:
    """Pick a row of a table: of values, nodes, modules or steps."""
    table = _items(body[picks.pick((3, 4, 4, 4, 5, 6, 6))])
    return _items(picks.pick(table)) if table else []


def _junk(body: Any, picks: Picks) -> None:
    """Put a value of the wrong sort into a row, at any depth."""
    row = _row(body, picks)
    while row:
        at = picks.below(len(row))
        inner = _items(row[at])
        if not inner or picks.one_in(4):
            row[at] = picks.pick(JUNK)
            return
        row = inner


def _reference(body: Any, picks: Picks) -> None:
    """Refer to another entry: an earlier one of another class, itself, or a later one."""
    row = _row(body, picks)
    places = [at for at, item in enumerate(row) if type(item) is int and at]
    if places:
        at = picks.pick(places)
        row[at] = max(0, row[at] + picks.pick((-1, 1, -2, 2, -5, 5, 40, -40)))


def _borrowed(body: Any, picks: Picks) -> None:
    """Copy a field of another row of the same length: mostly of the right sort."""
    row, other = _row(body, picks), _row(body, picks)
    if row and len(row) == len(other):
        at = picks.below(len(row))
        row[at] = other[at]


def _moved(body: Any, picks: Picks) -> None:
    """Move, copy or drop a whole row, so that references to it find another."""
    table = _items(body[picks.pick((2, 3, 4, 5, 6))])
    if not table:
        return
    at, to = picks.below(len(table)), picks.below(len(table))
    match picks.below(4):
        case 0:
            table[at], table[to] = table[to], table[at]
        case 1:
            table.insert(to, table[at])
        case 2:
            del table[at]
        case _:
            table[at] = table[to]


def _repeated(body: Any, picks: Picks) -> None:
    """Name one child, or one step, very many times."""
    lists = [inner for item in _row(body, picks) if (inner := _items(item))]
    if lists:
        inner = picks.pick(lists)
        inner.extend(inner[:1] * picks.pick((2, 100, 3_000)))


def _step(body: Any, picks: Picks) -> None:
    """Change a field of a step to another of its sort."""
    steps = _items(body[6])
    row, other = (_items(picks.pick(steps)), _items(picks.pick(steps))) if steps else ([], [])
    at = picks.below(15)
    if not at < min(len(row), len(other)):
        return
    numbers = (0, -1, 1, 5, 1 << 62, -(1 << 62))
    row[at] = picks.pick(numbers) if isinstance(row[at], (int, float)) else other[at]


def _text(body: Any, picks: Picks) -> None:
    """Rename something to text that pages, files and terminals might handle badly."""
    names = ("\ud7ff", "\x1b[2J", "a\nb", "\u202eevil", "\x00", "x" * 100_000, "'", '"""', "\\")
    row = _row(body, picks)
    places = [at for at, item in enumerate(row) if isinstance(item, str)]
    if places:
        row[picks.pick(places)] = picks.pick(names)


_CHANGES: tuple[Callable[[Any, Picks], None], ...] = (
    _junk, _junk, _reference, _reference, _borrowed, _borrowed, _moved, _repeated, _step, _text,
)  # fmt: skip
