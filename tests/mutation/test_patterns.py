"""Patterns match a syntax tree, whatever the layout, and are replaced in it."""

import ast
from textwrap import dedent

import pytest

from irkit.core import IRKitError
from tests.mutation.changes.pattern import Change

SOURCE = dedent("""
    def f(first, second):
        if first > 1 and not second:  # Why.
            return g((first
                      + 2), kind='a', other=h(first, second))
        for at in range(first):
            second += at
            second *= at
        text = f"add {first} {second}, {first}"
        return [text for text in (first, second)]
""")


def changed(before: str, after: str, source: str) -> str:
    """Return source with a change, as it is unparsed."""
    tree = ast.parse(source)
    change = Change(before, after)
    found = change.matches(tree.body)
    assert len(found) == 1, len(found)
    change.apply(found[0])
    return ast.unparse(ast.fix_missing_locations(tree))


def expected(old: str, new: str, source: str) -> str:
    """Return source with a replaced text, as it is unparsed."""
    assert source.count(old) == 1
    return ast.unparse(ast.parse(source.replace(old, new)))


@pytest.mark.parametrize(
    ("before", "after", "old", "new"),
    [
        # Spacing, parentheses and quotes do not matter.
        ("first+2", "first - 2", "first\n                  + 2", "first - 2"),
        ('g($sum, kind="a", other=$h)', "g($sum, $h)", "kind='a', other=", ""),
        # A placeholder is any expression, and the same one each time.
        ("h($x, $y)", "h($y, $x)", "h(first, second)", "h(second, first)"),
        ("$x > $y and not $z", "$x > $y and $z", "and not second", "and second"),
        ("[$x for $x in $all]", "$all", "[text for text in (first, second)]", "(first, second)"),
        # Statements, one or several, with or without a body.
        ("$x *= $y", "", "        second *= at\n", ""),
        ("$x += $y\n$x *= $y", "$x -= $y", "+= at\n        second *= at", "-= at"),
        ("$x += $y\n$x *= $y", "", "second += at\n        second *= at", "pass"),
        ("for $i in range($n):", "for $i in range(1, $n):", "range(first)", "range(1, first)"),
        ("if $a and $b:", "if $a:", "first > 1 and not second", "first > 1"),
        ("text = $x", "text = $x\ndel first", "return [text", "del first; return [text"),
        # A part of a string.
        ("`add {first}`", "`sub {first}`", "add {first}", "sub {first}"),
        (
            "f'add {$a} {$b}, {$a}'",
            "f'{$b} {$a}'",
            "add {first} {second}, {first}",
            "{second} {first}",
        ),
        # A parameter's name.
        ("def f($a, $b):", "def f($b, $a):", "f(first, second):", "f(second, first):"),
    ],
)
def test_a_pattern_is_replaced(before: str, after: str, old: str, new: str) -> None:
    source = f"if True:\n{SOURCE.replace(chr(10), chr(10) + '    ')}"
    old = old.replace("\n", "\n    ")
    assert changed(before, after, source) == expected(old, new, source)


@pytest.mark.parametrize(
    ("before", "count"),
    [
        ("first", 7),
        ("$x + 1", 0),
        ("1", 1),
        ("True", 0),
        ("h($x, $x)", 0),
        ("g(first + 2)", 0),
        ("if $a:\n    pass", 0),
        ("if $a:", 1),
        ("return $x", 2),
        ("$x += $y\n$x += $y", 0),
        ("`first`", 2),
        ("`none`", 0),
    ],
)
def test_every_place_is_counted(before: str, count: int) -> None:
    assert len(Change(before, "0").matches(ast.parse(SOURCE).body)) == count


def test_the_line_of_a_match_is_where_it_begins() -> None:
    (found,) = Change("$x *= $y", "").matches(ast.parse(SOURCE).body)
    assert found.line == 8


def test_the_nearest_is_what_is_most_like_the_pattern() -> None:
    nodes = ast.parse(SOURCE).body
    assert Change("h(first, $x, 3)", "0").nearest(nodes)[0] == "h(first, second)"
    assert Change("$second *= 2 * at", "").nearest(nodes)[0] == "second *= at"
    assert Change("nothing_like_it_at_all(1, 2, 3, 4, 5)", "0").nearest(nodes) == []


@pytest.mark.parametrize(
    ("before", "after", "error"),
    [
        ("f(", "0", "'f\\(' is no Python"),
        ("0", "if", "'if' is no Python"),
        ("f($x)", "g($y)", r"\$y is in 'g\(\$y\)' and not in 'f\(\$x\)'"),
    ],
)
def test_a_pattern_that_is_no_python_is_an_error(before: str, after: str, error: str) -> None:
    with pytest.raises(IRKitError, match=error):
        Change(before, after)
