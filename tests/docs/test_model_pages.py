"""docs/modules.md, gradients.md and torch.md: what they say is what happens."""

import json
import re
from importlib.metadata import entry_points
from typing import Any

import numpy as np
import pytest

from irkit import nn
from irkit.graph import Builder
from tests.docs.pages import ROOT
from tests.docs.test_readme import run_python

MODULES, GRADIENTS = ROOT / "docs" / "modules.md", ROOT / "docs" / "gradients.md"


def test_every_example_of_the_page_on_modules_runs_in_order(
    capsys: pytest.CaptureFixture[str],
) -> None:
    scope: dict[str, Any] = {}
    assert run_python(MODULES, scope) == 4
    (first,), (second,) = scope["outputs"].values(), scope["same"].values()
    np.testing.assert_allclose(first, second, 1e-4, 1e-5)
    assert "relu: f32[1, 2] = relu(matmul)" in capsys.readouterr().out


def test_the_page_lists_every_layer_and_only_those() -> None:
    (line,) = re.findall(r"^- Layers: .*$", MODULES.read_text(), re.M)
    layers = {
        name
        for name, each in vars(nn).items()
        if isinstance(each, type) and issubclass(each, nn.Module) and each is not nn.Module
    }
    assert set(re.findall(r"`(\w+)`", line)) == layers


def test_the_methods_of_the_builder_that_the_page_names_are_there() -> None:
    _, _, part = MODULES.read_text().partition("## Building a graph by hand")
    named = set(re.findall(r"`(\w+)\(", part)) - {"Binding", "IRModule"}
    assert len(named) > 8
    assert [name for name in named if not hasattr(Builder, name)] == []


def test_every_example_of_the_page_on_gradients_runs_in_order(
    capsys: pytest.CaptureFixture[str],
) -> None:
    scope: dict[str, Any] = {}
    assert run_python(GRADIENTS, scope) == 3
    assert scope["losses"][-1] < 0.5 * scope["losses"][0]
    assert "its result is the place of an element" in capsys.readouterr().out


def test_the_table_shows_the_curves_that_are_kept() -> None:
    curves = json.loads((ROOT / "benchmarks" / "training.json").read_text())
    head, *rows = re.findall(r"^\| (.*) \|$", GRADIENTS.read_text(), re.M)
    steps = [int(each) for each in head.split(" | ")[1:]]
    for name, row in zip(("mlp", "transformer"), rows, strict=True):
        assert f"train.py {name} {len(curves[name])}" in row
        shown = [each.strip() for each in row.split("|")[1:]]
        for step, text in zip(steps, shown, strict=True):
            assert text == (f"{curves[name][step]:.2f}" if step < len(curves[name]) else "")


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_every_example_of_the_page_on_torch_runs_in_order() -> None:
    pytest.importorskip("torch")
    if not entry_points(group="torch_dynamo_backends", name="irkit"):
        pytest.skip("this irkit was installed before it had the entry point")
    scope: dict[str, Any] = {}
    assert run_python(ROOT / "docs" / "torch.md", scope) == 2
    np.testing.assert_allclose(scope["found"], scope["same"].numpy(), 1e-5, 1e-6)
    with scope["torch"].no_grad():
        want = scope["model"](scope["x"]).numpy()
    np.testing.assert_allclose(scope["found"], want, 1e-4, 1e-5)
