import time
from collections import Counter
from math import exp
from pathlib import Path
from random import Random

import pytest

from irkit.autoschedule import Machine
from irkit.tune import (
    Record,
    RecordFile,
    Replay,
    Residual,
    Task,
    TuneProgress,
    rank_correlation,
    read_records,
    task,
    tune,
    tune_all,
)
from irkit.tune.records import Values, best_of, key_of
from irkit.tune.search.population import Population
from irkit.tune.space import sampled
from irkit.tune.space.moves import estimate
from tests.tune.programs import nearest, product
from tests.tune.search.simulated import Simulated, by_rows


@pytest.fixture(scope="module")
def small() -> Task:
    return task(product(64, 64, 64), machine=Machine(vector_bytes=32, vector_registers=16))


def test_the_search_finds_what_is_fast(small: Task) -> None:
    result = tune(small, trials=200, measure=Simulated(by_rows))
    assert result.improved
    assert result.values["C.rows"] == 5
    assert result.speedup > 1.85
    assert result.low > 1


def test_a_winner_of_the_search_that_loses_the_last_race_is_not_used(small: Task) -> None:
    def slower(values: Values) -> float:
        return 0.9 if values else 1.0

    result = tune(small, trials=32, measure=Simulated(by_rows, slower))
    assert not result.improved
    assert (result.values, result.speedup) == ({}, 1.0)


def test_a_winner_by_chance_is_not_used(small: Task) -> None:
    races: Counter[str] = Counter()

    def lucky(values: Values) -> float:
        races[key_of(values)] += bool(values)
        return 1.5 if races[key_of(values)] == 1 and values else 1.0

    result = tune(small, trials=32, measure=Simulated(by_rows, lucky))
    assert max(races.values()) == 2
    assert not result.improved
    assert not best_of(result.records)


@pytest.mark.parametrize("ratios", [(1.5, 1.2), (1.2, 1.5)])
def test_a_winner_claims_what_its_lesser_race_showed(
    small: Task, ratios: tuple[float, float]
) -> None:
    races: Counter[str] = Counter()

    def raced(values: Values) -> float:
        races[key_of(values)] += bool(values)
        return ratios[min(races[key_of(values)], 2) - 1] if values else 1.0

    result = tune(small, trials=32, measure=Simulated(by_rows, raced))
    assert result.speedup == pytest.approx(1.2)
    (best,) = best_of(result.records).values()
    assert best.score == pytest.approx(1.2)


def test_within_the_noise_the_default_stays(small: Task) -> None:
    result = tune(small, trials=32, measure=Simulated(lambda values: 1.01 if values else 1.0))
    assert not result.improved


def test_what_crashes_is_a_record_and_never_wins(tmp_path: Path, small: Task) -> None:
    def crashing(values: Values) -> float:
        return 0.0 if values.get("C.sketch") == "panels" else by_rows(values)

    with RecordFile(tmp_path / "r") as file:
        result = tune(small, trials=40, measure=Simulated(crashing), records=file)
    found = read_records(tmp_path / "r")
    assert list(found.tasks) == [small.hash]
    assert len(found.candidates) == len(result.records) >= 40
    assert {each.verdict for each in found.candidates} >= {"crash"}
    assert not result.improved


def test_what_was_refused_whatever_its_sizes_are_is_not_proposed_again(small: Task) -> None:
    way = Simulated(lambda values: 0.0 if values.get("C.sketch") == "panels" else by_rows(values))
    tune(small, trials=48, measure=way)
    assert any("panels" in each for each in way.seen[:16])
    assert not any("panels" in each for each in way.seen[16:])


def test_the_same_seed_visits_the_same_candidates(small: Task) -> None:
    first, second, other = (Simulated(by_rows) for _ in range(3))
    tune(small, trials=48, measure=first, seed=1)
    tune(small, trials=48, measure=second, seed=1)
    tune(small, trials=48, measure=other, seed=2)
    assert first.seen == second.seen != other.seen
    assert len(set(first.seen)) == 48


