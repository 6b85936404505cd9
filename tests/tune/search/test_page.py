from irkit.tune import task, tune, tuning_page
from irkit.tune.search.importance import importance
from tests.tune.programs import product
from tests.tune.search.simulated import Simulated, by_rows


def test_the_decision_that_decides_is_the_most_important() -> None:
    result = tune(task(product(64, 64, 64)), trials=96, measure=Simulated(by_rows))
    shares = dict(importance(result.records))
    assert max(shares, key=lambda name: shares[name]) in ("C.sketch", "C.rows")
    assert shares.get("C.stacked", 0.0) < shares["C.sketch"]
    assert all(0 <= each <= 1 for each in shares.values())


def test_the_report_names_the_winner_and_escapes_what_it_shows() -> None:
    found = task(product(64, 64, 64), name="<b>main</b>")
    result = tune(found, trials=32, measure=Simulated(by_rows))
    page = tuning_page([result])
    assert "times as fast as the default" in page
    assert "&lt;b&gt;main&lt;/b&gt;" in page
    assert "<b>main" not in page
    assert page.count("<circle") == 32


def test_a_report_of_nothing_is_a_page() -> None:
    assert tuning_page([]).startswith("<!doctype html>")
