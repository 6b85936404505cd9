"""Comparisons up to names: renamings are no difference, other operands are."""

from collections.abc import Callable

import pytest

from irkit.inspector_web import LineTable, diff_lines, diff_up_to_names
from tests.inspector_web.diff.diff_programs import LOOP, both

RENAMINGS: list[Callable[[str], str]] = [
    lambda text: text.replace("[i]", "[row]").replace(" i ", " row "),
    lambda text: text.replace("B", "out"),
]


@pytest.mark.parametrize("rename", RENAMINGS)
def test_a_pass_that_only_renames_shows_no_change(rename: Callable[[str], str]) -> None:
    before, after, table = both(LOOP, rename(LOOP))
    assert diff_lines(before, after).added
    difference = diff_up_to_names(before, after, table)
    assert (difference.added, difference.removed) == (0, 0)


def test_swapped_names_are_a_renaming_too() -> None:
    exchanged = LOOP.replace("A", "\1").replace("B", "A").replace("\1", "B")
    before, after, table = both(LOOP, exchanged)
    assert diff_up_to_names(before, after, table).added == 0


def test_up_to_names_a_line_that_only_gives_names_does_not_differ() -> None:
    table = LineTable()
    before = table.number(["@names(x_0='a b')", "def f(x_0: f32[8]):"])
    after = table.number(["@names(x_0='c d')", "def f(x_0: f32[8]):"])
    assert diff_up_to_names(before, after, table).added == 0


def test_up_to_names_another_operand_is_still_a_change() -> None:
    before, after, table = both(LOOP, LOOP.replace("A[j] = B[j]", "A[j] = A[j]"))
    assert diff_up_to_names(before, after, table).added == 1


def test_a_line_that_gives_names_and_is_not_indented_can_be_compared_up_to_names() -> None:
    table = LineTable()
    before = table.number(["@names(a='x')", "def f(a: f32[8]):", "    a[0] = f32(1.0)"])
    after = table.number(["@names(b='y')", "def f(b: f32[8]):", "    b[0] = f32(1.0)"])
    assert diff_up_to_names(before, after, table).added == 0
