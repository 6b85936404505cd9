"""docs/other-compilers.md: its fields are those that are read, and its examples work."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from irkit.inspector_web import DumpDamage, Dumped, DumpReader
from irkit.inspector_web.dumps.readers import read_dump
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "other-compilers.md").read_text()


def _block(language: str) -> str:
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.S | re.M)
    return text


def test_the_fields_are_those_that_are_read() -> None:
    listed = re.findall(r"^\| `(\w+)` \| (?:string|integer|number) \|", PAGE, re.M)
    assert sorted(listed) == sorted(each.encode_name for each in msgspec.structs.fields(Dumped))


def test_the_example_of_the_format_is_read(tmp_path: Path) -> None:
    path = tmp_path / "steps.jsonl"
    path.write_text(_block("json"))
    read = read_dump(path)
    assert read.damage == ""
    assert [(step.name, step.function, step.changed) for step in read.found.steps] == [
        ("canonicalize", "f", False), ("cse", "f", False)
    ]  # fmt: skip


def test_the_reader_of_the_example_reads(tmp_path: Path) -> None:
    made: dict[str, Any] = {}
    exec(_block("python"), made)
    reader = made["MINE"]
    assert isinstance(reader, DumpReader)
    path = tmp_path / "dump.mine"
    path.write_text("MINE\np: a;b\nEND")
    assert reader.accepts(path, path.read_text())
    (one,) = reader.read(path)
    assert (one.name, one.text) == ("p", "a\nb")
    path.write_text("MINE\n")
    with pytest.raises(DumpDamage, match="there is no END"):
        list(reader.read(path))
