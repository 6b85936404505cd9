"""Pipelines have a text form that reads back."""

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from irkit.core import IRKitError, IRModule, OptionError, ParseError, Span
from irkit.ir import PrimFunc
from irkit.transform import Phase, Pipeline, Registry, define_pass, parse_phases, parse_pipeline
from tests.draws import few_or_all
from tests.transform.loops import LOOP, no_parallel, no_unrolled


@define_pass(gives=(no_unrolled,))
def flatten(func: PrimFunc) -> PrimFunc:
    return func


@define_pass(needs=(no_unrolled,))
def vectorize(func: PrimFunc, *, lanes: int = 4, mode: str = "", ratio: float = 1.0) -> PrimFunc:
    return func


@define_pass
def whole(module: IRModule) -> IRModule:
    return module


REGISTRY = Registry([flatten, vectorize, whole])
LIKE = Pipeline(LOOP, (Phase(0, "raw"), Phase(1, "flat"), Phase(2, "loops")))


def read(text: str) -> Pipeline:
    return parse_pipeline(text, REGISTRY, LIKE)


def test_a_text_gives_phases_with_the_names_of_the_pipeline_it_is_like() -> None:
    found = read(" 0: ; 1:flatten ,vectorize{lanes=8};2:whole;")
    assert found.phases == (
        Phase(0, "raw"),
        Phase(1, "flat", (flatten, vectorize.using(lanes=8))),
        Phase(2, "loops", (whole,)),
    )
    assert found.text() == str(found) == "0:;1:flatten,vectorize{lanes=8};2:whole"


def test_phases_that_are_left_out_are_not_there() -> None:
    assert read("1:flatten").phases == (Phase(1, "flat", (flatten,)),)
    assert read("").phases == ()
    assert str(read("")) == ""


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "lanes": st.integers(-(1 << 80), 1 << 80),
        "mode": st.text(max_size=8),
        "ratio": st.floats(allow_nan=False),
    },
)
PASSES = st.one_of(
    st.sampled_from([flatten, whole]), OPTIONS.map(lambda given: vectorize.using(**given))
)


@settings(max_examples=few_or_all(60, 150), derandomize=True)
@given(st.lists(st.lists(PASSES, max_size=3), max_size=3))
def test_every_pipeline_reads_back(phases: list[list[object]]) -> None:
    made = Pipeline(
        LOOP,
        tuple(
            Phase(number, LIKE.phase(number).name, tuple(passes))  # pyright: ignore
            for number, passes in enumerate(phases)
        ),
        facts=(no_unrolled,),
    )
    again = parse_pipeline(made.text(), REGISTRY, made)
    assert again == made
    assert again.text() == made.text()


def test_a_pass_outside_the_registry_is_written_by_its_path() -> None:
    pipeline = Pipeline(LOOP, (Phase(1, "flat", (flatten, vectorize.using(lanes=2))),))
    text = pipeline.text(Registry([flatten]))
    assert text == f"1:flatten,{__name__}:vectorize{{lanes=2}}"
    assert parse_pipeline(text, Registry([flatten]), LIKE) == pipeline
    with pytest.raises(IRKitError, match="modules are not imported"):
        parse_pipeline(text, Registry([flatten]), LIKE, imports=False)


def test_a_pass_that_shares_its_name_with_another_is_written_by_its_path() -> None:
    def other() -> Any:
        @define_pass
        def flatten(func: PrimFunc) -> PrimFunc:
            return func

        return flatten

    pipeline = Pipeline(LOOP, (Phase(1, "flat", (flatten,)),))
    assert pipeline.text(Registry([other()])) == f"1:{__name__}:flatten"


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("flatten", 1, "expected the number of a phase and a colon"),
        ("1:flatten vectorize", 11, "expected ',' before another pass or ';'"),
        ("1:flatten,,vectorize", 11, "expected the name of a pass"),
        ("1:flatten;1:vectorize", 11, "phase 1 comes after phase 1; phases go upwards"),
        ("2:;1:", 4, "phase 1 comes after phase 2; phases go upwards"),
        ("1:flatten,vectorize{lanes=}", 27, "expected a value"),
        ("1:flatten,vectorize{lanes=8", 28, "expected ',' or '}'"),
        ("0:;7:flatten", 4, "no phase 7; the phases are: 0 raw, 1 flat, 2 loops"),
        ("0:;1: flaten", 7, "there is no pass 'flaten'\n  Did you mean 'flatten'"),
        ("1:flatten,vectorize{lane=8}", 11, "has no option 'lane'"),
        ("1:flatten,vectorize{lanes=x}", 11, "option 'lanes' of pass 'vectorize' is 'x'"),
        ("1:no.such.module:f", 3, "cannot load pass 'no.such.module:f'"),
    ],
)
def test_errors_point_at_the_column(text: str, column: int, message: str) -> None:
    with pytest.raises(IRKitError) as caught:
        read(text)
    error = caught.value
    assert isinstance(error.span, Span)
    assert (error.span.file, error.span.line, error.span.column) == ("<pipeline>", 1, column)
    assert message in str(error)
    shown, mark = str(error).splitlines()[-2:]
    assert shown == f"  {text}"
    assert mark == " " * (column + 1) + "^"


def test_the_kind_of_an_error_stays() -> None:
    with pytest.raises(OptionError):
        read("1:flatten,vectorize{lane=8}")
    with pytest.raises(ParseError):
        read("1:flatten{")
    with pytest.raises(ParseError, match="longer than"):
        read("1:" + "a," * 100_000)


def test_an_order_that_cannot_hold_is_refused() -> None:
    with pytest.raises(IRKitError, match=r"'flatten' \(phase 2\) gives it, but comes later"):
        read("1:vectorize;2:flatten")


@settings(max_examples=few_or_all(80, 200), derandomize=True)
@given(st.text('012:;,{}=[]"-abflten.\n é', max_size=40))
def test_any_text_is_a_pipeline_or_an_error_with_a_place(text: str) -> None:
    try:
        found = read(text)
    except IRKitError as error:
        placed = error.span is not None or "needs" in str(error)
    else:
        placed = read(found.text()) == found
    assert placed


def test_only_digits_are_phases() -> None:
    assert [number for number, _, _ in parse_phases("0:;12:a,b")] == [0, 12]
    with pytest.raises(ParseError):
        parse_phases("-1:a")


def test_one_pipeline_follows_another_with_the_facts_it_leaves() -> None:
    first = Pipeline(LOOP, (Phase(1, "flat", (flatten,)),))
    legal = Pipeline(LOOP, (Phase(4, "legal"),), facts=first.gives)
    assert legal.facts == (no_unrolled,)
    both = first.then(legal.insert(vectorize, phase=4))
    assert both.text() == "1:flatten;4:vectorize"
    assert both.facts == ()
    # None of its passes runs, so no fact is needed.
    assert LIKE.then(legal).text() == "0:;1:;2:;4:"
    with pytest.raises(IRKitError, match="'vectorize' needs no_unrolled_loops, which nothing"):
        LIKE.then(legal.insert(vectorize, phase=4))
    with pytest.raises(IRKitError, match="phase 1 flat cannot follow"):
        legal.then(first)
    other = Pipeline(LOOP, (Phase(5, "x"),), facts=(no_parallel,))
    assert first.then(other).phases[-1].name == "x"
