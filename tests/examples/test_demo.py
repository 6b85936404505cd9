"""The demo runs from end to end, and its exit code tells whether the numbers agree."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from examples import demo
from irkit.runtime import Model


def _not_again(*_: object) -> None:
    """Save nothing."""


def test_the_demo_agrees_and_notices_when_it_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    kept: list[Model] = []
    expected: list[dict[str, NDArray[Any]]] = []
    compile_once, reference = demo.compile_with_progress, demo.reference_outputs

    def compiled(*args: Any) -> Model:
        kept[:] = kept or [compile_once(*args)]
        return kept[0]

    def outputs(*args: Any) -> dict[str, NDArray[Any]]:
        expected[:] = expected or [reference(*args)]
        return expected[0]

    monkeypatch.setattr(demo, "compile_with_progress", compiled)
    monkeypatch.setattr(demo, "reference_outputs", outputs)
    assert demo.main() == 0
    printed = capsys.readouterr().out
    assert "unroll-small-loops" in printed
    assert printed.count("agrees") == 2
    assert (tmp_path / "out" / "squeezenet.trace").is_file()

    trace = kept[0].trace
    assert trace is not None
    monkeypatch.setattr(type(trace), "save", _not_again)  # Once was enough.
    inner = expected[0][demo.INNER]
    inner[0, 0, 0, 0] += 1e-3 * np.abs(inner).max()
    assert demo.main() == 1
    assert "DIFFERS" in capsys.readouterr().out
