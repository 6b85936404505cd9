"""What the README says is what happens."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_every_python_example_runs_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) == 6
    light = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    (tmp_path / "squeezenet.onnx").write_bytes((light / "light_squeezenet.onnx").read_bytes())
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {"image": np.zeros((1, 3, 224, 224), dtype=np.float32)}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), scope)
    check = scope["test_unroll_small_loops"].irkit_check
    few = {"examples": 5, "hash_seeds": (), "fires": 0.0}
    check.settings = msgspec.structs.replace(check.settings, **few)
    check.profile = "ci"
    scope["test_unroll_small_loops"]()
    assert scope["out"].tolist() == [[2.0] * 3] * 2
    assert scope["outputs"]["softmaxout_1"].shape == (1, 1000, 1, 1)
    printed = capsys.readouterr().out
    assert 'with block("C")' in printed
    assert "unroll-small-loops" in printed
    assert (tmp_path / "squeezenet.irkit").is_file()


def test_the_pass_in_the_readme_is_the_one_in_the_examples() -> None:
    (shown,) = re.findall(r"@define_pass\n.*?on=For\)\n", README, flags=re.DOTALL)
    assert shown in (ROOT / "examples" / "unroll_small_loops.py").read_text()


@pytest.mark.parametrize("verb", sorted(set(re.findall(r"^    irkit (\w+)", README, flags=re.M))))
def test_every_verb_of_the_readme_exists(verb: str) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "irkit", verb, "--help"], cwd=ROOT, capture_output=True, check=False
    )
    assert found.returncode == 0, found.stderr
