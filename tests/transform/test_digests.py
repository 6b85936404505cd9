"""A digest of a pass changes with its code, its options and all that it refers to."""

from collections.abc import Callable
from typing import Any

import pytest

from irkit.core import own_sources
from irkit.ir import PrimFunc
from irkit.passes.loop import simplify, unroll_loops
from irkit.phases import DEFAULT
from irkit.transform import define_pass, function_digest, is_own, pass_digest, pipeline_digest

NAMESPACE = "from irkit.ir import PrimFunc\nimport math\nLIMIT = 3\n"


def made(body: str, before: str = "", namespace: str = NAMESPACE) -> Callable[..., Any]:
    """Return a function of a module of a user's."""
    scope: dict[str, Any] = {"__name__": "mine"}
    exec(f"{namespace}{before}\ndef mark(func: PrimFunc) -> PrimFunc:\n    {body}\n", scope)
    return scope["mark"]


SAME = made("return func.replace(name=str(LIMIT + math.floor(2.5)))")


@pytest.mark.parametrize(
    "other",
    [
        made("return func.replace(name=str(LIMIT - math.floor(2.5)))"),
        made("return func.replace(name=str(LIMIT + math.floor(3.5)))"),
        made("return func.replace(name=str(LIMIT + math.ceil(2.5)))"),
        made(
            "return func.replace(name=str(LIMIT + math.floor(2.5)))",
            namespace=NAMESPACE.replace("3", "4"),
        ),
    ],
    ids=["operator", "constant", "name", "global"],
)
def test_a_change_of_code_or_data_changes_the_digest(other: Callable[..., Any]) -> None:
    assert function_digest(SAME) is not None
    assert function_digest(other) not in (None, function_digest(SAME))


def test_equal_code_has_an_equal_digest() -> None:
    again = made("return func.replace(name=str(LIMIT + math.floor(2.5)))")
    assert function_digest(again) == function_digest(SAME)


def test_functions_that_are_called_count() -> None:
    one = made("return helped(func)", "def helped(f):\n    return f.replace(name='a')\n")
    other = made("return helped(func)", "def helped(f):\n    return f.replace(name='b')\n")
    assert None not in (function_digest(one), function_digest(other))
    assert function_digest(one) != function_digest(other)


def test_what_is_closed_over_counts() -> None:
    def closed(value: object) -> Callable[[PrimFunc], PrimFunc]:
        def rename(func: PrimFunc, *, by: object = "x") -> PrimFunc:
            return func.replace(name=f"{value}{by}")

        return rename

    assert function_digest(closed(1)) == function_digest(closed(1)) is not None
    assert function_digest(closed(1)) != function_digest(closed(2))
    assert function_digest(closed((1, "a"))) != function_digest(closed((1, "b")))
    # What can change between two compilations has no digest.
    assert function_digest(closed([1])) is None
    assert function_digest(closed(object())) is None


def test_a_pass_has_the_digest_of_its_options() -> None:
    @define_pass
    def stamp(func: PrimFunc, *, number: int = 0) -> PrimFunc:
        return func.replace(attrs=(("stamp", number),))

    assert pass_digest(stamp) == pass_digest(stamp.using()) is not None
    assert pass_digest(stamp) != pass_digest(stamp.using(number=2))
    assert pass_digest(unroll_loops) != pass_digest(unroll_loops.using(max_extent=3))
    assert is_own(simplify)
    assert not is_own(stamp)


def test_a_pipeline_has_a_digest_if_all_its_passes_have() -> None:
    seen: list[PrimFunc] = []

    @define_pass
    def look(func: PrimFunc) -> PrimFunc:
        seen.append(func)
        return func

    assert pipeline_digest(DEFAULT) is not None
    assert pipeline_digest(DEFAULT) != pipeline_digest(DEFAULT.without("unroll-loops"))
    assert pipeline_digest(DEFAULT.insert(look, phase=3)) is None


def test_passes_of_irkit_change_with_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    before = pass_digest(simplify)
    monkeypatch.setattr("irkit.transform.digests.own_sources", lambda: "edited")
    assert pass_digest(simplify) != before
    monkeypatch.setattr("irkit.transform.digests.own_sources", lambda: None)
    assert pass_digest(simplify) is None
    assert function_digest(SAME) is None


def test_files_that_are_newer_than_this_process_have_no_digest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("irkit.core.files.source_state._LOADED_AT", 1.0)
    assert own_sources.__wrapped__() is None
