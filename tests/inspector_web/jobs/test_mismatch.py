"""The wrong elements of a step: slices, tiles, and who wrote the first one."""

import numpy as np
from hypothesis import given, settings, strategies as st

from irkit.inspector_web.jobs.mismatch import (
    MOST_COLUMNS,
    MOST_ROWS,
    error_slices,
    step_mismatch,
)
from irkit.transform import Trace
from tests.inspector_web.jobs.verdicts_programs import COPY, step, wrong_trace


def spoiled() -> Trace:
    return Trace(wrong_trace())


def test_the_first_wrong_element_leads_to_its_line_and_iteration() -> None:
    made = spoiled()
    at = next(each.index for each in made if each.name == "spoil")
    found = step_mismatch(made[at], at)
    assert (found.step, found.buffer, found.at, found.shape) == (at, "C", (0,), (8,))
    assert (found.found, found.wrong) == ("99.5", 4)
    after = made[at].after.script().splitlines()
    assert "99.5" in after[found.after.line - 1]
    assert found.after.iteration == (("j", 0),)
    assert (found.after.value, found.after.count) == ("99.5", 2)
    assert found.before.value == found.expected
    (only,) = found.slices
    assert [tile.at for tile in only.tiles] == [(0,), (1,), (2,), (3,)]


def test_an_element_that_is_no_longer_written_has_no_writer() -> None:
    found = step_mismatch(step(COPY, COPY.replace("serial(0, 8)", "serial(0, 7)")), 0)
    assert found.at == (7,)
    assert found.after.count == 0
    assert (found.before.count, found.before.iteration) == (1, (("i", 7),))


def test_a_step_that_keeps_the_meaning_says_so() -> None:
    assert "same bits" in step_mismatch(step(COPY, COPY.replace("j", "k")), 0).note


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 90), max_size=2).flatmap(
        lambda plane: st.sampled_from([plane, [3, *plane]])
    ),
    st.integers(0, 2**32 - 1),
)
def test_every_wrong_element_is_in_one_tile_and_the_worst_stands_for_it(
    shape: list[int], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    one = rng.random(shape, dtype=np.float32)
    wrong = np.asarray(rng.random(shape) < 0.02)
    other = np.where(wrong, one + rng.random(shape, dtype=np.float32) + 1, one).astype(np.float32)
    other = np.where(wrong & (rng.random(shape) < 0.1), np.float32("nan"), other)
    slices = error_slices(one, other)
    assert sum(each.wrong for each in slices) == np.count_nonzero(wrong)
    apart = np.nan_to_num(np.abs(other - one, dtype=np.float64), nan=np.inf)
    rank, covered = len(shape), 0
    for each in slices:
        assert each.size[0] <= MOST_ROWS
        assert each.size[1] <= MOST_COLUMNS
        for tile in each.tiles:
            place = (0, 0, *tile.at)[-2:]
            assert (tile.row, tile.column) == tuple(
                at // size for at, size in zip(place, each.tile, strict=True)
            )
            plane = apart[tile.at[: max(0, rank - 2)]]
            plane = plane.reshape((1,) * (2 - plane.ndim) + plane.shape)
            part = plane[
                tile.row * each.tile[0] : (tile.row + 1) * each.tile[0],
                tile.column * each.tile[1] : (tile.column + 1) * each.tile[1],
            ]
            assert part.max() == plane[place]
            covered += np.count_nonzero(part)
            assert 1 <= tile.level <= 4
            assert tile.found == str(other[tile.at])
    assert covered == np.count_nonzero(wrong)
