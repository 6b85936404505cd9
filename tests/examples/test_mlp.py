"""The example of a network as a module."""

import pytest

from tests.examples.test_tag_innermost_loops import load


def test_it_shows_its_graph_and_agrees_with_numpy(capsys: pytest.CaptureFixture[str]) -> None:
    load("mlp").main()
    printed = capsys.readouterr().out
    assert "matmul: f32[1, 256] = matmul(x, transpose)" in printed
    assert "largest difference from NumPy:" in printed
