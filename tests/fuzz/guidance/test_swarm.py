"""Swarms: some things are left out for a block of cases, and choices are recorded as if not."""

from irkit.fuzz.campaign.draw import draw_of
from irkit.fuzz.generators import KINDS, Unusable
from irkit.fuzz.guidance.swarm import BLOCK, swarm_of, with_swarm
from irkit.fuzz.picks import Picks, picks_of
from irkit.fuzz.shrink.choices import record_counted, replay_choices


def drawn(picks: Picks) -> set[str]:
    return {picks.pick("abcdefgh") for _ in range(20)}


def test_every_second_block_is_a_swarm() -> None:
    assert [swarm_of(block * BLOCK) for block in range(5)] == [0, 1, 0, 2, 0]
    assert swarm_of(2 * BLOCK - 1) == 1


def test_swarms_leave_out_different_things_and_the_same_again() -> None:
    drawings = {str(n): drawn(with_swarm(picks_of(1), f"0 {n}")) for n in range(40)}
    assert drawings["3"] == drawn(with_swarm(picks_of(1), "0 3"))
    sizes = {len(each) for each in drawings.values()}
    assert min(sizes) <= 5 < max(sizes)
    assert len({frozenset(each) for each in drawings.values()}) > 4


def test_a_loop_that_waits_for_what_is_left_out_ends() -> None:
    for number in range(40):
        picks = with_swarm(picks_of(1), str(number))
        while picks.below(3) != 2:
            pass


def test_recorded_choices_draw_the_same_without_the_swarm() -> None:
    tried = 0
    for number in range(BLOCK, BLOCK + 12):
        draw = draw_of(5, number, KINDS, (), swarm=True)
        assert draw.swarm == 1
        picks, kept = record_counted(draw.picks)
        try:
            sample = draw.sample(picks)
        except Unusable:
            continue
        again = draw.sample(replay_choices([choice for choice, _ in kept]))
        text = getattr(sample.ir, "script", lambda ir=sample.ir: ir)()
        assert text == getattr(again.ir, "script", lambda ir=again.ir: ir)()
        tried += 1
    assert tried > 6
