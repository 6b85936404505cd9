"""``--schedule`` of ``irkit check``, ``bisect`` and ``reduce``, as a user calls them."""

import runpy
from pathlib import Path

import pytest

from irkit.ir import parse
from irkit.schedule import Schedule, ScheduleTrace
from tests.cli.shell import Shell

KERNEL = """\
def scale(A: f32[6, 4], C: f32[6, 4]):
    for i in serial(0, 6):
        for j in serial(0, 4):
            with block("C"):
                vi = axis.spatial(6, i)
                vj = axis.spatial(4, j)
                C[vi, vj] = A[vi, vj] * f32(2.0)
"""


@pytest.fixture
def folder(shell: Shell) -> Shell:
    shell.write("scale.irs", KERNEL)
    sch = Schedule(parse(KERNEL))
    i, j = sch.get_loops(sch.get_block("C"))
    outer, _ = sch.split(i, [None, 4])
    sch.unroll(j)
    sch.parallel(outer)
    sch.trace.save(shell.folder / "trace.json")
    return shell


@pytest.fixture
def lose_guards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("irkit.schedule.primitives.loops.split._guard", lambda body, _: body)


def test_a_right_schedule_passes(folder: Shell) -> None:
    done = folder("check", "scale.irs", "--schedule", "trace.json")
    assert done.code == 0, done.err
    assert "schedule" in done.out
    assert "step 3: (i_0, i_1) = sch.split(i, [None, 4])" in done.out
    done = folder("bisect", "scale.irs", "--schedule", "trace.json")
    assert (done.code, done.out) == (0, "every step keeps the meaning\n")
    done = folder("reduce", "scale.irs", "--schedule", "trace.json")
    assert done.code == 2
    assert "nothing to reduce" in done.err


@pytest.mark.usefixtures("lose_guards")
def test_check_and_bisect_name_the_guilty_step(folder: Shell) -> None:
    for verb in ("check", "bisect"):
        done = folder(verb, "scale.irs", "--schedule", "trace.json")
        assert done.code == 1, done.err
        assert "schedule: 'step 3: (i_0, i_1) = sch.split(i, [None, 4])' on 'scale'" in done.out
    assert "the step is from " in done.out
    assert "+        for i_1 in serial(0, 4):" in done.out
    assert not list(Path().glob("irkit-crash-*"))


def test_a_folder_holds_the_smallest_schedule_and_a_test_that_fails(
    folder: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("irkit.schedule.primitives.loops.split._guard", lambda body, _: body)
        done = folder("reduce", "scale.irs", "--schedule", "trace.json")
        assert done.code == 0, done.err
        assert "5 schedule steps" in done.out
        assert "sch.split(" in done.out
        again = ("--schedule", "reduced/reduced_schedule.json", "--pipeline", "", "-o", "again")
        assert folder("reduce", "reduced/reduced.irs", *again).code == 0
        names = ("reduced.irs", "pipeline.txt", "reduced_schedule.json")
        for name in names:
            first, second = ((folder.folder / at / name) for at in ("reduced", "again"))
            assert first.read_text() == second.read_text()
        made = runpy.run_path("reduced/test_reduced.py")
        with pytest.raises(AssertionError, match=r"sch\.split"):
            made["test_sch_split_keeps_the_meaning_of_scale"]()
    made["test_sch_split_keeps_the_meaning_of_scale"]()
    kept = ScheduleTrace.load("reduced/reduced_schedule.json")
    assert [step.primitive for step in kept.steps][-1] == "split"
    assert len(kept) <= 3


def test_a_file_that_is_not_a_schedule_or_does_not_fit_is_refused(folder: Shell) -> None:
    folder.write("none.json", "[]")
    assert (
        "expected a schedule, found other JSON"
        in folder("check", "scale.irs", "--schedule=none.json").err
    )
    folder.write("other.irs", "def f(A: f32[2]):\n    A[0] = f32(1.0)\n")
    done = folder("check", "other.irs", "--schedule", "trace.json")
    assert done.code != 0
    assert "'C'" in done.err
    folder.write("two.irs", f"{KERNEL}\n\n{KERNEL.replace('scale', 'other')}")
    assert (
        "several functions to schedule" in folder("bisect", "two.irs", "--schedule=trace.json").err
    )
    assert "say which --function" in folder("reduce", "two.irs", "--schedule=trace.json").err
    folder.write("x.onnx", "")
    assert "for loop IR" in folder("check", "x.onnx", "--schedule", "trace.json").err
