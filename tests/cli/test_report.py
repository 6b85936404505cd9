"""``irkit report`` needs something to write."""

from pathlib import Path

from click.testing import CliRunner

from irkit.cli.verbs import irkit
from tests.inspector_web.pages import matmul_trace


def test_nothing_to_write_is_an_error(tmp_path: Path) -> None:
    done = CliRunner().invoke(irkit, ["report", matmul_trace(tmp_path)])
    assert done.exit_code == 2
    assert "--junit" in done.output
