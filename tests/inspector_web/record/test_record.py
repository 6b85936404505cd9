"""How files become runs: in a child, with limits, again when they change, and what is said of"""

from pathlib import Path

from irkit.inspector_web.record.record import record
from tests.inspector_web.pages import MATMUL


def test_pipelines_are_as_they_were_after_a_recording(tmp_path: Path) -> None:
    from irkit.transform import Pipeline

    (tmp_path / "k.irs").write_text(MATMUL)
    before = Pipeline.steps
    record("text", str(tmp_path / "k.irs"), str(tmp_path))
    assert Pipeline.steps is before
