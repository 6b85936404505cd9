"""Passes run the same in a child process, and their failures stay there."""

import threading
import time

import msgspec
import pytest

from irkit.core import Level
from irkit.debug import Isolation, time_limit
from irkit.ir import LOOP_LEVEL, PrimFunc, parse
from irkit.phases import DEFAULT, lower
from irkit.transform import PassFailed, Phase, Pipeline, apply_here, define_pass
from tests.debug import bad_passes as bad
from tests.passes.loop.kernels import kernel

KERNEL = """\
def f(A: f32[8], C: f32[8]):
    for i in serial(0, 8):
        C[i] = A[i] + f32(1.0)
"""


def pipeline(*passes: object, level: Level = LOOP_LEVEL) -> Pipeline:
    return Pipeline(level, (Phase(0, "all", passes),))  # type: ignore[arg-type]


def test_lowering_in_another_process_gives_the_same_result() -> None:
    with Isolation(seconds=30, strict=True) as isolation:
        for name in ("TILED_MATMUL", "SOFTMAX"):
            func = kernel(name)
            here, there = (
                list(DEFAULT.steps(func, keep_applications=True, time_rules=True, apply=apply))
                for apply in (apply_here, isolation.apply)
            )
            for one, two in zip(here, there, strict=True):
                assert LOOP_LEVEL.same(one.after, two.after)
                assert (one.changed, one.applications) == (two.changed, two.applications)
                assert [each.rule for each in one.kept] == [each.rule for each in two.kept]
                assert one.rules == two.rules
                timed = [
                    {each.rule for each in step.reports if each.seconds} for step in (one, two)
                ]
                assert timed[0] == timed[1]
                assert [each.text for each in one.remarks] == [each.text for each in two.remarks]
                assert one.after.script() == two.after.script()


def test_nodes_that_a_pass_leaves_alone_are_the_very_objects_sent() -> None:
    func = parse(KERNEL)
    with Isolation(strict=True) as isolation:
        steps = pipeline(bad.ends_loops_later, bad.ends_loops_later.using(more=1)).steps(
            func, apply=isolation.apply, keep_applications=True
        )
        unchanged, changed = steps
    assert unchanged.after is func
    assert unchanged.remarks[0].node is func.body
    after = changed.after
    assert isinstance(after, PrimFunc)
    assert after is not func
    assert after.params[0] is func.params[0]
    assert after.body.span is func.body.span  # type: ignore[attr-defined]
    assert func.body.span is not None  # type: ignore[attr-defined]
    assert after.body.var is func.body.var  # type: ignore[attr-defined]
    assert after.body.body is func.body.body  # type: ignore[attr-defined]
    assert changed.kept[0].before is func.body
    assert changed.kept[0].after is after.body


def test_rewrites_that_are_switched_off_stay_off_there() -> None:
    func = parse(KERNEL)
    with Isolation(strict=True) as isolation:
        (step,) = pipeline(bad.ends_loops_later.using(more=1)).steps(
            func, apply=isolation.apply, disabled={0: frozenset({0})}
        )
    assert step.after is func
    assert step.applications == 1


def test_the_process_is_reused_and_restarted_after_a_crash() -> None:
    func = parse(KERNEL)
    with Isolation(seconds=20) as isolation:
        assert pipeline(bad.ends_loops_later).run(func, apply=isolation.apply) is func
        for p in (bad.aborts, bad.raises):
            with pytest.raises(PassFailed):
                pipeline(p).run(func, apply=isolation.apply)
        after = pipeline(bad.ends_loops_later.using(more=1)).run(func, apply=isolation.apply)
        assert "serial(0, 9)" in after.script()
        assert isolation.starts == 2


def test_an_interrupted_process_is_not_reused() -> None:
    with Isolation(seconds=0.3) as isolation:
        with pytest.raises(PassFailed, match="did not end"):
            pipeline(bad.loops).run(parse(KERNEL), apply=isolation.apply)
        pipeline(bad.ends_loops_later).run(parse(KERNEL), apply=isolation.apply)
        assert isolation.starts == 2


def test_the_output_of_a_pass_does_not_mix_with_the_replies(
    capfd: pytest.CaptureFixture[str],
) -> None:
    func = parse(KERNEL)
    with Isolation(strict=True) as isolation:
        assert pipeline(bad.prints).run(func, apply=isolation.apply) is func
    out, err = capfd.readouterr()
    assert out == ""
    assert "and from below" in err


def test_a_closure_runs_here_under_the_time_limit_unless_strict() -> None:
    @define_pass
    def endless(func: PrimFunc) -> PrimFunc:
        """Loop forever."""
        while True:
            pass

    with Isolation(seconds=0.2) as isolation:
        with pytest.raises(PassFailed) as caught:
            pipeline(endless).run(parse(KERNEL), apply=isolation.apply)
        assert caught.value.kind == "timeout"
        assert "defined inside a function" in isolation.refused["endless"]
    with (
        Isolation(strict=True) as isolation,
        pytest.raises(PassFailed, match="defined inside a function"),
    ):
        pipeline(endless).run(parse(KERNEL), apply=isolation.apply)


def test_a_level_unknown_to_other_processes_stays_here() -> None:
    level = msgspec.structs.replace(LOOP_LEVEL, name="loop", nodes=(*LOOP_LEVEL.nodes, Level))
    with Isolation() as isolation:
        assert pipeline(bad.ends_loops_later, level=level).run(parse(KERNEL), apply=isolation.apply)
        assert "level 'loop' cannot be sent" in isolation.refused["ends-loops-later"]


def test_a_time_limit_restores_the_previous_alarm() -> None:
    func = parse(KERNEL)
    assert lower(func, apply=time_limit(5)).name == "f"
    time.sleep(0.01)


def test_only_the_main_thread_can_limit_time_in_this_process() -> None:
    found: list[str] = []

    def run() -> None:
        try:
            lower(parse(KERNEL), apply=time_limit(5))
        except PassFailed as error:
            found.append(error.what)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert "only on the main thread" in found[0]


def test_a_pass_of_the_main_script_is_refused_with_the_reason() -> None:
    made = define_pass(_local)
    with Isolation(strict=True) as isolation, pytest.raises(PassFailed, match="main script"):
        pipeline(made).run(parse(KERNEL), apply=isolation.apply)


def _local(func: PrimFunc) -> PrimFunc:
    """Do nothing."""
    return func


_local.__module__ = "__main__"
