"""Runs of equal blocks in a graph: found where they are planted, and nowhere else."""

from itertools import pairwise

from hypothesis import given, strategies as st

from irkit.inspector_web.views.repeated_blocks import LEAST_HIDDEN, Repeats, repeated_blocks

Part = tuple[list[str], dict[int, list[int]]]
# Two branches that meet, on what came before.
FIRE = [("squeeze", [-1]), ("left", [-1]), ("right", [-2]), ("concat", [-1, -2])]


def program(*parts: list[tuple[str, list[int]]]) -> Part:
    """Put blocks after each other; each box uses those so many places before it."""
    labels: list[str] = []
    uses: dict[int, list[int]] = {}
    for label, before in [each for part in parts for each in part]:
        uses[len(labels)] = [len(labels) + at for at in before if len(labels) + at >= 0]
        labels.append(label)
    return labels, uses


def found(*parts: list[tuple[str, list[int]]]) -> list[Repeats]:
    labels, uses = program(*parts)
    return repeated_blocks(labels, uses, [""] * len(labels))


POOL = [("pool", [-1])]


def test_blocks_with_something_between_are_runs_of_the_same_block() -> None:
    runs = found(POOL, FIRE, FIRE, POOL, FIRE, FIRE, POOL, FIRE, FIRE, FIRE, FIRE, POOL)
    assert runs == [Repeats(1, 4, 2), Repeats(10, 4, 2), Repeats(19, 4, 4)]


def test_blocks_that_use_their_parts_in_another_way_are_not_equal() -> None:
    other = [*FIRE[:3], ("concat", [-1, -1])]
    assert found(POOL, FIRE, other, POOL) == []


def test_what_a_block_uses_from_outside_does_not_count() -> None:
    dense = [
        [("conv", [-1]), ("relu", [-1]), ("concat", [-1, *range(-3 * n - 3, -2, 3)])]
        for n in range(6)
    ]
    assert found(POOL, *dense) == [Repeats(1, 3, 6)]


def test_neighbours_that_have_nothing_to_do_with_each_other_are_no_block() -> None:
    assert found(*[[("a", [-3]), ("b", [-3]), ("c", [-3])]] * 5) == []


def test_a_group_is_not_torn_apart() -> None:
    labels, uses = program(POOL, *[FIRE] * 4)
    groups = ["", *(["g"] * 5), *([""] * 11)]
    runs = repeated_blocks(labels, uses, groups)
    edges = {at for run in runs for at in range(run.first, run.end + 1, run.length)}
    assert edges
    assert not edges & {2, 3, 4, 5}


@given(
    st.integers(2, 6),
    st.integers(3, 5),
    st.lists(st.sampled_from("xyz"), max_size=4),
    st.lists(st.sampled_from("xyz"), max_size=4),
)
def test_a_planted_run_is_found_whole(length: int, count: int, before: str, after: str) -> None:
    block = [(f"op{at}", [-1]) for at in range(length)]
    sides = [[(label, [-1]) for label in side] for side in (before, after)]
    runs = found(sides[0], *[block] * count, sides[1])
    wanted = Repeats(len(before), length, count)
    assert (wanted in runs) == (wanted.hidden >= LEAST_HIDDEN)
    assert all(run.count >= 2 for run in runs)
    assert all(one.end <= other.first for one, other in pairwise(runs))
