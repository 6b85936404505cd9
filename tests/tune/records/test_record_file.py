import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from irkit.core import IRKitError
from irkit.tune import Record, RecordFile, TaskLine, merge_records, read_records
from irkit.tune.records import SCHEMA, MachineHere, record_id

HERE = MachineHere("cpu-0", 2, 1, 2, 3)


def record(number: int, task: str = "t") -> Record:
    values = {"C.rows": number}
    return Record(
        SCHEMA, record_id(task, "rules", values), task, "main", "rules", values, "search",
        {"kind": "llvm"}, HERE, {}, "ok", score=float(number),
    )  # fmt: skip


LINE = TaskLine(SCHEMA, "t", "main", 128, "def main(A: f32[8]):\n    pass\n")


def test_what_is_appended_is_read_back(tmp_path: Path) -> None:
    with RecordFile(tmp_path / "r.jsonl") as file:
        file.append(LINE)
        file.append(record(1))
        file.append(record(2))
    found = read_records(tmp_path / "r.jsonl")
    assert found.tasks == {"t": LINE}
    assert found.candidates == [record(1), record(2)]
    assert not found.damaged


@pytest.mark.parametrize(
    "damage",
    [
        b"{",
        b"\xff\xfe",
        b"[1, 2]",
        b'{"kind": "candidate"}',
        b"[" * 5000,
        b'{"kind": "candidate", "id": 3}',
    ],
)
def test_a_damaged_line_is_named_and_the_others_are_used(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "r.jsonl"
    own = msgspec.json.encode(record(1))
    path.write_bytes(own + b"\n" + damage + b"\n" + msgspec.json.encode(record(2)) + b"\n")
    found = read_records(path)
    assert [at for at, _ in found.damaged] == [2]
    assert found.candidates == [record(1), record(2)]
    assert "line 2" in found.report(str(path))


def test_a_newer_schema_is_named(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    later = msgspec.structs.replace(record(1), schema=SCHEMA + 1)
    path.write_bytes(msgspec.json.encode(later) + b"\n")
    assert "schema" in read_records(path).damaged[0][1]


def test_a_line_that_was_cut_off_costs_only_itself(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(msgspec.json.encode(record(1))[:-9])
    with RecordFile(path) as file:
        file.append(record(2))
    found = read_records(path)
    assert found.candidates == [record(2)]
    assert len(found.damaged) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")
def test_a_full_disk_is_an_error_with_a_remedy() -> None:
    with RecordFile("/dev/full") as file, pytest.raises(IRKitError, match="cannot be written"):
        file.append(record(1))


def test_processes_that_append_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    code = (
        "import sys\n"
        "from tests.tune.records.test_record_file import record\n"
        "from irkit.tune import RecordFile\n"
        "with RecordFile(sys.argv[1]) as file:\n"
        "    for number in range(200):\n"
        "        file.append(record(number, sys.argv[2]))\n"
    )
    both = [
        subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in ("one", "two")
    ]
    assert [each.wait() for each in both] == [0, 0]
    found = read_records(path)
    assert not found.damaged
    assert len(found.of("one")) == len(found.of("two")) == 200


def test_merging_keeps_each_line_once(tmp_path: Path) -> None:
    for name, numbers in (("a", (1, 2)), ("b", (2, 3))):
        with RecordFile(tmp_path / name) as file:
            file.append(LINE)
            for number in numbers:
                file.append(record(number))
    merge_records(tmp_path / "all", [str(tmp_path / "a"), str(tmp_path / "b")])
    found = read_records(tmp_path / "all")
    assert found.candidates == [record(1), record(2), record(3)]
    assert len((tmp_path / "all").read_bytes().splitlines()) == 4


def test_a_template_is_known_also_if_its_loops_were_searched_without_it(tmp_path: Path) -> None:
    plain = TaskLine(SCHEMA, "t", "main", 1, "loops")
    templated = TaskLine(SCHEMA, "t", "mine", 1, "loops", "mine", (8,), "kernel.py:mine")
    for lines in ((plain, templated), (templated, plain)):
        path = tmp_path / f"{lines[0].name}"
        with RecordFile(path) as file:
            for line in lines:
                file.append(line)
        assert read_records(path).tasks["t"] == templated
