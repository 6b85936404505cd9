"""The example at the head of each pass file is what the pass does."""

import re
import textwrap
from pathlib import Path
from typing import Any

import pytest

import irkit.passes.graph as graph_passes
from irkit.core import Function, IRModule, same
from irkit.graph import GraphFunc, parse, verify
from irkit.transform import Pass

PASSES: list[Any] = [found for found in vars(graph_passes).values() if isinstance(found, Pass)]
_EXAMPLE = re.compile(
    r"Before(?:, with ``([\w=, ]+)``)?::\n(.*?)\nAfter::\n(.*?)(?=\n\S|\Z)", re.DOTALL
)


def example(each: Any) -> tuple[GraphFunc, str, Any]:
    """Return the text before, the expected text after, and the pass with the options it needs."""
    doc = __import__(each.function.__module__, fromlist=["x"]).__doc__
    found = _EXAMPLE.search(doc)
    assert found is not None, each.name
    given, *texts = found.groups()
    options = dict(each.split("=") for each in given.split(", ")) if given else {}
    before, after = (textwrap.dedent(part).strip() + "\n" for part in texts)
    used = each.using(**{name: int(value) for name, value in options.items()})
    return parse(before), after, used if options else each


def applied(each: Any, func: GraphFunc) -> Function | IRModule:
    """Apply a pass over functions, or over modules to a module with nothing else in it."""
    after = each(IRModule({func.name: func}) if each.on_modules else func)
    assert verify(after) == []
    return after


@pytest.mark.parametrize("each", PASSES, ids=str)
def test_the_example_of_a_pass_holds(each: Any) -> None:
    before, expected, used = example(each)
    assert verify(before) == []
    found = applied(used, before)
    after = found["main"] if isinstance(found, IRModule) else found
    assert after.script() == expected
    assert same(parse(expected), after)


@pytest.mark.parametrize("each", PASSES, ids=str)
def test_a_pass_leaves_its_own_result_alone(each: Any) -> None:
    before, _, used = example(each)
    after = applied(used, before)
    assert used(after) is after


def test_every_pass_file_is_listed() -> None:
    folder = Path(graph_passes.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    assert files == {each.name.replace("-", "_") for each in PASSES}
