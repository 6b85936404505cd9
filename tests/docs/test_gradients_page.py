"""docs/gradients.md: what it says is what happens."""

import json
import re
from typing import Any

import pytest

from tests.docs.pages import ROOT
from tests.docs.test_readme import run_python

PAGE = ROOT / "docs" / "gradients.md"


def test_every_example_of_the_page_on_gradients_runs_in_order(
    capsys: pytest.CaptureFixture[str],
) -> None:
    scope: dict[str, Any] = {}
    assert run_python(PAGE, scope) == 3
    assert scope["losses"][-1] < 0.5 * scope["losses"][0]
    assert "its result is the place of an element" in capsys.readouterr().out


def test_the_table_shows_the_curves_that_are_kept() -> None:
    curves = json.loads((ROOT / "benchmarks" / "training.json").read_text())
    head, *rows = re.findall(r"^\| (.*) \|$", PAGE.read_text(), re.M)
    steps = [int(each) for each in head.split(" | ")[1:]]
    for name, row in zip(("mlp", "transformer"), rows, strict=True):
        assert f"train.py {name} {len(curves[name])}" in row
        shown = [each.strip() for each in row.split("|")[1:]]
        for step, text in zip(steps, shown, strict=True):
            assert text == (f"{curves[name][step]:.2f}" if step < len(curves[name]) else "")
