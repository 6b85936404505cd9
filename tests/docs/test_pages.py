"""What the pages name is there."""

import re
from pathlib import Path

import pytest

from irkit.passes import BUILTIN
from irkit.schedule import PRIMITIVES

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))]
FOLDERS = ("irkit", "passes", "phases", "fuzz", "tests", "examples", "benchmarks")
PROOFS = ROOT / "docs" / "proofs.md"
# What the pages on writing passes make, and what `irkit reduce` and `irkit split` write.
MADE = {
    "shorten_loops.py",
    "squares.py",
    "test_kernels.py",
    "test_reduced.py",
    "test_shorten_loops.py",
}


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_exists(page: str) -> None:
    named = set(re.findall(r"`([\w/]+\.py)`", (ROOT / page).read_text())) - MADE
    paths = [
        f"/{path.relative_to(ROOT)}" for each in FOLDERS for path in (ROOT / each).rglob("*.py")
    ]
    missing = [name for name in named if not any(path.endswith(f"/{name}") for path in paths)]
    assert missing == []


def test_what_the_page_for_users_of_tvm_names_is_there() -> None:
    page = (ROOT / "docs" / "from-tvm.md").read_text()
    passes, _, schedules = page.partition("## Schedules")
    named = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", passes))
    known = {each.name for each in BUILTIN}
    assert len(named) > 20
    assert named <= known, named - known
    primitives = set(re.findall(r"`([a-z]+_[a-z_]+)`", schedules)) - {
        "get_sblock", "get_sref", "remove_rv",
    }  # fmt: skip
    assert primitives <= set(PRIMITIVES), primitives - set(PRIMITIVES)


def test_every_primitive_has_its_line_on_the_page() -> None:
    page = (ROOT / "docs" / "schedules.md").read_text()
    looking = {name for name in PRIMITIVES if name.startswith("get_")} | {"work_on"}
    assert [name for name in PRIMITIVES if f"`{name}(" not in page and name not in looking] == []


def test_the_python_of_the_page_on_proofs_runs(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("z3")
    blocks = re.findall(r"^```python\n(.*?)^```$", PROOFS.read_text(), flags=re.M | re.S)
    assert len(blocks) > 1
    for code in blocks:
        exec(code, {})
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("Proved(")
    assert "x = " in second
