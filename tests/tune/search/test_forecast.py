from pathlib import Path
from random import Random

import pytest

from irkit.autoschedule import Machine
from irkit.tune import RecordFile, Replay, Residual, Task, task, tune
from irkit.tune.cost import MIX_VERSION, instruction_mix, mix_row
from irkit.tune.records import Built, Values
from irkit.tune.search.forecast import Forecast
from irkit.tune.search.population import Population
from irkit.tune.space import sampled
from irkit.tune.space.moves import estimate
from tests.tune.cost.test_instruction_mix import NEST
from tests.tune.programs import product
from tests.tune.search.simulated import Simulated

MIX = instruction_mix(NEST)


@pytest.fixture(scope="module")
def small() -> Task:
    return task(product(64, 64, 64), machine=Machine(vector_bytes=32, vector_registers=16))


def built(spills: float) -> Built:
    return Built(True, 1.0, 1, MIX | {"spill stores": spills}, MIX_VERSION)


def spills_of(values: Values) -> float:
    return 9.0 if values.get("C.vectors", 1) > 2 else 0.0


def taught(task: Task, count: int) -> tuple[Forecast, list[Values]]:
    """Teach that what spills takes three times as long as the formulas expect."""
    residual, rng = Residual(), Random(2)
    population = Population(task.space, 0, residual, ())
    drawn = [values for _ in range(count) if (values := sampled(task.space, rng))]
    for values in drawn:
        spills = spills_of(values)
        seconds = estimate(task.space, values) * 1e-9 * (3.0 if spills else 1.0)
        population.add(values, 1.0, seconds, built(spills))
    residual.learn()
    return Forecast(task.space, population, residual), drawn


def test_what_cannot_win_is_told_from_its_assembly(small: Task) -> None:
    pytest.importorskip("lightgbm")
    forecast, drawn = taught(small, 150)
    spilling = next(values for values in drawn if spills_of(values))
    usual = estimate(small.space, spilling) * 1e-9
    assert forecast.seconds(spilling, built(9.0)) == pytest.approx(3 * usual, rel=0.3)
    assert (forecast.seconds(spilling, built(0.0)) or 0.0) < 2.2 * usual
    assert forecast.can_win(spilling, built(9.0), usual * 0.01)
    for each in drawn[1:40]:  # Before races have shown how good it is, nothing is skipped.
        found = built(spills_of(each))
        assert forecast.can_win(each, found, 1e9)
        forecast.note(
            each, (forecast.seconds(each, found) or 0.0) * (1.1 if len(str(each)) % 2 else 1)
        )
    assert not forecast.can_win(spilling, built(9.0), usual)
    assert forecast.can_win(spilling, built(9.0), 4 * usual)
    assert forecast.correlation > 0.9


def test_what_was_not_counted_or_otherwise_is_raced(small: Task) -> None:
    forecast, drawn = taught(small, 5)
    assert forecast.can_win(drawn[0], Built(True), 1e-9)
    assert forecast.seconds(drawn[0], built(9.0)) is None
    population = Population(small.space, 0, Residual(), ())
    assert len(population.assembly(built(0.0), 100.0)) == len(mix_row(MIX)) + 1
    assert population.assembly(Built(True, 1.0, 1, MIX, MIX_VERSION + 1), 100.0) == []
    assert population.assembly(Built(True, 1.0, 1, {"fma": 3.0}, MIX_VERSION), 100.0) == []


def test_a_search_races_less_and_replays_the_same(small: Task, tmp_path: Path) -> None:
    pytest.importorskip("lightgbm")

    def speed(values: Values) -> float:
        usual = estimate(small.space, {}) / estimate(small.space, values)
        return usual / (3.0 if spills_of(values) else 1.0)

    def counted(values: Values) -> Built:
        return built(spills_of(values))

    way = Simulated(speed, built=counted)
    with RecordFile(tmp_path / "r") as file:
        live = tune(small, trials=56, measure=way, records=file)
    searched = [each for each in live.records if each.stage == "search"]
    assert len(searched) == 56 == len(way.seen) - live.skipped
    assert live.skipped > 0
    assert live.built > live.correlation
    again = tune(small, trials=56, measure=Replay(tmp_path / "r"))
    assert [each.id for each in again.records] == [each.id for each in live.records]
    assert again.values == live.values
