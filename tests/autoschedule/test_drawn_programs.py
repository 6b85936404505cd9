"""Drawn tensor expressions: the automatic schedule raises nothing and keeps what they compute."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from irkit.autoschedule import GENERIC, Machine, auto_schedule, automatic_schedule
from irkit.core import Recorder, recording, rewrite, same, structural_hash
from irkit.debug import check
from irkit.fuzz.generators import Unusable
from irkit.fuzz.generators.draw_sample import draw_sample
from irkit.fuzz.picks import picks_of
from irkit.ir import LOOP_LEVEL, Block, For, PrimFunc, is_unscheduled
from irkit.passes.loop import auto_schedule as auto_schedule_pass
from irkit.phases import DEFAULT
from irkit.schedule import BlockRef, Schedule
from irkit.transform import Phase, Pipeline
from tests.draws import part_of

MACHINES = (GENERIC, Machine.with_vectors(32), Machine.with_vectors(16))


def drawn(count: int, start: int = 0) -> Iterator[PrimFunc]:
    """Yield functions over tensor expressions that nobody has scheduled."""
    seed = start
    while count:
        seed += 1
        try:
            func = draw_sample("programs", picks_of(seed)).ir
        except Unusable:
            continue
        if isinstance(func, PrimFunc) and is_unscheduled(func):
            count -= 1
            yield func


def remarks_of(func: PrimFunc, machine: Machine) -> list[str]:
    recorder = Recorder()
    with recording(recorder):
        auto_schedule(func, machine)
    return [each.text for each in recorder.remarks]


def checked(count: int, start: int) -> int:
    """Check drawn programs; return how many the automatic schedule changed."""
    changed = 0
    for number, func in enumerate(drawn(count, start)):
        machine = MACHINES[number % len(MACHINES)]
        p = auto_schedule_pass.using(machine=machine.settings)
        (step,) = Pipeline(LOOP_LEVEL, (Phase(0, "raw", (p,)),)).steps(func)
        changed += step.changed
        for verdict in check([step], samples=2, native=False):
            assert not verdict.is_wrong, f"{verdict}\n{func.script()}"
    return changed


def replayed(func: PrimFunc) -> bool:
    """Check that the schedule of a function prints as Python that makes the same function."""
    sch = automatic_schedule(func)
    if sch is None:
        return False
    again = Schedule(func, check="off")
    exec(sch.trace.as_python(), {"sch": again})
    assert same(again.func, sch.func), sch.trace.as_python()
    saved = Schedule(func, check="off")
    saved.replay(type(sch.trace).from_json(sch.trace.as_json()))
    assert same(saved.func, sch.func), sch.trace.as_python()
    return True


def test_drawn_programs_keep_their_results() -> None:
    assert checked(25, 0) > 10


@pytest.mark.long
def test_many_drawn_programs_keep_their_results() -> None:
    assert checked(600, 10_000) > 200


def test_schedules_of_drawn_programs_are_python_to_paste() -> None:
    assert sum(map(replayed, drawn(20, 500))) > 7


def code_of(count: int) -> str:
    """Return the schedules and the hashes of some scheduled programs, as one text."""
    texts: list[str] = []
    for func in drawn(count, 900):
        sch = automatic_schedule(func)
        if sch is not None:
            texts += [sch.trace.as_python(), structural_hash(DEFAULT.run(sch.func))]
    return "".join(texts)


@pytest.mark.long
def test_the_same_schedule_in_every_process_and_under_every_hash_seed() -> None:
    code = f"from {__name__} import code_of; import sys; sys.stdout.write(code_of(6))"
    expected = code_of(6)
    assert "sch." in expected
    for seed in part_of(("1", "77"), 2):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        found = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        assert found.stdout == expected


def test_a_rule_that_changes_results_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(sch: Schedule, block: Block, machine: Machine) -> None:
        loops = sch.get_loops(BlockRef(block.name))
        sch.parallel(loops[0])
        body = sch.func.body

        def late(loop: For) -> For:
            return loop.replace(begin=loop.begin + 1) if loop.kind == "parallel" else loop

        monkeypatch.setattr(sch, "_func", sch.func.replace(body=rewrite(body, late)))

    monkeypatch.setitem(auto_schedule.__globals__, "schedule_pointwise", wrong)
    with pytest.raises(AssertionError, match="auto-schedule"):
        checked(25, 0)
