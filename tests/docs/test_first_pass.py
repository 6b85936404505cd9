"""docs/first-pass.md, run from top to bottom."""

from pathlib import Path

from tests.docs.pages import ROOT, Reader

PAGE = ROOT / "docs" / "first-pass.md"


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.read(PAGE)
    assert reader.ran == PAGE.read_text().count("\n$ ") == 9
