import sys
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
        " " * ((16 << 20) + 1),
    ],
    ids=["empty", "list", "older", "uneven", "infinite", "huge"],
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
