"""Recordings leave pipelines as they were."""

from pathlib import Path

from irkit.inspector_web.record.record import record
from tests.inspector_web.pages import MATMUL


def test_pipelines_are_restored_after_a_recording(tmp_path: Path) -> None:
    from irkit.transform import Pipeline

    (tmp_path / "k.irs").write_text(MATMUL)
    before = Pipeline.steps
    record("text", str(tmp_path / "k.irs"), str(tmp_path))
    assert Pipeline.steps is before
