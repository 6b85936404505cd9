"""Random schedules are legal, and keep what a program computes."""

from collections import Counter

import pytest

from irkit.core import ScheduleError
from irkit.debug import compare, scheduled_steps
from irkit.fuzz.generators import Kind, Sample
from irkit.fuzz.generators.draw_sample import choices_of_seeds, draw_sample
from irkit.fuzz.generators.sample import Unusable
from irkit.fuzz.generators.schedules.attempt import WrongSchedule
from irkit.fuzz.generators.seed_corpus.schedules import SCHEDULES
from irkit.fuzz.judge import judge
from irkit.fuzz.judge.judge import primitive_in
from irkit.fuzz.picks import beginning_with, picks_of
from irkit.ir import PrimFunc, interpret as run_loops


def draw_samples(kind: Kind, count: int) -> list[Sample]:
    """Draw samples, of which hardly any can be unusable."""
    found: list[Sample] = []
    for number in range(count):
        try:
            found.append(draw_sample(kind, picks_of(number)))
        except Unusable:
            continue
    assert len(found) >= 0.97 * count
    return found


def _loops_differ(sample: Sample, func: PrimFunc) -> str:
    assert isinstance(sample.ir, PrimFunc)
    for inputs, told, allowed in zip(sample.inputs, sample.expected, sample.allowed, strict=True):
        args, own = inputs.copied(), inputs.copied()
        run_loops(func, *args)
        run_loops(sample.ir, *own)
        expected = told or tuple(own[place] for place in sample.outputs)
        for place, wanted, limit in zip(sample.outputs, expected, allowed, strict=True):
            apart = compare(wanted, args[place], limit, zeros_have_signs=False)
            if apart.at is not None:
                return str(apart)
    return ""


@pytest.mark.parametrize("kind", ["schedules", "pipelines"])
def test_scheduled_and_lowered_programs_compute_the_same(kind: Kind) -> None:
    for number, sample in enumerate(draw_samples(kind, 40)):
        assert isinstance(sample.ir, PrimFunc)
        steps = list(scheduled_steps(sample.ir, sample.schedule, sample.pipeline))
        last = steps[-1].after if steps else sample.ir
        assert isinstance(last, PrimFunc)
        assert _loops_differ(sample, last) == "", number


@pytest.mark.long
def test_schedules_have_accepted_steps_between_refused_ones() -> None:
    features = Counter(name for sample in draw_samples("schedules", 60) for name in sample.features)
    names = {name.split(":")[0] for name in features}
    assert {"primitive", "refused"} <= names


def _written(name: str) -> Sample:
    """Draw a whole schedule of the seed corpus."""
    lead = choices_of_seeds("schedules")[list(SCHEDULES).index(name)]
    return draw_sample("schedules", beginning_with(lead, picks_of(0)))


@pytest.mark.long
def test_schedules_of_the_seed_corpus_are_drawn_and_judged() -> None:
    for name in SCHEDULES:
        sample = _written(name)
        assert len(sample.schedule.as_python().splitlines()) >= len(SCHEDULES[name][1])
        assert judge(sample, native=False).status == "ok"


def test_a_primitive_that_refuses_a_legal_step_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(func: PrimFunc, *rest: object) -> PrimFunc:
        raise ScheduleError(f"{func.name} may not be moved {rest}")

    monkeypatch.setattr("irkit.schedule.methods.blocks.compute_at", refuses)
    with pytest.raises(WrongSchedule, match="compute_at: it is legal, but failed") as found:
        _written("MOVE")
    assert primitive_in(found.value) == "sch.compute_at"
