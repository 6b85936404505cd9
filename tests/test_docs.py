"""What the pages name is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))]
FOLDERS = ("irkit", "passes", "phases", "fuzz", "tests", "examples", "benchmarks")
# What the page on writing passes makes, and what `irkit reduce` writes.
MADE = {"shorten_loops.py", "test_shorten_loops.py", "test_reduced.py"}


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_exists(page: str) -> None:
    named = set(re.findall(r"`([\w/]+\.py)`", (ROOT / page).read_text())) - MADE
    paths = [
        f"/{path.relative_to(ROOT)}" for each in FOLDERS for path in (ROOT / each).rglob("*.py")
    ]
    missing = [name for name in named if not any(path.endswith(f"/{name}") for path in paths)]
    assert missing == []
