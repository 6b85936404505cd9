"""The catalogue of passes: the bad ones are found, and no legal one raises an alarm."""

import random
from collections import Counter

import pytest

from irkit.debug import check
from tests.catalogue.entries import Entry
from tests.catalogue.missed import FALSE_ALARMS, MISSED
from tests.catalogue.run import GROUPS, SECOND, THIRD, Result, entries, judge, run
from tests.draws import part_of

SAMPLE = 6
"""Bad passes of each class in the fast test."""
KNOWN = {*MISSED, *FALSE_ALARMS}


def _key(entry: Entry) -> tuple[str, str]:
    return entry.group, entry.name


def _quick(entry: Entry) -> bool:
    return not entry.contracts and _key(entry) not in KNOWN


def _said(results: list[Result]) -> list[str]:
    return [f"{r.entry.group}: {r.entry.name} [{r.answer}] {r.said}" for r in results]


def test_there_are_enough_of_each_class() -> None:
    for legal, least in ((False, 130), (True, 230)):
        found = entries(legal=legal)
        counted = Counter(entry.group for entry in found)
        assert len(found) >= least
        assert min(counted[group] for group in GROUPS) >= 10
        assert len({_key(entry) for entry in found}) == len(found)
        assert all(entry.why for entry in found)


def test_no_alarm_on_a_legal_pass() -> None:
    legal = [entry for entry in entries(legal=True) if _quick(entry)]
    assert len(legal) > 230
    results = list(run(part_of(legal, 4)))
    assert not _said([result for result in results if not result.right])


def test_a_sample_of_the_bad_passes_is_found() -> None:
    draw = random.Random(0)
    chosen: list[Entry] = []
    for group in GROUPS:
        own = [entry for entry in entries(group, legal=False) if _quick(entry)]
        chosen += draw.sample(own, min(SAMPLE, len(own)))
    assert not _said([result for result in run(chosen) if not result.right])


def test_the_second_set() -> None:
    found = entries(groups=SECOND)
    assert len({_key(entry) for entry in found}) == len(found)
    quick = [entry for entry in found if not entry.contracts and not entry.isolated]
    assert len(quick) > 140
    assert not _said([result for result in run(part_of(quick, 3)) if not result.right])


def test_the_third_set() -> None:
    found = entries(groups=THIRD)
    assert len(found) == len({(entry.legal, *_key(entry)) for entry in found}) == 148
    known = [entry for entry in found if entry.legal or _key(entry) not in MISSED]
    assert not _said([result for result in run(part_of(known, 3)) if not result.right])


@pytest.mark.long
def test_the_second_set_in_processes_of_their_own() -> None:
    slow = entries("conduct", groups=SECOND)
    assert len(slow) == 13
    assert not _said([result for result in run(slow) if not result.right])


@pytest.mark.long
@pytest.mark.parametrize("group", [*GROUPS, *THIRD])
def test_the_whole_catalogue(group: str) -> None:
    results = list(run(entries(group, groups=(group,))))
    wrong = {_key(result.entry) for result in results if not result.right}
    known = {key for key in KNOWN if key[0] == group}
    assert not _said([result for result in results if _key(result.entry) in wrong - known])
    assert not known - wrong, "judged rightly now: take them off the lists in missed.py"


@pytest.mark.long
@pytest.mark.parametrize("key", MISSED, ids=lambda key: key[1].replace(" ", "-"))
def test_a_missed_pass_is_wrong(key: tuple[str, str]) -> None:
    inputs = MISSED[key].inputs
    own = entries(key[0], legal=False, groups=(key[0],))
    entry = next(e for e in own if e.name == key[1])
    if inputs is None:
        assert not judge(entry).right
        return
    rows = check(entry.pipeline().steps(entry.subject()), inputs)
    assert any(row.is_wrong for row in rows), rows
