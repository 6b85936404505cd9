"""`check_pass` accepts right passes, names wrong ones, and says so when it tested nothing."""

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from irkit import te
from irkit.core import IRKitError
from irkit.fuzz import PassCase, PassRefuted, check_pass, prim_funcs
from irkit.fuzz.check_pass import corpus
from irkit.fuzz.check_pass.profile import PROFILES, Profile
from irkit.fuzz.generators import Sample
from irkit.inspector_web.record.record import record
from irkit.ir import LOOP_LEVEL, parse, script
from irkit.passes.loop import simplify, unroll_loops
from irkit.phases import DEFAULT
from irkit.transform import AnyPass, Trace
from tests.draws import few_or_all, sampled
from tests.fuzz.check_pass import wrong_passes

SCALE = """\
def scale(A: f32[3], C: f32[3]):
    for i in serial(0, 3):
        C[i] = A[i] * f32(2.0)
"""
MATRIX = """\
def turn(A: f32[3, 4], C: f32[4, 3]):
    for i in serial(0, 4):
        for j in serial(0, 3):
            C[i, j] = A[j, i]
"""


def made(p: AnyPass, folder: Path, body: Callable[..., object] | None = None, **how: Any) -> Any:
    """Make a test of a pass that keeps its findings in a folder."""
    how = {"phase": 1, "examples": 40, "seed": 1, "hash_seeds": (), **how}

    def test_it(case: PassCase) -> None: ...

    test = check_pass(p, **how)(body or test_it)
    check = getattr(test, "irkit_check")
    check.folder, check.profile = folder, "dev"
    return test


