"""The examples that train: the loss falls in native code."""

import json
import subprocess
import sys

import pytest

from tests.docs.pages import ROOT
from tests.examples.test_tag_innermost_loops import load

CURVES = ROOT / "benchmarks" / "training.json"


def test_the_loss_of_the_mlp_falls() -> None:
    losses = load("train").losses_of("mlp", 25)
    assert losses[0] > 2
    assert max(losses[-5:]) < 0.7 * losses[0]


@pytest.mark.long
def test_the_transformer_learns_to_look_back() -> None:
    losses = load("train").losses_of("transformer", 600)
    # A word of 8 tokens out of 16 is new, the other 16 places follow from it.
    assert losses[0] > 2.5
    assert max(losses[-10:]) < 1.3


@pytest.mark.long
@pytest.mark.parametrize("name", ["mlp", "transformer"])
def test_the_curves_that_are_kept_are_those_of_the_example(name: str) -> None:
    kept = json.loads(CURVES.read_text())[name]
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "train.py"), name, "50", "--json"],
        capture_output=True, text=True, check=True, env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert json.loads(done.stdout) == pytest.approx(kept[:50], rel=0.02, abs=0.02)
