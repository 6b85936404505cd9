"""The first pass that changes the meaning, and its wrong rewrites."""

from irkit.inspector_web import Texts
from irkit.inspector_web.jobs.guilty_pass import find_guilty_pass
from irkit.ir import parse
from irkit.passes import BUILTIN
from irkit.phases import DEFAULT, trace
from irkit.transform import AnyPass, Registry, Step
from tests.debug.bisect.test_bisect import SUMS, subtract_two
from tests.inspector_web.jobs.verdicts_programs import COPY, spoil, wrong_trace


def known(step: Step) -> AnyPass:
    return Registry(BUILTIN).with_passes(spoil).resolve(step.pass_text)


def test_the_guilty_pass_and_its_rewrite_are_named() -> None:
    made = wrong_trace()
    found = find_guilty_pass(made, known)
    assert found.step is not None
    assert made[found.step].name == found.name == "spoil"
    assert [each.rule.rpartition(".")[2] for each in found.rewrites] == ["spoiled"]
    assert found.rewrites[0].place.startswith("verdicts_programs.py:")
    assert any(line.startswith("+") and "99.5" in line for line in found.diff)


def test_what_the_rewrite_made_is_printed_as_the_page_prints_it() -> None:
    made = wrong_trace()
    found = find_guilty_pass(made, known)
    assert found.step is not None
    added = [line[1:] for line in found.diff if line.startswith("+") and line[:3] != "+++"]
    assert added
    assert set(added) <= set(Texts(made).lines(found.step, "after"))


def test_a_pass_that_is_not_known_here_is_named_all_the_same() -> None:
    found = find_guilty_pass(wrong_trace(), lambda step: Registry(BUILTIN).resolve(step.pass_text))
    assert found.name == "spoil"
    assert found.rewrites == ()
    assert "not known here" in found.note


def test_no_pass_is_guilty_if_every_step_keeps_the_meaning() -> None:
    found = find_guilty_pass(trace(parse(COPY)), known)
    assert found.step is None
    assert found.text == "Every step that could be tried keeps the meaning."


def test_the_right_rewrites_of_a_pass_of_ones_own_have_a_number_of_trust() -> None:
    made = trace(parse(SUMS.strip()), pipeline=DEFAULT.insert(subtract_two, phase=0))
    registry = Registry(BUILTIN).with_passes(subtract_two)
    found = find_guilty_pass(made, lambda step: registry.resolve(step.pass_text))
    assert found.name == "subtract-two"
    assert found.note.startswith("Without the wrong rewrites, ")
    assert "mutants differ" in found.note
