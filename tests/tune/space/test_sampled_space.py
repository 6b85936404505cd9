import pickle
from random import Random

import pytest

from irkit import Schedule
from irkit.core import IRKitError, ScheduleError
from irkit.schedule import BlockRef
from irkit.tune import resumed_task, task, tune
from irkit.tune.space import SampledSpace, Task, mutated, sampled, started
from irkit.tune.space.sampled_space import _tiles
from tests.tune.programs import product
from tests.tune.search.simulated import Simulated
from tests.tune.space.test_spaces import results


def tiled(n: int) -> Schedule:
    """Tile a product as the trace says."""
    sch = Schedule(product(n, 32, 6), seed=1)
    i, j, k = sch.get_loops(BlockRef("C"))
    outer, inner = sch.split(i, sch.sample_perfect_tile(i, 2, max_innermost_factor=8))
    far, near = sch.split(j, [None, sch.sample_categorical([8, 16, 32])])
    sch.reorder(outer, far, k, inner, near)
    sch.vectorize(near)
    return sch


@pytest.fixture(scope="module")
def found() -> Task:
    return task(tiled, (12,))


def test_each_sampling_step_is_a_decision(found: Task) -> None:
    assert isinstance(found.space, SampledSpace)
    (group,) = found.space.groups({})
    knobs = group.sketches[1].knobs
    assert [name.partition(":")[2] for name in knobs] == [
        "sample_perfect_tile",
        "sample_categorical",
    ]
    tiles, lanes = knobs.values()
    assert sorted(tiles) == [[2, 6], [3, 4], [4, 3], [6, 2], [12, 1]]
    assert lanes == (0, 1, 2)


def test_other_decisions_are_other_loops_that_compute_the_same(found: Task) -> None:
    rng, wanted = Random(0), results(found.func)
    space = pickle.loads(pickle.dumps(found.space))
    assert space.derive(started(space)).func.script() == tiled(12).func.script()
    texts: set[str] = set()
    for _ in range(8):
        values = mutated(space, sampled(space, rng), rng)
        made = space.derive(values).func
        texts.add(made.script())
        assert results(made) == wanted
    assert len(texts) > 3


def test_a_decision_that_is_not_legal_is_refused(found: Task) -> None:
    tile = next(iter(found.space.groups({})[0].sketches[1].knobs))
    for values in ({tile: [5, 2]}, {tile: 3}, {"9:sample_categorical": 1}):
        with pytest.raises(ScheduleError):
            found.space.derive(values)


def test_the_search_finds_the_best_decisions(found: Task) -> None:
    tile, lanes = found.space.groups({})[0].sketches[1].knobs

    def speed(values: dict[str, object]) -> float:
        return 2.0 if values.get(tile) == [3, 4] and values.get(lanes) == 1 else 1.0

    result = tune(found, trials=15, measure=Simulated(speed))
    assert result.values == {tile: [3, 4], lanes: 1}


def test_records_run_no_function_that_samples(found: Task) -> None:
    with pytest.raises(IRKitError, match=r"test_sampled_space\.py:tiled"):
        resumed_task(found.line())


def test_tiles_are_all_lists_of_factors() -> None:
    made = list(_tiles(12, 3))
    assert len(made) == len({tuple(each) for each in made}) == 18
    assert all(a * b * c == 12 for a, b, c in made)
