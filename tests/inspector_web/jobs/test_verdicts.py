"""What a check of steps reports: verdicts, errors, crashes and time-outs."""

import json
import math

import msgspec
import pytest

from irkit.codegen.wrapping_loops import without_cure
from irkit.inspector_web.jobs import verdicts
from irkit.inspector_web.jobs.guilty_pass import find_guilty_pass
from irkit.inspector_web.jobs.verdicts import check_steps
from irkit.ir import parse
from irkit.phases import trace
from irkit.transform import Trace
from tests.inspector_web.jobs.verdicts_programs import step, wrong_trace

SUM = """\
def f(A: f32[64], C: f32[1]):
    C[0] = f32(0.0)
    for i in serial(0, 64):
        C[0] = C[0] + A[{}]
"""
LONG = """\
def f(A: f32[64], C: f32[64]):
    for n in serial(0, {}):
        for i in serial(0, 64):
            C[i{}] = A[i]
"""


def test_the_wrong_step_is_reported_with_its_first_wrong_element() -> None:
    made = wrong_trace()
    found = check_steps(made)
    assert [each.step for each in found.verdicts] == list(range(len(made)))
    wrong = [each for each in found.verdicts if each.status == "differs"]
    assert [made[each.step].name for each in wrong] == ["spoil"]
    assert (wrong[0].buffer, wrong[0].at, wrong[0].found) == ("C", (0,), "99.5")
    assert wrong[0].text.startswith("C[0] is 99.5 after the pass and was ")
    assert wrong[0].wrong == 4
    others = {each.status for each in found.verdicts if each is not wrong[0]}
    assert others == {"exact", "idle"}


def test_a_careful_check_proves_what_it_can_and_says_what_is_only_tested() -> None:
    before = "def f(A: i32[8], C: i32[8]):\n    for i in serial(0, 8):\n        C[i] = {}\n"
    doubled = step(before.format("A[i] + A[i]"), before.format("A[i] * i32(2)"))
    (proved,) = check_steps(Trace([doubled]), careful=True).verdicts
    (tested,) = check_steps(Trace([doubled])).verdicts
    assert (proved.status, proved.basis) == ("exact", "proved")
    assert (tested.status, tested.basis) == ("exact", "tested")
    assert proved.text.startswith("Proved: ")
    assert "for all values" not in tested.text


def test_rounding_errors_are_within_the_bound_and_measured() -> None:
    reversed_sum = step(SUM.format("i"), SUM.format("63 - i"))
    declared = msgspec.structs.replace(reversed_sum, changes_rounding=True)
    assert check_steps(Trace([reversed_sum])).verdicts[0].status == "differs"
    found = check_steps(Trace([declared])).verdicts[0]
    assert found.status == "close"
    assert found.abs > 0
    assert found.ulp >= 1
    assert found.text.startswith("The pass declares that it changes rounding: outputs differ by ")


def test_an_infinite_relative_error_is_reported_as_infinite() -> None:
    zero = "def f(C: f32[1]):\n    C[0] = f32({}.0)\n"
    found = check_steps(Trace([step(zero.format(0), zero.format(1))])).verdicts[0]
    assert found.rel == math.inf
    assert json.loads(msgspec.json.encode(found))["rel"] is None


def test_only_chosen_steps_are_checked() -> None:
    made = wrong_trace()
    at = next(each.index for each in made if each.name == "spoil")
    assert [each.status for each in check_steps(made, [at]).verdicts] == ["differs"]


def test_a_function_that_fails_before_the_pass_is_unknown_with_a_reason() -> None:
    given = "def f(C: i32[4], z: i32):\n    for i in serial(0, 4):\n        C[i + 9] = z\n"
    found = check_steps(Trace([step(given, given.replace("9", "8"))])).verdicts[0]
    assert found.status == "unknown"
    assert "the original function fails" in found.text


