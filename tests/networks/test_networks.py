"""Networks exported by the installed torch, against the table in docs/networks.md."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.networks.compare import SECONDS, compare

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "networks.md"


def table() -> dict[str, str]:
    """Return the outcome of each network by name and exporter: an error, or why it fails."""
    rows = re.findall(
        r"^\| (\w+) \| (torchscript|dynamo) \|.* \| ([^|]+) \|$", PAGE.read_text(), re.MULTILINE
    )
    return {f"{name}.{exporter}": outcome for name, exporter, outcome in rows}


def agrees(outcome: str) -> bool:
    return re.fullmatch(r"\d\.\de-\d\d", outcome) is not None


def test_the_page_counts_the_networks_that_agree() -> None:
    rows = table()
    stated = re.search(r"(\d+) of (\d+) agree", PAGE.read_text())
    assert stated is not None
    assert stated.groups() == (str(sum(map(agrees, rows.values()))), str(len(rows)))
    assert len(rows) >= 48


@pytest.mark.long
@pytest.mark.skipif(
    not (find_spec("torch") and find_spec("onnxruntime")),
    reason="exporting needs the extra networks",
)
def test_every_network_of_the_page_agrees_or_fails_as_the_page_says(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.networks.export", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    outcomes = {path.stem: compare(path) for path in sorted(tmp_path.glob("*.onnx"))}
    expected = table()
    assert set(outcomes) == set(expected)
    for title, result in outcomes.items():
        assert result.reason == ("" if agrees(expected[title]) else expected[title]), title
        assert result.seconds < SECONDS, title
