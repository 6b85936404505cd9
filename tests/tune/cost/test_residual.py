import json
import sys
from math import exp
from pathlib import Path
from random import Random

import pytest

from irkit.core import FormatError
from irkit.tune import Residual, rank_correlation


def test_correlation_is_of_ranks_and_not_of_values() -> None:
    assert rank_correlation([1, 2, 3, 4], [1, 10, 100, 1000]) == pytest.approx(1.0)
    assert rank_correlation([1, 2, 3, 4], [9, 7, 5, 3]) == pytest.approx(-1.0)
    assert rank_correlation([1, 2, 3, 4], [5, 5, 5, 5]) == 0.0
    assert rank_correlation([1, 1, 2, 2], [3, 3, 4, 4]) == pytest.approx(1.0)


def filled(count: int) -> Residual:
    """Make up measurements that the estimate misses by a factor of the first feature."""
    rng, model = Random(0), Residual()
    for _ in range(count):
        rows, lanes = rng.choice((1, 2, 4, 8)), rng.choice((4, 8, 16))
        model.add([rows, lanes], 100.0, 1e-6 * 100.0 * (3.0 if rows > 2 else 1.0))
    return model


def test_the_model_learns_what_the_estimate_misses(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    model = filled(80)
    model.learn()
    few, many = model.predict([[1, 8], [8, 8]])
    assert many - few == pytest.approx(1.0986, abs=0.2)
    model.save(tmp_path / "model")
    other = Residual()
    other.load(tmp_path / "model")
    assert list(other.predict([[1, 8], [8, 8]])) == [few, many]


def built(count: int) -> Residual:
    """Make up measurements that only the second number of the assembly explains."""
    rng, model = Random(0), Residual()
    for _ in range(count):
        rows, spills = rng.choice((1, 2, 4, 8)), rng.choice((0, 9))
        model.add([rows], 100.0, 1e-4 * (3.0 if spills else 1.0), [7.0, spills])
    return model


def test_what_only_the_assembly_shows_is_learned_from_what_was_built(tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")
    model = built(80)
    assert not model.knows_assembly
    model.learn()
    few, many = model.predict_built([[4], [4]], [[7, 0], [7, 9]])
    assert many - few == pytest.approx(1.0986 / 2, abs=0.1)
    assert len(set(model.predict([[4], [4]]))) == 1
    model.save(tmp_path / "model")
    other = Residual()
    other.load(tmp_path / "model")
    assert list(other.predict_built([[4], [4]], [[7, 0], [7, 9]])) == [few, many]


def test_a_file_without_assembly_or_with_other_kinds_serves_for_what_is_not_built(
    tmp_path: Path,
) -> None:
    pytest.importorskip("lightgbm")
    built(80).save(tmp_path / "model")
    found = json.loads((tmp_path / "model").read_bytes())
    older = {key: found[key] for key in ("rows", "errors")} | {"format": 2}
    for other in (older, found | {"mix": found["mix"] + 1}):
        (tmp_path / "model").write_text(json.dumps(other))
        model = Residual()
        model.load(tmp_path / "model")
        assert len(model.rows) == len(model.mixes) == 80
        assert model.has_learned
        assert not model.knows_assembly


def test_measurements_with_and_without_assembly_may_be_mixed() -> None:
    pytest.importorskip("lightgbm")
    model, plain = built(40), filled(40)
    for row, error in zip(plain.rows, plain.errors, strict=True):
        model.add(row, 1.0, exp(error))
    model.learn()
    few, many = model.predict_built([[4], [4]], [[7, 0], [7, 9]])
    assert many > few


def test_without_enough_measurements_the_estimate_stands() -> None:
    model = filled(5)
    model.learn()
    assert list(model.predict([[1, 8]])) == [0.0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"format":1,"rows":[],"errors":[]}',
        '{"format":2,"rows":[[1]],"errors":[]}',
        '{"format":2,"rows":[[1e999]],"errors":[0.5]}',
        '{"format":3,"rows":[[1]],"errors":[0.5],"mixes":[[1],[2]],"mix":1}',
        '{"format":3,"rows":[[1]],"errors":[0.5],"mixes":[[1e999]],"mix":1}',
        " " * ((16 << 20) + 1),
    ],
    ids=["empty", "list", "older", "uneven", "infinite", "mixes", "no mix", "huge"],
)
def test_a_damaged_file_of_what_was_learned_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "model").write_text(text)
    with pytest.raises(FormatError, match="has learned"):
        Residual().load(tmp_path / "model")


def test_without_lightgbm_the_estimate_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irkit.tune.cost.residual.find_spec", lambda name: None)
    model = filled(80)
    model.learn()
    assert list(model.predict([[1, 8], [8, 8]])) == [0.0, 0.0]


def test_a_lightgbm_that_cannot_be_loaded_is_as_good_as_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("irkit.tune.cost.residual.find_spec", lambda name: name)
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    model = filled(80)
    model.learn()
    assert list(model.predict([[1, 8], [8, 8]])) == [0.0, 0.0]


def test_searching_without_learning_loads_no_lightgbm() -> None:
    before = "lightgbm" in sys.modules
    filled(5).learn()
    assert ("lightgbm" in sys.modules) is before
