"""README.md and docs/from-python.md: what they say is what happens."""

import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
import pytest

from tests.docs.pages import ROOT, blocks_of

README = (ROOT / "README.md").read_text()


def run_python(page: Path, scope: dict[str, Any]) -> int:
    blocks = [block.text for block in blocks_of(page) if block.kind == "python"]
    for block in blocks:
        exec(compile(block, page.name, "exec"), scope)
    return len(blocks)


def test_every_python_example_of_the_readme_runs_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    assert run_python(ROOT / "README.md", scope) == 3
    check = scope["test_unroll_small_loops"].irkit_check
    few = {"examples": 5, "hash_seeds": (), "fires": 0}
    check.settings = msgspec.structs.replace(check.settings, **few)
    check.profile = "ci"
    scope["test_unroll_small_loops"]()
    out = np.ones(3, np.float32)
    scope["double"](out)
    assert out.tolist() == [2.0] * 3
    printed = capsys.readouterr().out
    assert "1 unroll-small-loops True" in printed
    assert printed.count("* f32(2.0)") == 3


def test_every_python_example_of_the_page_on_python_runs_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    light = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    (tmp_path / "squeezenet.onnx").write_bytes((light / "light_squeezenet.onnx").read_bytes())
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {"image": np.zeros((1, 3, 224, 224), dtype=np.float32)}
    assert run_python(ROOT / "docs" / "from-python.md", scope) == 7
    assert scope["out"].tolist() == [[2.0] * 3] * 2
    assert scope["outputs"]["softmaxout_1"].shape == (1, 1000, 1, 1)
    assert 'with block("C")' in capsys.readouterr().out
    assert (tmp_path / "squeezenet.irkit").is_file()


def test_the_pass_in_the_readme_is_the_one_in_the_examples() -> None:
    (shown,) = re.findall(r"@define_pass\n.*?on=For\)\n", README, flags=re.DOTALL)
    assert shown in (ROOT / "examples" / "unroll_small_loops.py").read_text()


def test_the_readme_fits_two_screens() -> None:
    assert len(README.splitlines()) <= 110
