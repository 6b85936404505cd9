"""A few drawn programs of each kind; ``python -m tests.differential`` runs thousands."""

import importlib
import subprocess
import sys

import numpy as np
import pytest

from tests.differential.__main__ import KINDS
from tests.differential.outcome import difference

PEERS = {
    "onnx_models": "onnxruntime",
    "tensor_expressions": "numpy",
    "torch_programs": "torch",
    "torch_gradients": "torch",
}


def judged(kind: str, count: int) -> list[str]:
    pytest.importorskip(PEERS[kind], reason="the peer is an extra: irkit[bench], irkit[torch]")
    judge = importlib.import_module(f"tests.differential.{kind}").judge
    outcomes = [judge(number) for number in range(count)]
    assert sum(outcome.status == "right" for outcome in outcomes) > count * 0.7
    return [outcome.note for outcome in outcomes if outcome.status == "wrong"]


def test_drawn_tensor_expressions_compute_what_numpy_does() -> None:
    assert not judged("tensor_expressions", 12)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_drawn_programs_compute_what_the_peer_does(kind: str) -> None:
    assert not judged(kind, 150)


def test_a_difference_names_the_first_element() -> None:
    right = {"y": np.array([1.0, np.nan, np.inf, 4.0], np.float32)}
    assert not difference(right, {"y": right["y"].copy()}, 1e-6)
    for at, value in ((0, 1.1), (1, 0.0), (2, -np.inf), (3, np.nan)):
        ours = right["y"].copy()
        ours[at] = value
        assert difference(right, {"y": ours}, 1e-6).startswith(f"y[{at}]")
    assert "float64" in difference(right, {"y": right["y"].astype(float)}, 1e-6)


def test_a_run_resumes(tmp_path: object) -> None:
    command = [sys.executable, "-m", "tests.differential", "tensor_expressions", "--count", "2"]
    command += ["--out", f"{tmp_path}/cases.jsonl"]
    for _ in range(2):
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        assert run.stdout.startswith("2 right")
    with open(f"{tmp_path}/cases.jsonl") as lines:
        assert len(lines.readlines()) == 2
