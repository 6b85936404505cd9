import time
from collections.abc import Callable
from itertools import count
from random import Random

import pytest

from irkit.tune.measure.pair_times import interval, paired


@pytest.mark.parametrize("samples", [6, 9, 15, 41])
def test_the_interval_holds_the_median_95_times_of_100(samples: int) -> None:
    rng, held, runs = Random(samples), 0, 2000
    for _ in range(runs):
        found = interval([rng.lognormvariate(0.0, 0.3) for _ in range(samples)])
        held += found.low <= 1.0 <= found.high
    assert held / runs >= 0.94
    if samples > 9:  # And it is not the whole range, which would hold always.
        found = interval(sorted(rng.random() for _ in range(samples)))
        assert found.low > 0


def test_few_ratios_have_their_whole_range() -> None:
    found = interval([1.0, 1.2, 1.1])
    assert (found.middle, found.low, found.high, found.count) == (1.1, 1.0, 1.2, 3)


def work(steps: int) -> None:
    for _ in range(steps):
        pass


def test_times_in_turn_say_how_many_times_faster_the_first_is() -> None:
    found = paired(lambda: work(20_000), lambda: work(40_000), most=15, seconds=2.0)
    assert 1.5 < found.ratio.middle < 2.6
    assert found.ratio.low > 1


def test_a_first_that_cannot_win_is_given_up() -> None:
    found = paired(lambda: work(80_000), lambda: work(10_000), most=41, seconds=5.0)
    assert found.ratio.count <= 6
    whole = paired(lambda: work(8_000), lambda: work(1_000), most=9, seconds=5.0, stop_early=False)
    assert whole.ratio.count == 9


class Clock:
    """Time that passes only where something says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0
        monkeypatch.setattr("irkit.tune.measure.pair_times.thread_time_ns", lambda: self.now)

    def run(self, usual: int, seldom: int) -> Callable[[], None]:
        """Return a function that takes ``usual`` nanoseconds, each second time ``seldom``."""
        calls = count()

        def call() -> None:
            self.now += seldom if next(calls) % 2 else usual

        return call


@pytest.mark.parametrize(("longer", "pairs"), [(1.05, 5), (1.01, 15), (0.95, 15)])
def test_a_first_whose_shortest_time_is_longer_is_given_up_though_noise_wins_pairs(
    monkeypatch: pytest.MonkeyPatch, longer: float, pairs: int
) -> None:
    clock, usual = Clock(monkeypatch), 1_000_000
    first, second = clock.run(int(usual * longer), 2 * usual), clock.run(usual, 3 * usual)
    found = paired(first, second, most=15, seconds=5.0)
    assert found.ratio.count == pairs
    assert found.first == pytest.approx(longer * 1e-3)


@pytest.mark.parametrize(
    ("usual", "times", "pairs"),
    [(200_000, 2.5, 1), (200_000, 1.5, 3), (1_000, 2.5, 3)],
)
def test_a_first_that_takes_twice_as_long_is_given_up_at_once_if_it_is_long_enough_to_tell(
    monkeypatch: pytest.MonkeyPatch, usual: int, times: float, pairs: int
) -> None:
    clock = Clock(monkeypatch)
    longer = int(usual * times)
    found = paired(clock.run(longer, longer), clock.run(usual, usual), most=15, seconds=5.0)
    assert found.ratio.count == pairs
    assert found.ratio.middle == pytest.approx(1 / times)


@pytest.mark.parametrize(("gain", "pairs"), [(1.01, 6), (1.03, 15)])
def test_a_first_that_is_as_fast_is_given_up_and_one_that_is_faster_is_not(
    monkeypatch: pytest.MonkeyPatch, gain: float, pairs: int
) -> None:
    clock = Clock(monkeypatch)
    first, second = clock.run(1_000_000, 1_000_000), clock.run(*[int(gain * 1e6)] * 2)
    assert paired(first, second, most=15, seconds=5.0).ratio.count == pairs


def test_time_that_others_take_does_not_count() -> None:
    found = paired(lambda: time.sleep(0.002), lambda: work(20_000), most=5, seconds=1.0)
    assert found.first < 0.002
    on_the_clock = paired(
        lambda: time.sleep(0.002), lambda: work(20_000), most=3, seconds=1.0, own_time=False
    )
    assert on_the_clock.first >= 0.002


def test_what_runs_before_each_sample_is_not_timed() -> None:
    calls: list[int] = []
    paired(lambda: work(10), lambda: work(10), most=4, before=lambda: calls.append(1))
    assert len(calls) == 8
