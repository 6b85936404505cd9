"""A compiled model is found again by its content, and by all that decides how it is compiled."""

import gc
import sys
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import irkit
from irkit.autoschedule import Machine
from irkit.core import IRKitError, IRModule, Target
from irkit.ir import PrimFunc
from irkit.phases import DEFAULT, GRAPH, model_cache
from irkit.transform import define_pass
from tests.phases.caches import empty_cache

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[4, 8] x) => (float[4, 8] y)
<float[8] w = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0}> { s = Add(x, w)  y = Relu(s) }
"""
X = np.linspace(-9, 9, 32, dtype=np.float32).reshape(4, 8)


def proto(change: str = "7.0") -> onnx.ModelProto:
    return onnx.parser.parse_model(TEXT.replace("7.0", change))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    return empty_cache(tmp_path, monkeypatch)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules that are compiled, by their text."""
    found: list[str] = []
    # The package has a function of that name.
    compiling = sys.modules["irkit.phases.compile"]
    inner: Any = vars(compiling)["compile_taken"]

    def compiled(given: list[IRModule], options: Any) -> Any:
        found.append(given[0].script())
        return inner(given, options)

    monkeypatch.setattr(compiling, "compile_taken", compiled)
    return found


def expected(w7: float = 7.0) -> Any:
    return np.maximum(X + np.array([1, 2, 3, 4, 5, 6, w7, 8], np.float32), 0)


def test_the_second_time_nothing_is_compiled(made: list[str], tmp_path: Path) -> None:
    first = irkit.compile(proto())
    again = irkit.compile(proto())
    assert len(made) == 1
    np.testing.assert_array_equal(again.run({"x": X})["y"], expected())
    assert again.contents == first.contents
    # As a file or as bytes it has other bytes, perhaps, but the same content.
    onnx.save(proto(), tmp_path / "m.onnx")
    for given in (tmp_path / "m.onnx", str(tmp_path / "m.onnx"), proto().SerializeToString()):
        np.testing.assert_array_equal(irkit.compile(given).run({"x": X})["y"], expected())
    assert len(made) <= 2


def test_another_weight_is_another_model(made: list[str]) -> None:
    irkit.compile(proto())
    np.testing.assert_array_equal(irkit.compile(proto("70.0")).run({"x": X})["y"], expected(70))
    assert len(made) == 2


@define_pass
def stamp(func: PrimFunc, *, number: int = 0) -> PrimFunc:
    """Leave a mark."""
    return func.replace(attrs=(*func.attrs, (f"stamp_{number}", number)))


