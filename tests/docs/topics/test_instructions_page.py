"""docs/instructions.md: its example runs, and what it names is there."""

import re

import pytest

from irkit.codegen import host_target
from irkit.ir import known_instructions
from irkit.ir.instructions.registry import _DEFINED  # pyright: ignore[reportPrivateUsage]
from tests.docs.pages import ROOT, blocks_of

PAGE = ROOT / "docs" / "instructions.md"


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    blocks = [each for each in blocks_of(PAGE) if each.kind == "python"]
    try:
        for block in blocks:
            exec(block.text, {})
    finally:
        del _DEFINED["any_saturating_add_16"]
    first, instructions, of_a_warp = capsys.readouterr().out.split()
    assert of_a_warp == "1"
    assert first == "127"
    assert int(instructions) > 0 or not host_target().triple.startswith("x86_64")


def test_the_instructions_that_the_page_lists_are_known() -> None:
    table = PAGE.read_text().partition("## What is there")[2]
    named = set(re.findall(r"`((?:x86|aarch64|any|ptx)_\w*_\d\w*)`", table)) - {
        "x86_vpdpbusd_512_signed"
    }
    assert len(named) > 4
    assert named <= {row.name for row in known_instructions()}
