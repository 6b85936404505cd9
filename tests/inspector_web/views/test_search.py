"""Search, compared with the printed texts."""

import pytest

from irkit.core import InputError
from irkit.inspector_web import LineTable, Texts, pickaxe
from irkit.inspector_web.text.texts import GIVEN
from irkit.inspector_web.views.search import PickaxeHit, lines_with, search
from irkit.phases import trace
from irkit.transform import Trace
from tests.passes.loop.kernels import kernel


def test_the_pickaxe_agrees_with_the_printed_texts(texts: Texts) -> None:
    touches = {each.step: each for each in pickaxe(texts, "view(")}
    assert touches
    for step in texts.trace:
        before = sum("view(" in line for line in texts.lines(step.index, "before"))
        after = sum("view(" in line for line in texts.lines(step.index))
        assert (step.index in touches) == (before != after)
        if before != after:
            touch = touches[step.index]
            assert (touch.before, touch.after) == (before, after)


def test_the_pickaxe_finds_the_step_that_removed_a_text() -> None:
    texts = Texts(Trace(trace(kernel("MATMUL"))))
    touches = pickaxe(texts, "with block(")
    names = [texts.trace[touch.step].name if touch.step >= 0 else "" for touch in touches]
    assert (names[0], touches[0].before) == ("", 0)
    assert (names[-1], touches[-1].after) == ("lower-blocks", 0)
    assert isinstance(touches[-1], PickaxeHit)


def test_search_finds_the_lines_with_the_text(texts: Texts) -> None:
    for found in search(texts, "FOR ", case=False):
        side = "before" if found.step == GIVEN else "after"
        lines = texts.lines(max(found.step, 0), side)
        expected = [at + 1 for at, line in enumerate(lines) if "for " in line]
        assert (found.count, list(found.lines)) == (len(expected), expected[:20])


def test_a_regular_expression_finds_what_it_matches(texts: Texts) -> None:
    plain = search(texts, "serial(", at_most=1000)
    assert search(texts, r"serial\(", regex=True, at_most=1000) == plain


def test_a_regular_expression_without_end_is_stopped() -> None:
    table = LineTable()
    table.number(["a" * 200 + "!"])
    with pytest.raises(InputError, match=r"more than 0\.3 s"):
        lines_with(table, r"(a+)+$", regex=True, seconds=0.3)


@pytest.mark.parametrize("pattern", ["(", "a{99999999999}", "[", "(?P<x", "x" * 2000])
def test_an_invalid_regular_expression_is_refused(pattern: str) -> None:
    table = LineTable()
    table.number(["abc"])
    with pytest.raises(InputError):
        lines_with(table, pattern, regex=True)