def test_a_division_by_zero_ends_nothing() -> None:
    # It is defined, in native code too.
    head = "def f(A: i32[8], C: i32[8]):\n    for i in serial(0, 8):\n"
    text = head + "        C[i] = {} // (A[i] * 0)\n"
    found = check_steps(Trace([step(text.format(7), text.format(8))]), careful=True)
    assert [each.status for each in found.verdicts] == ["exact"]


def test_native_code_that_crashes_is_reported_and_the_other_steps_are_still_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(verdicts, "QUICK", msgspec.structs.replace(verdicts.QUICK, max_steps=100))
    fine, wild = LONG.format(90, ""), LONG.format(90, " + 900000000000")
    found = check_steps(Trace([step(fine, wild), step(fine, fine, 1)])).verdicts
    assert [each.status for each in found] == ["failed", "exact"]
    assert "SIGSEGV" in found[0].text


def test_native_code_that_does_not_end_was_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = msgspec.structs.replace(verdicts.QUICK, max_steps=100, seconds=0.5)
    monkeypatch.setattr(verdicts, "QUICK", quick)
    endless = LONG.format(1_000_000_000_000, "").replace("A[i]", "A[i] + C[63 - i]")
    found = check_steps(Trace([step(LONG.format(90, ""), endless)])).verdicts
    assert [each.status for each in found] == ["stopped"]
    assert "did not end within 0.5 s" in found[0].text


def test_a_program_that_is_stopped_at_its_limit_is_said_to_be_and_the_pass_is_named() -> None:
    endless = step(LONG.format(4, ""), LONG.format(1_000_000_000_000, ""))
    found = check_steps(Trace([endless])).verdicts[0]
    assert found.status == "stopped"
    assert found.status in verdicts.WRONG
    assert found.text.startswith("The program ran to its end before p, and was stopped at its ")
    assert "the interpreter stopped after 80000 steps, and took " in found.text


def test_steps_without_time_left_are_not_called_right() -> None:
    found = check_steps(wrong_trace(), seconds=-1.0)
    assert {each.status for each in found.verdicts} == {"unknown", "idle"}
    assert "no time left" in next(each.text for each in found.verdicts if each.status == "unknown")


@pytest.mark.parametrize(
    ("after", "status", "words"),
    [
        ("    for i in parallel(0, 4):\n        C[0] = i\n", "races", "i = 1 writes C[0]"),
        ("    for i in serial(0, 5):\n        C[i] = i\n", "outside", "C[4] is out of bounds"),
    ],
)
def test_races_and_accesses_out_of_bounds_have_signs_of_their_own(
    after: str, status: str, words: str
) -> None:
    head = "def f(C: i64[4]):\n"
    found = check_steps(
        Trace([step(head + "    for i in serial(0, 4):\n        C[0] = i\n", head + after)])
    ).verdicts
    assert [each.status for each in found] == [status]
    assert words in found[0].text
    assert status in verdicts.WRONG


WRAPPING = """\
def f(A: f32[32, 32], C: f32[32, 32]):
    for i in serial(0, 32):
        for j in serial(0, 32):
            if j < 30:
                C[i, j] = A[i, j] + A[i, (j + 3) % 32]
"""


def test_code_generation_is_named_where_no_pass_is_at_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("IRKIT_CACHE", "0")
    with without_cure():
        made = trace(parse(WRAPPING))
        found = check_steps(made)
        guilty = find_guilty_pass(made, lambda step: pytest.fail(step.name))
    wrong = [each for each in found.verdicts if each.status in verdicts.WRONG]
    assert [(each.status, each.guilty) for each in wrong] == [("differs", "code generation")]
    assert wrong[0].step == max(step.index for step in made if step.changed)
    assert wrong[0].text.startswith("The pass is not the cause. C[")
    assert "code generation (LLVM) is at fault" in wrong[0].text
    assert guilty.text == "No pass is guilty: code generation is."