OTHERS: dict[str, dict[str, Any]] = {
    "a graph pass less": {"graph_pipeline": GRAPH.without("fold-scales")},
    "a pass less": {"pipeline": DEFAULT.without("hoist-if-then-else")},
    "a pass more": {"pipeline": DEFAULT.insert(stamp, phase=3)},
    "its option": {"pipeline": DEFAULT.insert(stamp.using(number=2), phase=3)},
    "a target": {"target": Target(opt_level=1)},
    "no verification": {"verify": False},
    "another machine": {"machine": Machine.with_vectors(16)},
    "no schedule": {"schedule": "none"},
    "a limit": {"memory_limit": 1 << 20},
    "a tolerance": {"tolerance": 1e-3},
    "state": {"state": {"x": "y"}},
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_decides_the_model_is_in_the_key(what: str, made: list[str]) -> None:
    irkit.compile(proto())
    for _ in range(2):
        irkit.compile(proto(), **OTHERS[what])
    assert len(made) == 2


def test_versions_are_in_the_key(made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    irkit.compile(proto())
    monkeypatch.setattr(model_cache, "_versions", lambda: "another irkit")
    irkit.compile(proto())
    assert len(made) == 2


def test_external_data_are_in_the_key(made: list[str], tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"

    def save(change: str) -> None:
        (tmp_path / "m.data").unlink(missing_ok=True)
        onnx.save(
            proto(change),
            path,
            save_as_external_data=True,
            location="m.data",
            size_threshold=0,
        )

    for change, count in (("7.0", 1), ("7.0", 1), ("70.0", 2)):
        save(change)
        found = irkit.compile(path).run({"x": X})["y"]
        np.testing.assert_array_equal(found, expected(float(change)))
        assert len(made) == count


@pytest.mark.parametrize("harm", ["cut", "weight"])
def test_damaged_files_count_as_missing(harm: str, made: list[str], folder: Path) -> None:
    irkit.compile(proto())
    (path,) = folder.glob("*.model")
    data = bytearray(path.read_bytes())
    if harm == "cut":
        del data[-100:]
    else:
        at = data.index(np.array([7.0, 8.0], np.float32).tobytes())
        data[at] ^= 1
    path.write_bytes(bytes(data))
    np.testing.assert_array_equal(irkit.compile(proto()).run({"x": X})["y"], expected())
    assert len(made) == 2


def test_a_trace_is_made_when_it_is_asked_for(made: list[str], tmp_path: Path) -> None:
    now = irkit.compile(proto(), keep_trace="now")
    path = tmp_path / "m.onnx"
    onnx.save(proto(), path)
    irkit.compile(path)
    kept = irkit.compile(path)
    count = len(made)
    assert [step.scripts() for step in kept.trace] == [step.scripts() for step in now.trace]
    assert len(made) == count + 1
    changed = irkit.compile(path)
    onnx.save(proto("70.0"), path)
    with pytest.raises(IRKitError, match="source of the model has changed since it was compiled"):
        _ = changed.trace
    with pytest.raises(IRKitError, match="no trace"):
        _ = irkit.compile(proto(), keep_trace=False).trace


@pytest.mark.parametrize("state", ["0", "memory"])
def test_the_cache_can_be_off(
    state: str, made: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IRKIT_CACHE", state)
    irkit.compile(proto())
    irkit.compile(proto())
    assert len(made) == 2
    assert not folder.exists()


@pytest.mark.parametrize("large", [False, True])
def test_a_large_model_holds_no_weights_of_steps_and_makes_them_again(
    large: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_cache, "LARGE", 1 if large else 1 << 30)
    compiling = sys.modules["irkit.phases.compile"]
    inner: Any = vars(compiling)["compile_taken"]
    imported: list[weakref.ref[Any]] = []

    def compiled(given: list[IRModule], options: Any) -> Any:
        imported.append(weakref.ref(given[0]["main"]))
        return inner(given, options)

    monkeypatch.setattr(compiling, "compile_taken", compiled)
    path = tmp_path / "m.onnx"
    onnx.save(proto(), path)
    model = irkit.compile(path)
    gc.collect()
    assert [each() is None for each in imported] == [large]
    names = [step.name for step in irkit.compile(path, keep_trace="now").trace.steps]
    assert [step.name for step in model.trace.steps] == names
    assert len(model.functions) == 1
    np.testing.assert_array_equal(model.run({"x": X})["y"], expected())


def test_a_large_model_whose_file_has_changed_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_cache, "LARGE", 1)
    path = tmp_path / "m.onnx"
    onnx.save(proto(), path)
    model = irkit.compile(path)
    onnx.save(proto("0.5"), path)
    with pytest.raises(IRKitError, match="has changed since it was compiled"):
        _ = model.trace
    np.testing.assert_array_equal(model.run({"x": X})["y"], expected())


def test_a_large_model_of_open_shape_has_its_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_cache, "LARGE", 1)
    path = tmp_path / "m.onnx"
    open_model = onnx.parser.parse_model(TEXT.replace("float[4, 8]", "float[n, 8]"))
    onnx.save(open_model, path)
    model = irkit.compile(path)
    np.testing.assert_array_equal(model.run({"x": X})["y"], expected())
    assert model.trace.steps