def test_a_replay_of_records_visits_the_same_and_names_the_same_winner(
    tmp_path: Path, small: Task
) -> None:
    with RecordFile(tmp_path / "r") as file:
        live = tune(small, trials=48, measure=Simulated(by_rows), records=file)
    again = tune(small, trials=48, measure=Replay(tmp_path / "r"))
    assert [each.id for each in again.records] == [each.id for each in live.records]
    assert again.values == live.values


def test_a_run_that_was_killed_goes_on(tmp_path: Path, small: Task) -> None:
    with RecordFile(tmp_path / "r") as file:
        tune(small, trials=32, measure=Simulated(by_rows), records=file)
    lines = (tmp_path / "r").read_bytes().splitlines(keepends=True)
    (tmp_path / "r").write_bytes(b"".join(lines[:25]) + lines[25][:40])
    known = read_records(tmp_path / "r")
    more = Simulated(by_rows)
    with RecordFile(tmp_path / "r") as file:
        result = tune(small, trials=40, measure=more, records=file, known=known)
    assert len(more.seen) == 40 - len(known.candidates)
    assert result.improved
    found = read_records(tmp_path / "r")
    assert len(found.damaged) == 1
    measured = [each.id for each in found.candidates if each.stage == "search"]
    assert len(set(measured)) == len(measured) == 40


def test_hints_are_measured_first(small: Task) -> None:
    hint = {
        "C.sketch": "panels", "C.turned": 0, "C.rows": 5, "C.vectors": 3, "C.lanes": 4,
        "C.packed": 1, "C.stacked": 0, "C.by_rows": 0, "C.unroll": 1, "C.strip": 1,
    }  # fmt: skip
    way = Simulated(by_rows)
    tune(small, trials=16, measure=way, hints=[hint])
    assert '"C.rows":5' in way.seen[0]


def test_progress_tells_the_best_the_noise_and_the_failures(small: Task) -> None:
    told: list[tuple[int, float, str]] = []

    def note(progress: TuneProgress, record: Record | None) -> None:
        told.append((progress.trials, progress.score, progress.phase))

    tune(small, trials=32, measure=Simulated(by_rows), callbacks=[note])
    assert [trials for trials, _, phase in told if phase == "search"] == list(range(1, 33))
    assert sorted(score for _, score, _ in told) == [score for _, score, _ in told]
    assert told[-1][2] == "final"


def test_time_bounds_the_whole_search(small: Task) -> None:
    started = time.monotonic()
    tune(small, time=0.5, measure=Simulated(by_rows))
    assert time.monotonic() - started < 10


def test_tasks_share_time_by_weight_and_the_weightiest_is_first() -> None:
    light, heavy = task(product(16, 16, 16), weight=1.0), task(nearest(16, 16, 16), weight=9.0)
    results = tune_all([light, heavy], trials=8, measure=Simulated(lambda _: 1.0))
    assert [each.task.hash for each in results] == [heavy.hash, light.hash]


def test_what_is_learned_ranks_better_than_the_formulas(small: Task) -> None:
    pytest.importorskip("lightgbm")
    space, rng, residual = small.space, Random(3), Residual()
    known = Population(space, 0, residual, ())
    for values in filter(None, (sampled(space, rng) for _ in range(300))):
        known.add(values, by_rows(values), 1e-3 / by_rows(values))
    residual.learn()
    drawn = [values for _ in range(128) if (values := sampled(space, rng))]
    measured = [1 / by_rows(values) for values in drawn]
    formulas = [estimate(space, values) for values in drawn]
    errors = residual.predict([known.features(values, estimate(space, values)) for values in drawn])
    learned = [each * exp(error) for each, error in zip(formulas, errors, strict=True)]
    assert rank_correlation(learned, measured) > rank_correlation(formulas, measured) + 0.2


def test_the_result_tells_how_well_candidates_were_ranked(small: Task) -> None:
    result = tune(small, trials=64, measure=Simulated(by_rows), residual=Residual())
    assert result.correlation
    assert -1 <= result.correlation <= 1
