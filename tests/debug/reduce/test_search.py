"""The search makes many moves at once, then fewer, and ends at what no move makes smaller."""

from collections.abc import Sequence

from irkit.debug import Family, Search

Numbers = tuple[int, ...]


def _left_out(numbers: Numbers, gone: Sequence[int]) -> Numbers | None:
    left = tuple(each for each in numbers if each not in gone)
    return left if left != numbers else None


def _halves(numbers: Numbers, at: Sequence[int]) -> Numbers:
    return tuple(each // 2 if place in at else each for place, each in enumerate(numbers))


LEAVE_OUT: Family[Numbers] = Family("leave out", lambda numbers: numbers, _left_out)
HALVE: Family[Numbers] = Family("halve", lambda n: range(len(n)), _halves, together=False)
START = tuple(range(1, 65))


def search_for(needed: set[int], tried: list[Numbers], most: int = 1000) -> Search[Numbers]:
    def holds(numbers: Numbers) -> bool:
        tried.append(numbers)
        return needed <= set(numbers)

    return Search(holds, lambda numbers: numbers, seconds=60, candidates=most)


def test_two_parts_of_many_are_found_in_few_tries() -> None:
    tried = list[Numbers]()
    found = search_for({9, 50}, tried).run(START, [LEAVE_OUT])
    assert found == (9, 50)
    assert len(tried) < 40
    assert tried[0] == ()  # All moves at once come first.


def test_nothing_is_tried_twice_and_the_order_is_the_same_each_time() -> None:
    first, again = list[Numbers](), list[Numbers]()
    for tried in (first, again):
        search_for({3, 17, 40}, tried).run(START, [LEAVE_OUT, HALVE])
    assert first == again
    assert len(set(first)) == len(first)


def test_families_take_turns_until_none_finds_anything_smaller() -> None:
    def holds(numbers: Numbers) -> bool:
        return numbers == (16, 5) or 8 in numbers

    search = Search(holds, lambda numbers: numbers, seconds=60, candidates=1000)
    assert search.run((16, 5), [LEAVE_OUT, HALVE]) == (8,)
    assert not search.is_over


def test_moves_that_are_not_made_together_are_made_one_by_one() -> None:
    made = list[int]()

    def apply(numbers: Numbers, at: Sequence[int]) -> Numbers:
        made.append(len(at))
        return _halves(numbers, at)

    alone = Family("halve", lambda numbers: range(len(numbers)), apply, together=False)
    search_for({0}, []).shrink((8, 8, 8), alone)
    assert set(made) == {1}


def test_the_search_ends_at_its_candidates_and_reports_what_it_accepted() -> None:
    told = list[tuple[str, Numbers]]()
    tried = list[Numbers]()
    search = search_for({64}, tried, most=3)
    search.progress = lambda name, numbers: told.append((name, numbers))
    search.run(START, [LEAVE_OUT])
    assert (len(tried), search.count, search.is_over) == (3, 3, True)
    assert told == [("leave out", tuple(range(33, 65))), ("leave out", tuple(range(49, 65)))]
