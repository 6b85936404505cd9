"""Malformed and hostile text: an error with a line, in bounded time, and nothing else."""

import time
import warnings
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from irkit.core import ParseError
from irkit.fuzz import prim_funcs
from irkit.ir import Expr, PrimFunc, Stmt, level, parse, parse_expr, parse_module, script
from irkit.ir.text import expr_reader
from tests.draws import few_or_all
from tests.ir.classes import leaves

HEAD = "def f(A: f32[8], x: i64):\n"


def rejected(text: str) -> ParseError:
    """Read malformed text and return its error; anything else fails the test."""
    begin = time.perf_counter()
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert time.perf_counter() - begin < 3
    assert caught.value.span is not None
    assert len(str(caught.value)) < 500
    return caught.value


def line(text: str) -> ParseError:
    return rejected(f"{HEAD}    {text}\n")


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        ("A[0] = y", "2:12: unknown name 'y'"),
        ("A[0] = x +", "cannot read this line"),
        ("A[0] = A", "'A' is a buffer; expected a value"),
        ("x[0] = x", "expected the name of a buffer, found 'x'"),
        ("A[0] = nope(x)", "unknown function 'nope'"),
        ("A[0] = x.y", "expected an expression, found Python's Attribute"),
        ("A[0] = x < x < x", "expected one comparison"),
        ("A[0] = x ** 2", "unknown operator Pow"),
        ("A[0] = x and x", "operator and is not defined on i64"),
        ("A[0] = (x == 1) + (x == 2)", "operator + is not defined"),
        ("A[0] = select(x, 1, 2)", "a condition must be bool"),
        ("A[0] = exp(x)", "exp is not defined on i64"),
        ("A[0] = exp(*x)", "expected an expression"),
        ("A[0] = min(x)", "expected min(a, b)"),
        ("A[0] = cast(x, f33)", "expected a type such as f32, found 'f33'"),
        ("A[0] = f32('nope')", 'expected "nan", "inf", "-inf"'),
        ("A[0] = i8(300)", "cannot write 300 as i8"),
        ("A[0] = ramp(0, 1, 99999)", "expected 2 to 16384 lanes, found 99999"),
        ("A[0] = broadcast(x, 1)", "expected 2 to 16384 lanes, found 1"),
        ("t: i64 = 9223372036854775808", "does not fit into i64"),
        ("A[0] = " + "9" * 5000, "cannot read this line"),
        ("t: i64 = 0x" + "f" * 60000, "does not fit into i64"),
        ("A[0] = f32(" + "9" * 4000 + ")", "does not fit into f32"),
        ("A[0] = 1j", "expected an expression"),
        ("A[0] = f'{x}'", "expected an expression"),
        ("A[0] = (y := x)", "expected an expression"),
        ("A[0] = [x for x in x]", "expected an expression"),
        ("A[0] = lambda: x", "expected an expression"),
        ("A[0] = A[0] = x", "expected one assignment"),
        ("A[0], x = x, x", "expected a name or an element"),
        ("A[0] = x; A[1] = x", "expected one statement a line"),
        ("import os", "expected a statement of loop IR"),
        ("while x:", "expected a statement of loop IR"),
        ("x += 1", "expected a statement of loop IR"),
        ("__import__('os').system('true')", "expected an assignment"),
        ("for i in range(0, 3):", "expected a loop over one of serial"),
        ("for i in serial(3):", "expected serial(begin, end)"),
        ("for i in serial(0, 3): A[0] = x", "the body on the next lines"),
        ("for A[0] in serial(0, 3):", "expected a name"),
        ("if x < 3: A[0] = x", "the body on the next lines"),
        ("if x < 3:", "expected an indented statement"),
        ("else:", "expected an if before"),
        ("elif x < 3:", "expected an if before"),
        ("elsewhere = A[x, y", "cannot read this line"),
        ("with open('x') as y:", "expected with block(...)"),
        ("with block('b') as y:", "expected with block(...)"),
        ("where(x < 3)", "expected this line at the beginning of a block"),
        ("v = axis.spatial(3, x)", "expected this line at the beginning of a block"),
        ("v = os.system(3, x)", "expected axis.spatial"),
        ("T = alloc(16)", "expected a type and a shape"),
        ("T = alloc(f32[4], scope=3)", "expected a string in quotes"),
        ("T = alloc(f32[4], a={1: 2})", "expected a string, number, bool"),
        ("V = view(A, f32[4], offset=0, a=1)", "a view has strides, scope, align and offset"),
        ("t: i64", "expected a value"),
        ("assert x == 1, x", "expected a string in quotes"),
        ("A[0] = x\x00", "expected no control characters"),
        ("A[0] = x\r    A[1] = x", "expected no control characters"),
        ("A[0]\t= x", "expected no control characters"),
        ("A[0] = \ud800", "cannot read this line"),
        ("A[0] = \u2028x", "cannot read this line"),
        ("A[0] = x \\", "cannot read this line"),
        ("A[0] = '''", "cannot read this line"),
        ("A[0] = é", "unknown name 'é'"),
        ("A[0] = 1and x", "cannot read this line"),
        ("A[0] = 0xfor x", "cannot read this line"),
        ("A['\\d'] = x", "cannot read this line"),
        ("A[0] = " + "-" * 1_000 + "x", "expected at most 200 levels"),
    ],
)
def test_a_wrong_line_is_one_error_with_its_place(text: str, claim: str) -> None:
    error = line(text)
    assert claim in str(error)
    assert error.span is not None
    assert error.span.line in (2, 3)


