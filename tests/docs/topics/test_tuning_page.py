"""docs/tuning.md: its template is tuned as the page says, and its options are there."""

import re
from pathlib import Path

import pytest

from irkit import tune
from tests.docs.pages import ROOT, Reader, switches_of

PAGE = ROOT / "docs" / "tuning.md"
TEXT = PAGE.read_text()


@pytest.mark.long
def test_the_template_of_the_page_is_tuned(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.read(PAGE)
    assert reader.ran == TEXT.count("\n$ ")
    found = tune.read_records(reader.folder / "records.jsonl")
    (task,) = found.tasks.values()
    assert (task.template, task.args) == ("mine.matmul", (31, 64, 32))
    assert [each.verdict for each in found.candidates if each.stage == "search"] == ["ok"] * 4


def test_the_switches_and_names_of_the_page_exist() -> None:
    named = set(re.findall(r"`(?:irkit tune )?(--[a-z-]+)", TEXT))
    known = switches_of("tune") | switches_of("compile") | {"--autotvm", "--json"}
    assert named <= known, named - known
    for name in set(re.findall(r"`tune\.(\w+)", TEXT)):
        assert hasattr(tune, name), name