def seeing(seen: list[PassCase]) -> Callable[[PassCase], None]:
    def test_it(case: PassCase) -> None:
        seen.append(case)

    return test_it


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not spend long on reducing findings."""
    monkeypatch.setitem(PROFILES, "dev", Profile("dev"))


def refuted(p: AnyPass, folder: Path, **how: Any) -> str:
    with pytest.raises(PassRefuted) as caught:
        made(p, folder, **how)()
    return str(caught.value)


def test_a_right_pass_passes_and_leaves_nothing_behind(tmp_path: Path) -> None:
    seen: list[PassCase] = []
    test = made(wrong_passes.mark_short_loops, tmp_path, seeing(seen), examples=8, hash_seeds=(1,))
    test()
    tally = test.irkit_check.tally
    assert tally.cases == tally.valid == len(seen) == 8
    assert 1 <= tally.fired == sum(case.changed for case in seen)
    assert tally.notes == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("p", "how", "said"),
    sampled(
        [
            (
                wrong_passes.read_beside,
                {"phase": 0, "strategy": st.just(MATRIX)},
                "changes what the program computes",
            ),
            (wrong_passes.lose_tail, {}, "changes what the program computes"),
            (
                wrong_passes.say_changed,
                {},
                "reports wrongly whether it changed something",
            ),
            (wrong_passes.change_in_place, {}, "changes its input in place"),
            (wrong_passes.draw_lots, {}, "is not deterministic"),
            (wrong_passes.count_runs, {}, "is not idempotent"),
            (wrong_passes.raise_at_blocks, {"phase": 0}, "raises an exception: KeyError: "),
            (wrong_passes.use_unbound, {}, "leaves an invalid program"),
            (wrong_passes.forget_spans, {}, "loses where statements come from"),
            (wrong_passes.claim_no_unrolled_loops, {}, "leaves an invalid program"),
            (wrong_passes.drop_stores, {"phase": 2}, "changes what the program computes"),
        ],
        every=3,
    ),
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_wrong_pass_is_named_and_its_test_fails(
    p: AnyPass, how: dict[str, Any], said: str, tmp_path: Path
) -> None:
    text = refuted(p, tmp_path, **how)
    assert text.startswith(f"'{p}' (phase {how.get('phase', 1)}) ")
    assert said in text.partition("\n\n")[0]
    (test,) = tmp_path.glob("*/*/test_*.py")
    assert str(test) in text
    namespace: dict[str, Any] = {"__file__": str(test)}
    exec(compile(test.read_text(), str(test), "exec"), namespace)
    (run,) = (value for name, value in namespace.items() if name.startswith("test_"))
    with pytest.raises(AssertionError, match=p.name):
        run()


@pytest.mark.long
def test_dependence_on_hashes_is_found_in_another_process(tmp_path: Path) -> None:
    text = refuted(wrong_passes.follow_hashes, tmp_path, examples=5, hash_seeds=(1, 2))
    assert "is not deterministic: another result with hash seed" in text


def test_a_message_shows_the_smallest_program_and_the_first_wrong_element(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROFILES, "dev", Profile("dev"))
    more = SCALE + SCALE.partition("\n")[2].replace("for i", "for j").replace("[i]", "[j]")
    text = refuted(wrong_passes.lose_tail, tmp_path, strategy=st.just(more))
    first, _, rest = text.partition("\n\n")
    assert " is " in first
    assert ", expected " in first
    program = rest.partition("    def ")[2].partition("\n\n")[0]
    assert len(program.splitlines()) <= 3, program
    assert "+++ after" in rest
    assert "The smallest program found, after " in rest
    assert "profile " in rest


def test_the_command_of_a_message_opens_it_in_the_inspector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = refuted(wrong_passes.lose_tail, tmp_path, strategy=st.just(SCALE))
    (show,) = tmp_path.glob("*/*/show.py")
    assert f"irkit inspect {show}" in text
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    (run,) = record("script", str(show), str(tmp_path)).runs  # What the inspector does in a child.
    assert run.failure is None
    assert [step.name for step in Trace.load(run.path, (LOOP_LEVEL,)) if step.changed] == [
        "lose-tail"
    ]


def test_a_pass_that_never_fires_was_not_tested(tmp_path: Path) -> None:
    text = refuted(wrong_passes.do_nothing, tmp_path, examples=3, kinds=("programs",))
    assert "this tested nothing: 'do-nothing' changed 0 of 90 programs" in text
    assert "strategy=" in text
    made(wrong_passes.do_nothing, tmp_path, examples=3, fires=0)()


def test_too_few_valid_cases_are_a_failure(tmp_path: Path) -> None:
    wrong = st.sampled_from([SCALE, SCALE.replace("* f32(2.0)", "* A[i + 7]")])
    text = refuted(wrong_passes.mark_short_loops, tmp_path, strategy=wrong)
    assert "was tested on too little: 1 of 2 cases were valid, expected at least 90%" in text
    assert "out of" in text or "outside" in text or "bounds" in text


def test_users_can_draw_programs_as_text_or_functions(tmp_path: Path) -> None:
    seen: list[PassCase] = []
    text = st.just(SCALE)
    made(wrong_passes.mark_short_loops, tmp_path, seeing(seen), strategy=text)()
    (case,) = seen
    assert case.changed
    assert "unrolled(" in case.after.script()
    assert "serial(" in case.before.script()
    assert case.trace[-1].phase == 3
    assert [len(arrays) for arrays in case.outputs] == [2, 2, 2, 2]
    for given, found in zip(case.inputs, case.outputs, strict=True):
        with np.errstate(all="ignore"):
            assert np.array_equal(found[1], given.args[0] * 2, equal_nan=True)
    made(wrong_passes.mark_short_loops, tmp_path, strategy=prim_funcs(), fires=0, examples=2)()


def test_the_body_can_check_more_and_use_fixtures(tmp_path: Path) -> None:
    def test_more(case: PassCase, tmp_path: Path) -> None:
        assert tmp_path.exists()
        assert not case.changed, "it must not"

    test = made(wrong_passes.mark_short_loops, tmp_path, test_more)
    assert list(inspect.signature(test).parameters) == ["tmp_path"]
    with pytest.raises(AssertionError, match="it must not") as caught:
        test(tmp_path=tmp_path)
    notes = "\n".join(caught.value.__notes__)  # Hypothesis may add some of its own.
    assert "does not do what the test says: AssertionError: it must not" in notes
    assert "irkit inspect" in notes
    # It is kept, and tried first.
    with pytest.raises(AssertionError, match="it must not"):
        test(tmp_path=tmp_path)
    assert test.irkit_check.tally.replayed == 1
    assert test.irkit_check.tally.cases == 0


@pytest.mark.long
def test_a_finding_is_tried_first_until_it_is_mended(tmp_path: Path) -> None:
    def test_it(case: PassCase) -> None: ...

    with pytest.raises(PassRefuted):
        made(wrong_passes.lose_tail, tmp_path, test_it, strategy=st.just(SCALE))()
    again = made(wrong_passes.lose_tail, tmp_path, test_it)
    with pytest.raises(PassRefuted, match="kept from an earlier run"):
        again()
    assert again.irkit_check.tally.cases == 0
    mended = made(wrong_passes.mark_short_loops, tmp_path, test_it, examples=4, fires=0)
    mended()
    assert mended.irkit_check.tally.replayed == 1


def test_a_pass_that_does_not_end_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROFILES, "dev", Profile("dev", seconds=0.3))
    test = made(wrong_passes.wait_at_blocks, tmp_path, phase=0, kinds=("programs",))
    with pytest.raises(PassRefuted, match="does not end: not within 0"):
        test()


def test_a_pass_that_kills_its_process_is_a_finding(tmp_path: Path) -> None:
    text = refuted(wrong_passes.abort_at_blocks, tmp_path, phase=0, native=True)
    assert "takes its process with it: crashed its process with SIGABRT" in text


def test_a_program_left_by_a_dead_process_is_tried_in_another_one(tmp_path: Path) -> None:
    test = made(wrong_passes.abort_at_blocks, tmp_path, phase=0)
    folder = corpus.Corpus(tmp_path, test.irkit_check.test).folder
    folder.mkdir()
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    block = SCALE.replace("        C[i]", '        with block("C"):\n            C[i]')
    (folder / f"running-{gone.pid}.irs").write_text(block)
    with pytest.raises(PassRefuted, match="on which the last run ended"):
        test()
    (kept,) = folder.glob("*/program.irs")
    assert 'with block("C")' in kept.read_text()
    assert list(folder.glob("running-*")) == []


def test_native_code_runs_after_another_process_has_tried_the_pass(tmp_path: Path) -> None:
    pipelines = ("pipelines",)  # They contain passes that have no known name.
    test = made(
        wrong_passes.mark_short_loops, tmp_path, examples=2, native=True, fires=0, kinds=pipelines
    )
    test()
    assert test.irkit_check.tally.notes == []
    assert PROFILES["long"].native
    assert PROFILES["long"].times == 20


def with_another(p: AnyPass) -> st.SearchStrategy[Sample]:
    return st.just(Sample("pipelines", parse(SCALE), DEFAULT.insert(p, before="loop-partition")))


def test_a_failure_of_a_later_pass_is_blamed_on_the_one_under_test(tmp_path: Path) -> None:
    others = with_another(wrong_passes.break_unrolled)
    text = refuted(wrong_passes.mark_short_loops, tmp_path, strategy=others)
    assert "leaves a program that later passes fail on: C[2] is " in text


def test_a_failure_without_the_pass_is_not_blamed_on_it(tmp_path: Path) -> None:
    for other in (wrong_passes.lose_tail, wrong_passes.use_unbound):
        text = refuted(wrong_passes.mark_short_loops, tmp_path, strategy=with_another(other))
        assert "is not to blame: without it the lowering fails too" in text


def test_graph_passes_are_tried_on_graphs(tmp_path: Path) -> None:
    text = refuted(wrong_passes.swap_operands, tmp_path, phase=0)
    assert "changes what the program computes: " in text
    assert re.search(r"\[[\d, ]+\] is \S+, expected ", text)


def test_a_builtin_pass_is_tried_at_its_position(tmp_path: Path) -> None:
    # This one needs marked loops, which few random schedules have.
    made(unroll_loops, tmp_path, phase=None, examples=few_or_all(8, 20))()


@pytest.mark.parametrize(
    ("p", "how", "said"),
    [
        (wrong_passes.mark_short_loops, {"phase": 4}, "there is no phase 4"),
        (wrong_passes.mark_short_loops, {"phase": None}, "is not given"),
        (wrong_passes.mark_short_loops, {"phase": None, "before": "no-pass"}, "no pass 'no-pass'"),
        (wrong_passes.mark_short_loops, {"kinds": ("loops",)}, "there is no kind loops"),
        (wrong_passes.mark_short_loops, {"fires": 0.1}, "fires is a number of programs"),
        (len, {}, "takes a pass, found"),
    ],
)
def test_impossible_settings_are_refused_where_they_are_written(
    p: Any, how: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(IRKitError, match=said):
        made(p, tmp_path, **how)


def test_a_body_without_a_case_is_refused() -> None:
    with pytest.raises(IRKitError, match="takes no case"):
        check_pass(simplify)(lambda: None)


def test_the_same_seed_draws_the_same_programs(tmp_path: Path) -> None:
    def drawn() -> Sequence[str]:
        seen: list[PassCase] = []
        made(
            wrong_passes.mark_short_loops,
            tmp_path,
            seeing(seen),
            examples=4,
            fires=0,
        )()
        return [case.program.script() for case in seen]

    assert drawn() == drawn()


def test_a_pass_is_tried_on_what_build_compiles_too(tmp_path: Path) -> None:
    x = te.placeholder((64,), name="x")
    func = te.create_prim_func([x, te.compute((64,), lambda i: x[i] + 1.0, name="y")])
    seen: list[PassCase] = []
    how: dict[str, Any] = {"phase": 0, "strategy": st.just(func), "examples": 1}
    with pytest.raises(PassRefuted, match="The program has the automatic schedule") as caught:
        made(wrong_passes.shorten_vectorized_loops, tmp_path, seeing(seen), **how)()
    assert "changes what the program computes" in str(caught.value)
    by_hand = parse(script(func).replace(", unscheduled=True", ""))
    how = {**how, "strategy": st.just(by_hand), "fires": 0}
    made(wrong_passes.shorten_vectorized_loops, tmp_path / "other", seeing(seen), **how)()
    assert not any(case.changed for case in seen)
