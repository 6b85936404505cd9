"""Random programs that are scheduled stage by stage."""

import pytest

from irkit.core import ScheduleError
from irkit.fuzz import judge, picks_of
from irkit.fuzz.generators import Unusable
from irkit.fuzz.generators.schedules import stage_schedules
from irkit.fuzz.generators.schedules.stage_schedules import StageScheduleDraws, draw_staged
from tests.draws import few_or_all


def test_programs_scheduled_stage_by_stage_are_right() -> None:
    tried = 0
    count = few_or_all(20, 60)
    for number in range(count):
        try:
            sample = draw_staged(picks_of(number))
        except Unusable:
            continue
        found = judge(sample, native=False)
        assert found.ok, found.message
        tried += 1
    assert tried > count * 2 // 3


def test_a_refused_directive_that_changes_something_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def half_done(s: StageScheduleDraws) -> None:
        stage = s.stage()
        stage.split(s.loop(stage), 1)
        raise ScheduleError("no")

    monkeypatch.setattr(
        stage_schedules, "DIRECTIVES", dict.fromkeys(stage_schedules.DIRECTIVES, half_done)
    )
    with pytest.raises(AssertionError, match="refused but changed something"):
        draw_staged(picks_of(2))
