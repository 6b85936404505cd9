import threading
import time

from irkit.tune.measure.turns import Turns


def _seen(turns: Turns, builders: int, races: int) -> tuple[int, int]:
    """Run builders beside races; return how many built at once, and how many beside a race."""
    running, most, beside = [0, 0], [0], [0]
    lock = threading.Lock()

    def work(kind: int) -> None:
        with turns.racing() if kind else turns.building():
            for step in (1, 0):
                with lock:
                    running[kind] += 1 if step else 0
                    most[0] = max(most[0], running[0])
                    beside[0] = max(beside[0], running[0] if running[1] else 0)
                if step:
                    time.sleep(0.002)
            with lock:
                running[kind] -= 1

    def race() -> None:
        for _ in range(races):
            time.sleep(0.001)
            work(1)

    def build() -> None:
        for _ in range(6):
            work(0)

    threads = [threading.Thread(target=build) for _ in range(builders)]
    threads.append(threading.Thread(target=race))
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return most[0], beside[0]


def test_nothing_is_built_while_something_is_timed_alone() -> None:
    _, beside = _seen(Turns(), 4, 6)
    assert beside == 0


def test_few_build_while_something_is_timed_beside_them() -> None:
    turns = Turns()
    turns.beside = 2
    most, beside = _seen(turns, 4, 6)
    assert most > 2
    assert 0 < beside <= 2