@pytest.mark.parametrize(
    "text",
    [
        "", "\n\n", "x = 1\n", "def f(A: f32[8]):\n", "def f(A: f32[8]:\n    pass\n",
        "def f(A: f32[8]):\npass\n", "    pass\n", "def f(\n    A: f32[8],\n",
        "def f(A):\n    pass\n", "def f(A: f32[8], A: f32[8]):\n    pass\n",
        "def f(*A):\n    pass\n",
        "@attrs(a=1)\n",
        "def f(A: f32[n + 1]):\n    pass\n", "def f(A: f33[8]):\n    pass\n", "@nope(3)\n",
        "def f(A: f32[8]):\n    pass\n  pass\n", "def f(A: f32[8]):\n    pass\n      pass\n",
        f"{HEAD}    pass\n{HEAD}    pass\n", "def f(A: f32[B], B: f32[8]):\n    pass\n",
        "\x85\n", "\xa0\u3000\n", f"{HEAD}\u2003\n",
        "def f(A: buffer(f32[8], nope=3)):\n    pass\n", "class f:\n    pass\n",
    ],
)  # fmt: skip
def test_a_wrong_outline_is_one_error_with_its_place(text: str) -> None:
    rejected(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 50_000, "[" * 50_000, "-" * 60_000 + "x", "not " * 15_000 + "x", "A[" * 20_000,
        "x" + "+x" * 30_000, "x if x == 1 else " * 3_000 + "x", "exp(" * 10_000, "a." * 20_000,
        "x" + "+x" * 500, "(" * 150 + "x" + ")" * 150 + "+", "f'{" * 20_000, "lambda: " * 8_000,
        "x == " * 10_000 + "x", "[" * 90 + "]" * 90, '"' * 60_001, "x" * 10_000_000,
        "x" + " + x" * 2_500_000, '"' + "a" * 10_000_000 + '"', "#" * 65_000 + "'",
    ],
)  # fmt: skip
def test_nesting_and_length_are_bounded(text: str) -> None:
    line(f"A[0] = {text}")
    rejected(text)
    with pytest.raises(ParseError):
        parse_expr(text, {})


def test_many_bad_quotes_before_a_comment_take_linear_time() -> None:
    line("A[0] = " + "\"'" * 30_000 + "#")
    line("A[0] = " + "'\\" * 30_000 + "#")


PIECES = ["", "(", ")", ":", "\n", "    ", " ", "[", "0", "x", ",", "é", '"', "=", "#"]


@settings(
    max_examples=few_or_all(24, 60),
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(prim_funcs(), st.data())
def test_damaged_text_is_read_or_refused_but_never_fails(
    func: PrimFunc, data: st.DataObject
) -> None:
    text = script(func)
    for _ in range(4):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 8))
        put = data.draw(st.sampled_from(PIECES))
        with suppress(ParseError):
            parse_module(text[:at] + put + text[at + cut :])


def test_every_class_has_a_printed_form_and_is_named_by_the_level() -> None:
    printed = set(level.LOOP_NODES)
    for cls in (*leaves(Expr), *leaves(Stmt)):
        assert cls in printed, f"{cls.__name__} has no printed form"


@pytest.mark.parametrize("text", ["A[0] = 1and x", "t: i64 = 0xfor x", "A['\\d'] = x"])
def test_python_warnings_are_errors_and_not_printed(text: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line(text)
    assert not caught


@pytest.mark.parametrize(("signs", "sign"), [(1, ""), (2, ""), (2, "-"), (199, "")])
def test_signs_before_a_number_are_counted(signs: int, sign: str) -> None:
    text = f"def f(A: f32[8]):\n    A[0] = {'-' * signs}{sign}2.0\n"
    value = -2.0 if (signs + len(sign)) % 2 else 2.0
    assert f"A[0] = f32({value})" in script(parse(text))


def nested(levels: int) -> str:
    """Return a function whose expression of some levels has a line for each."""
    parts = "".join(f"    _{at} = -_{at - 1}\n" for at in range(1, levels))
    return f"{HEAD}    _0 = A[0]\n{parts}    A[0] = _{levels - 1}\n"


def test_expressions_deeper_than_can_be_freed_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expr_reader, "MAX_LEVELS", 9)
    assert "A[0] = -" in script(parse(nested(8)))  # The index is the ninth level.
    assert "at most 9 levels of nested expressions" in str(rejected(nested(9)))


@pytest.mark.long
def test_two_hundred_thousand_nested_expressions_do_not_end_the_process() -> None:
    with pytest.raises(ParseError, match="at most 100000 levels of nested expressions"):
        parse(nested(200_000))
