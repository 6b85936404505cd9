"""Every file of a pass holds the pass of its name, is in the face, and has a test file."""

import importlib
from pathlib import Path

import pytest

from irkit.passes import BUILTIN, graph, loop
from irkit.transform import Pass

PASSES = Path(loop.__file__).parents[1]
TESTS = Path(__file__).parent
FILES = sorted(
    path.relative_to(PASSES)
    for path in (*(PASSES / "graph").glob("*.py"), *(PASSES / "loop").glob("*/*.py"))
    if path.stem != "__init__" and path.parent.name != "support"
)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_holds_the_pass_of_its_name(file: Path) -> None:
    module = importlib.import_module("irkit.passes." + ".".join(file.with_suffix("").parts))
    found = getattr(module, file.stem)
    assert isinstance(found, Pass)
    assert found.name == file.stem.replace("_", "-")
    assert getattr(graph if file.parts[0] == "graph" else loop, file.stem) is found


def test_every_pass_has_a_file() -> None:
    assert sorted(p.name for p in BUILTIN) == sorted(file.stem.replace("_", "-") for file in FILES)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_pass_has_a_test_file_of_its_name(file: Path) -> None:
    assert (TESTS / file.parent / f"test_{file.name}").is_file()
