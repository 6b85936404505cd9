"""Models that scikit-learn, xgboost and lightgbm export, compared with ONNX Runtime.

``python -m tests.networks.ml_models export FOLDER`` makes the models, their inputs and what ONNX
Runtime computes; it needs scikit-learn, skl2onnx, xgboost, lightgbm, onnxmltools and onnxruntime.
``python -m tests.networks.ml_models compare FOLDER`` needs irkit only, so both can run in
environments of their own. The exit code is 1 if a model is refused or differs.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

ROWS, FEATURES = 50, 12
TOLERANCE = 1e-4
"""Most that an output may differ, as a part of its largest element; labels are equal."""


def _data(classes: int) -> tuple[NDArray[np.float32], NDArray[Any]]:
    from sklearn.datasets import make_classification

    x, y = make_classification(300, FEATURES, n_informative=6, n_classes=classes, random_state=0)
    return x.astype(np.float32), y


def _sklearn(make: Callable[[], Any], classes: int) -> bytes:
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType

    fitted = make().fit(*_data(classes))
    types = [("input", FloatTensorType([None, FEATURES]))]
    return convert_sklearn(fitted, initial_types=types).SerializeToString()


def _boosted(make: Callable[[], Any], classes: int) -> bytes:
    from onnxmltools import convert_lightgbm, convert_xgboost
    from onnxmltools.convert.common.data_types import FloatTensorType

    fitted = make().fit(*_data(classes))
    convert = convert_xgboost if type(fitted).__module__.startswith("xgboost") else convert_lightgbm
    types = [("input", FloatTensorType([None, FEATURES]))]
    return convert(fitted, initial_types=types).SerializeToString()


def _models() -> dict[str, Callable[[], bytes]]:
    import lightgbm
    import xgboost
    from sklearn import ensemble, linear_model, pipeline, preprocessing, svm

    def logistic() -> Any:
        steps = preprocessing.StandardScaler(), linear_model.LogisticRegression()
        return pipeline.make_pipeline(*steps)

    sklearn: dict[str, Callable[[], Any]] = {
        "forest": lambda: ensemble.RandomForestClassifier(20, random_state=0),
        "boosting": lambda: ensemble.GradientBoostingClassifier(n_estimators=20, random_state=0),
        "scaled-logistic": logistic,
        "svc": lambda: svm.SVC(probability=True, random_state=0),
    }
    boosted: dict[str, Callable[[], Any]] = {
        "xgboost": lambda: xgboost.XGBClassifier(n_estimators=20),
        "lightgbm": lambda: lightgbm.LGBMClassifier(n_estimators=20, verbose=-1),
    }
    regressors: dict[str, Callable[[], Any]] = {
        "forest-regressor": lambda: ensemble.RandomForestRegressor(20, random_state=0),
        "linear-regressor": linear_model.LinearRegression,
        "svr": svm.SVR,
    }
    found: dict[str, Callable[[], bytes]] = {}
    for classes in (2, 3):
        for convert, family in ((_sklearn, sklearn), (_boosted, boosted)):
            for name, make in family.items():
                found[f"{name}-{classes}"] = _later(convert, make, classes)
    found |= {name: _later(_sklearn, make, 3) for name, make in regressors.items()}
    return found


def _later(
    convert: Callable[[Callable[[], Any], int], bytes], make: Callable[[], Any], classes: int
) -> Callable[[], bytes]:
    return lambda: convert(make, classes)


def export(folder: Path) -> None:
    """Write each model, with inputs and the outputs of ONNX Runtime beside it."""
    import onnxruntime

    folder.mkdir(parents=True, exist_ok=True)
    x = np.random.default_rng(0).standard_normal((ROWS, FEATURES)).astype(np.float32)
    x[0], x[1] = 1e9, -1e9
    for name, make in _models().items():
        data = make()
        (folder / f"{name}.onnx").write_bytes(data)
        session = onnxruntime.InferenceSession(data)
        outputs = session.run(None, {session.get_inputs()[0].name: x})
        arrays = {
            each.name: _columns(value)
            for each, value in zip(session.get_outputs(), outputs, strict=True)
        }
        np.savez(folder / f"{name}.npz", **arrays, **{session.get_inputs()[0].name: x})


def _columns(value: Any) -> NDArray[Any]:
    """Return the dictionaries of a ZipMap as an array, with a column for each label."""
    if not isinstance(value, list):
        return np.asarray(value)
    return np.array([list(row.values()) for row in value], dtype=np.float32)


def difference(path: Path) -> tuple[float, float]:
    """Compile a model, and return the largest difference of its outputs, each as a part of its
    largest element, and the seconds of processor time it took to compile."""
    import irkit

    model, arrays = onnx.load(path), np.load(path.with_suffix(".npz"))
    name = model.graph.input[0].name
    begin = time.process_time()
    compiled = irkit.compile(model, shapes={name: arrays[name].shape})
    seconds = time.process_time() - begin
    largest = 0.0
    for output, found in compiled.run({name: arrays[name]}).items():
        wanted = arrays[output]
        if found.shape != wanted.shape:
            return float("inf"), seconds
        apart = np.abs(found.astype(np.float64) - wanted).max()
        exact = wanted.dtype.kind in "iu"
        part = (np.inf if apart else 0.0) if exact else apart / max(np.abs(wanted).max(), 1e-30)
        largest = max(largest, float(part))
    return largest, seconds


def compare(folder: Path) -> int:
    """Write the difference of each model; return 1 if one is larger than allowed."""
    bad = 0
    for path in sorted(folder.glob("*.onnx")):
        apart, seconds = difference(path)
        bad += apart > TOLERANCE
        sys.stdout.write(f"{path.stem:20} {apart:9.2e} {seconds:6.1f} s\n")
    return int(bad > 0)


if __name__ == "__main__":
    verb, where = sys.argv[1:]
    sys.exit(export(Path(where)) if verb == "export" else compare(Path(where)))
