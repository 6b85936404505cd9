"""docs/architecture.md: its size, its example, its layers and its folders."""

import re
import tomllib
from typing import Any

import irkit
from irkit.ir import parse
from tests.docs.pages import ROOT, blocks_of

PAGE = ROOT / "docs" / "architecture.md"
TEXT = PAGE.read_text()


def test_pages_are_short() -> None:
    assert len(PAGE.read_bytes()) <= 12_000
    for page in (ROOT / "docs").glob("*.md"):
        assert len(page.read_bytes()) <= 16_000, page.name


def test_the_function_goes_the_way_that_the_page_shows() -> None:
    stages = [block.text for block in blocks_of(PAGE) if block.kind == "irs"]
    func = parse(stages[0])
    assert func.script() == stages[0]
    changed = [step for step in irkit.DEFAULT.steps(func) if step.changed]
    names = ["lower-blocks", "flatten-buffers", "narrow-indices", "vectorize-loops"]
    assert [step.name for step in changed] == names
    shown = [step.after.script() for step in changed if step.name != "narrow-indices"]
    assert shown == stages[1:]
    (native,) = [block.text for block in blocks_of(PAGE) if block.kind == "llvm"]
    assert native in irkit.build(func).source("llvm")


def test_the_layers_are_those_that_are_held() -> None:
    read: Any = tomllib.loads((ROOT / "pyproject.toml").read_text())
    held = read["tool"]["importlinter"]["contracts"][0]["layers"]
    picture = TEXT.partition("## The layers")[2].partition("| to change")[0]
    shown = re.findall(r"^    (\w+(?: │ \w+)?)  ", picture, flags=re.M)
    assert [layer.replace(" │ ", " | ") for layer in shown] == held


def test_every_library_that_is_needed_has_its_reason() -> None:
    read: Any = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [each for several in read["optional-dependencies"].values() for each in several]
    table = TEXT.partition("| library |")[2].partition("\n\n")[0]
    for each in [*read["dependencies"], *extras]:
        assert re.match(r"[\w-]+", each)[0] in table, each  # pyright: ignore[reportOptionalSubscript]


def test_every_folder_and_file_that_is_named_exists() -> None:
    named = re.findall(r"`((?:irkit/)?[a-z_]+(?:/[a-z_]+)+(?:\.py)?)`", TEXT)
    assert len(named) > 20
    later = {"codegen/c", "frontend/torch"}
    missing = [
        name
        for name in set(named) - later
        if not (ROOT / name).exists() and not (ROOT / "irkit" / name).exists()
    ]
    assert missing == []
