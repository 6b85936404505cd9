"""Each integer of each file from elsewhere, changed to one out of range: read, or refused, and
nothing else."""

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from irkit import te
from irkit.core import IRKitError
from irkit.frontend.torch import import_program, load_program
from irkit.inspector_web.api.every_view import every_view
from irkit.inspector_web.dumps.readers import read_dump
from irkit.inspector_web.record.restore import load_trace
from irkit.schedule import Schedule
from irkit.schedule.trace.schedule_trace import ScheduleTrace
from irkit.transform import Trace
from irkit.tune.records.record_file import merge_records, read_records

HOSTILE_NUMBERS = (-1, 2**31, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**26, -(10**26), 10**400)
PROGRAMS = sorted((Path(__file__).parents[1] / "frontend/torch/programs").glob("*.json"))
STEPS = [
    {"format": "irkit.steps/1", "language": "llvm"},
    {"pass": "a", "text": "x\n", "phase": 1, "ms": 2, "line": 3, "phase_name": "first"},
    {"pass": "b", "text": "y\n", "phase": 2, "ms": 1, "line": 4},
]
RECORDS: list[dict[str, Any]] = [
    {"kind": "task", "schema": 1, "hash": "h", "name": "f", "flop": 8, "loops": "", "args": [3]},
    {
        "kind": "candidate", "schema": 1, "id": "i", "task": "h", "name": "f", "space": "s",
        "values": {"tile": [4, 8]}, "stage": "final", "target": {"vector": 512},
        "machine": {"fingerprint": "m", "cores": 2, "l1": 1, "l2": 2, "l3": 3},
        "toolchain": {}, "verdict": "ok", "build": {"opt_level": 1, "mix": 2},
        "measure": {"seconds": 1, "reference": 1, "ratio": 1, "low": 1, "high": 1,
                    "pairs": 9, "threads": 1},
        "search": {"seed": 5, "trial": 6}, "trace": {"steps": [7]},
    },
]  # fmt: skip


def numbers_in(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield where the integers of a tree of lists and mappings are."""
    kind = type(tree)
    if kind in (dict, list):
        for key, value in tree.items() if kind is dict else enumerate(tree):
            yield from numbers_in(value, (*path, key))
    elif isinstance(tree, int) and not isinstance(tree, bool):
        yield path


def with_number(tree: Any, path: tuple[Any, ...], number: Any) -> Any:
    """Return a copy of a tree with another leaf at a place."""
    if not path:
        return number
    copy: Any = tree.copy()
    copy[path[0]] = with_number(tree[path[0]], path[1:], number)
    return copy


def refused_or_read(tree: Any, read: Callable[[Any], object]) -> int:
    """Read a file with each number changed, and return how often it is refused."""
    refused = 0
    for place in numbers_in(tree):
        for number in HOSTILE_NUMBERS:
            try:
                read(with_number(tree, place, number))
            except IRKitError:
                refused += 1
    return refused


def test_steps_of_another_compiler(tmp_path: Path) -> None:
    path = tmp_path / "steps.jsonl"

    def read(rows: list[Any]) -> None:
        path.write_text("\n".join(map(json.dumps, rows)))
        trace = Trace(read_dump(path).found.steps)
        every_view(trace)
        trace.save(tmp_path / "steps.trace")

    assert refused_or_read(STEPS, read) > 8


def test_a_phase_beyond_64_bits_is_damage_in_its_line(tmp_path: Path) -> None:
    path = tmp_path / "steps.jsonl"
    path.write_text("\n".join(map(json.dumps, with_number(STEPS, (1, "phase"), 10**26))))
    with pytest.raises(IRKitError, match=r"line 2: .*\$\.phase"):
        read_dump(path)


def test_records_of_a_search(tmp_path: Path) -> None:
    path, merged = tmp_path / "log.jsonl", str(tmp_path / "merged.jsonl")
    damaged = 0
    for place in numbers_in(RECORDS):
        for number in HOSTILE_NUMBERS:
            path.write_text("\n".join(map(json.dumps, with_number(RECORDS, place, number))))
            damaged += len(merge_records(merged, [str(path)]).damaged)
            read_records(merged)
    assert damaged > 50


def test_a_saved_schedule(tmp_path: Path) -> None:
    source = te.placeholder((16, 16), name="A")
    func = te.create_prim_func([source, te.compute((16, 16), lambda i, j: source[i, j], name="B")])
    sch = Schedule(func)
    _, j = sch.get_loops(sch.get_block("B"))
    outer, _ = sch.split(j, [4, None])
    sch.annotate(outer, "pragma", 7)
    path = tmp_path / "schedule.json"
    sch.trace.save(path)
    tree = json.loads(path.read_text())

    def read(changed: Any) -> None:
        path.write_text(json.dumps(changed))
        ScheduleTrace.load(path).apply(Schedule(func))

    assert refused_or_read(tree, read) > 8


def changed_programs(seed: int, count: int, folder: Path) -> int:
    """Change one number of a program from PyTorch at a time; return how many are refused."""
    draw, path, refused = random.Random(seed), folder / "program.json", 0
    for _ in range(count):
        tree = json.loads(draw.choice(PROGRAMS).read_text())
        places = [place for place in numbers_in(tree) if place[-1] != "line"]
        other = draw.choice((*HOSTILE_NUMBERS, None, "x", 1.5, [], {"is": "ref", "name": "none"}))
        path.write_text(json.dumps(with_number(tree, draw.choice(places), other)))
        try:
            import_program(load_program(path))
        except IRKitError:
            refused += 1
    return refused


def test_programs_from_pytorch(tmp_path: Path) -> None:
    assert changed_programs(1, 60, tmp_path) > 30


@pytest.mark.long
def test_more_programs_from_pytorch(tmp_path: Path) -> None:
    assert changed_programs(2, 3000, tmp_path) > 1500


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(IRKitError, match=r"none\.json cannot be read: No such file"):
        load_program(tmp_path / "none.json")


TRACE = Path(__file__).parents[1] / "transform/trace/version_1.trace"


def test_a_trace_file(tmp_path: Path) -> None:
    path = tmp_path / "changed.trace"
    first, _, packed = TRACE.read_bytes().partition(b"\n")
    tree = msgspec.msgpack.decode(packed)
    draw, places = random.Random(1), list(numbers_in(tree))
    refused = 0
    for place in draw.sample(places, min(len(places), 60)):
        number = draw.choice([-1, -(2**63), 2**31, 2**40, 2**63, 2**64 - 1])
        changed = with_number(tree, place, number)
        try:
            path.write_bytes(first + b"\n" + msgspec.msgpack.encode(changed))
            every_view(load_trace(str(path)))
        except IRKitError:
            refused += 1
    assert refused > 10
