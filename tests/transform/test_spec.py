import math
import struct

import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import ParseError, same_data
from irkit.transform import (
    PassSpec,
    PlacedSpec,
    parse_phases,
    parse_placed,
    parse_spec,
    render_spec,
)
from tests.draws import few_or_all


def test_a_spec_names_a_pass_and_its_options() -> None:
    assert parse_spec("simplify") == PassSpec("simplify", {})
    text = 'unroll-loops{a=1, b=true, c="x", d=-2.5e3, e=none, f=[1,[2,3]], g=fast}'
    spec = parse_spec(text)
    assert spec.name == "unroll-loops"
    assert spec.options == {
        "a": 1, "b": True, "c": "x", "d": -2500.0, "e": None, "f": (1, (2, 3)), "g": "fast",
    }  # fmt: skip
    assert parse_spec(" my.module:Class.method { } ") == PassSpec("my.module:Class.method", {})
    assert str(PassSpec("p", {"lanes": 8})) == "p{lanes=8}"


def test_a_list_is_separated_by_commas() -> None:
    ((_, _, specs),) = parse_phases("0:a{x=1,y=2}, b ,m.n:f{z=false}")
    assert [str(spec) for spec in specs] == ["a{x=1,y=2}", "b", "m.n:f{z=false}"]
    ((_, _, none),) = parse_phases("0: ")
    assert none == ()


def test_a_placed_spec_begins_with_its_phase() -> None:
    spec = PassSpec("module:function", {"option": 3})
    assert parse_placed("1:module:function{option=3}") == PlacedSpec(spec, phase=1)
    assert parse_placed("graph:module:function{option=3}") == PlacedSpec(spec, level="graph")
    for text in ("simplify", "my.module:function", ":simplify", "-1:simplify", "1 simplify"):
        with pytest.raises(ParseError, match="expected a place and a colon"):
            parse_placed(text)


def test_a_place_can_be_before_or_after_another_pass() -> None:
    spec = PassSpec("p")
    for text, level, phase, beside in [
        ("before=x-y:p", "", None, "before"),
        ("/after=x-y:p", "", None, "after"),
        ("3/after=x-y:p", "", 3, "after"),
        ("graph/before=x-y:p", "graph", None, "before"),
        ("graph.1/before=x-y:p", "graph", 1, "before"),
    ]:
        assert parse_placed(text) == PlacedSpec(spec, level, phase, beside, "x-y")
    assert parse_placed("graph.1:p") == PlacedSpec(spec, "graph", 1)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "the name of a pass"),
        ("a{", 3, "the name of an option"),
        ("a{x}", 4, "expected '='"),
        ("a{x=}", 5, "expected a value"),
        ("a{x=1", 6, "expected ',' or '}'"),
        ("a{x=1 y=2}", 7, "expected ',' or '}'"),
        ("a{x=1,x=2}", 7, "given twice"),
        ("a{x=1} b", 8, "expected the end"),
        ('a{x="un}', 5, "expected a value"),
        ("a{x=[1,[2,[3]]]}", 12, "nested too deeply"),
        ("a{x=[1 2]}", 8, "expected ',' or ']'"),
        ("a{x=+y}", 5, "a number after the sign"),
        ("a,b", 2, "expected the end"),
        ("a{x=" + "9" * 5000 + "}", 5, "digits"),
        ("a" * 70000, 1, "longer than"),
        ("a{\nx=}", 3, "expected a value"),
    ],
)
def test_an_error_points_at_the_column(text: str, column: int, message: str) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        parse_spec(text)
    assert caught.value.span is not None
    assert caught.value.span.column == column


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**60), 10**60), st.floats(), st.text(max_size=20)
)
values = st.one_of(
    scalars, st.lists(scalars).map(tuple), st.lists(st.lists(scalars).map(tuple)).map(tuple)
)


def canonical(value: object) -> object:
    if isinstance(value, float) and math.isnan(value):
        return struct.unpack("<d", struct.pack("<Q", 0x7FF8 << 48))[0]
    return tuple(map(canonical, value)) if isinstance(value, tuple) else value


@settings(max_examples=few_or_all(60, 150), derandomize=True)
@given(st.dictionaries(st.from_regex(r"[a-z_]\w{0,5}", fullmatch=True), values, max_size=4))
def test_what_is_rendered_reads_back(options: dict[str, object]) -> None:
    read = parse_spec(render_spec("m.n:f", options))
    assert list(read.options) == list(options)
    assert same_data(
        tuple(map(canonical, read.options.values())), tuple(map(canonical, options.values()))
    )


@settings(max_examples=few_or_all(60, 150), derandomize=True)
@given(st.text('a{}=,:"[]1.e-+\\ ', max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        spec = parse_spec(text)
    except ParseError:
        return
    assert parse_spec(str(spec)) == spec
