"""Values are computed once for all threads that ask for them."""

import threading

import pytest

from irkit.inspector_web.single_flight import SingleFlight


def test_a_value_requested_by_many_threads_is_computed_once() -> None:
    known = SingleFlight[str, int]()
    begun, go = threading.Event(), threading.Event()
    made: list[int] = []

    def make() -> int:
        begun.set()
        go.wait(20)
        made.append(1)
        return 7

    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda: answers.append(known.get("a", make))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    assert begun.wait(20)
    assert known.get("b", lambda: 8) == 8  # Another question does not wait.
    go.set()
    for thread in threads:
        thread.join(20)
    assert (answers, made) == ([7] * 4, [1])


def test_a_failed_computation_is_tried_again() -> None:
    known = SingleFlight[str, int]()
    with pytest.raises(ZeroDivisionError):
        known.get("a", lambda: 1 // 0)
    assert known.get("a", lambda: 3) == 3


def test_the_cache_keeps_the_last_used_values_within_its_size() -> None:
    known = SingleFlight[int, str](most=6, size=len)
    for key in range(3):
        known.get(key, lambda: "ab")
    known.get(0, lambda: "not made again")
    known.get(3, lambda: "cd")
    assert [known.known(key) for key in range(4)] == ["ab", None, "ab", "cd"]
