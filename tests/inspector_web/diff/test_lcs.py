"""Common subsequences are as long as those of the textbook table, on random texts."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings

from irkit.inspector_web import Ids
from irkit.inspector_web.diff import lcs as lcs_module
from irkit.inspector_web.diff.lcs import common_lines, in_band
from irkit.inspector_web.diff.myers import myers_lcs
from tests.inspector_web.diff.diff_programs import texts


def longest_common(a: Sequence[int], b: Sequence[int]) -> int:
    """The textbook table, which shares nothing with what is tested."""
    above = [0] * (len(b) + 1)
    for x in a:
        row = [0]
        for j, y in enumerate(b):
            row.append(above[j] + 1 if x == y else max(above[j + 1], row[j]))
        above = row
    return above[-1]


def ids(values: Sequence[int]) -> Ids:
    return np.array(values, dtype=np.int32)


@given(texts())
@settings(max_examples=150, deadline=None, derandomize=True)
def test_as_many_lines_are_kept_as_possible(pair: tuple[list[int], list[int]]) -> None:
    before, after = ids(pair[0]), ids(pair[1])
    kept = common_lines(before, after)
    assert kept.exact
    assert [pair[0][at] for at in kept.before] == [pair[1][at] for at in kept.after]
    assert (np.diff(kept.before) > 0).all()
    assert (np.diff(kept.after) > 0).all()
    assert len(kept.before) == longest_common(*pair)


@pytest.mark.parametrize("band", [1, 2, 16])
@pytest.mark.parametrize("few", [0, 3])
@given(texts())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_each_algorithm_finds_a_longest_subsequence(
    few: int, band: int, pair: tuple[list[int], list[int]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lcs_module, "SMALL", 0)
        patch.setattr(lcs_module, "MIDDLING", 0)
        patch.setattr(lcs_module, "FIRST_BAND", band)
        patch.setattr(lcs_module, "myers_lcs", lambda a, b: myers_lcs(a, b, few))  # pyright: ignore
        kept = common_lines(ids(pair[0]), ids(pair[1]))
    assert [pair[0][at] for at in kept.before] == [pair[1][at] for at in kept.after]
    assert len(kept.before) == longest_common(*pair)


@given(texts())
@settings(max_examples=100, deadline=None, derandomize=True)
def test_a_band_as_wide_as_the_texts_contains_every_path(pair: tuple[list[int], list[int]]) -> None:
    before, after = pair
    assert len(in_band(before, after, len(before) + len(after))) == longest_common(before, after)


@given(texts())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_texts_too_large_for_an_exact_result_are_still_matched(
    pair: tuple[list[int], list[int]],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("SMALL", "MIDDLING", "MOST_CELLS"):
            patch.setattr(lcs_module, name, 0)
        patch.setattr(lcs_module, "myers_lcs", nothing_found)
        kept = common_lines(ids(pair[0]), ids(pair[1]))
    assert [pair[0][at] for at in kept.before] == [pair[1][at] for at in kept.after]
    assert (np.diff(kept.before) > 0).all()
    assert (np.diff(kept.after) > 0).all()


def nothing_found(a: Ids, b: Ids) -> None:
    return None
