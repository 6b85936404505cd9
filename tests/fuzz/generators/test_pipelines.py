"""Random pipelines are legal, and differ from the default one."""

from irkit.fuzz.generators.pipelines import edited, few, keep_as_it_is
from irkit.fuzz.picks import picks_of
from irkit.phases import DEFAULT


def test_pipelines_have_other_orders_and_other_options() -> None:
    names = {str(edited(DEFAULT, picks_of(number))[0]) for number in range(80)}
    assert len(names) > 60
    assert any("lanes=" in text for text in names)
    assert any(keep_as_it_is.name in text for text in names)


def test_pipelines_are_left_with_few_passes_or_none() -> None:
    counts = {len(few(DEFAULT, picks_of(number))[0].names) for number in range(40)}
    assert min(counts) == 0
    assert len(counts) > 5
