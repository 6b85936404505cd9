"""Exports of scikit-learn, xgboost and lightgbm agree with ONNX Runtime."""

from pathlib import Path

import pytest

from tests.networks import ml_models

PACKAGES = ("sklearn", "skl2onnx", "xgboost", "lightgbm", "onnxmltools", "onnxruntime")


@pytest.mark.long
@pytest.mark.filterwarnings("default")
def test_exports_agree_with_onnx_runtime(tmp_path: Path) -> None:
    for name in PACKAGES:
        pytest.importorskip(
            name, reason=f"{name} makes the models: pip install 'irkit[ml-exports]'"
        )
    ml_models.export(tmp_path)
    assert ml_models.compare(tmp_path) == 0
