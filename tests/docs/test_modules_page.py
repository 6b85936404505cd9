"""docs/modules.md: what it says is what happens."""

import re
from typing import Any

import numpy as np
import pytest

from irkit import nn
from irkit.graph import Builder
from tests.docs.pages import ROOT
from tests.docs.test_readme import run_python

PAGE = ROOT / "docs" / "modules.md"


def test_every_example_of_the_page_on_modules_runs_in_order(
    capsys: pytest.CaptureFixture[str],
) -> None:
    scope: dict[str, Any] = {}
    assert run_python(PAGE, scope) == 4
    (first,), (second,) = scope["outputs"].values(), scope["same"].values()
    np.testing.assert_allclose(first, second, 1e-4, 1e-5)
    assert "relu: f32[1, 2] = relu(matmul)" in capsys.readouterr().out


def test_the_page_lists_every_layer_and_only_those() -> None:
    (line,) = re.findall(r"^- Layers: .*$", PAGE.read_text(), re.M)
    layers = {
        name
        for name, each in vars(nn).items()
        if isinstance(each, type) and issubclass(each, nn.Module) and each is not nn.Module
    }
    assert set(re.findall(r"`(\w+)`", line)) == layers


def test_the_methods_of_the_builder_that_the_page_names_are_there() -> None:
    _, _, part = PAGE.read_text().partition("## Building a graph by hand")
    named = set(re.findall(r"`(\w+)\(", part)) - {"Binding", "IRModule"}
    assert len(named) > 8
    assert [name for name in named if not hasattr(Builder, name)] == []
