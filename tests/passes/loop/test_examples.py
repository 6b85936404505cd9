"""The Before and After in the docstring of each pass are what the pass does."""

import importlib
import re
import textwrap

import pytest

from irkit.ir import parse, script
from irkit.passes import loop
from irkit.transform import Pass

PASSES = sorted(name for name, found in vars(loop).items() if isinstance(found, Pass))
BLOCK = r"{}::\n\n((?:    .*\n|\n)+)"


def example(name: str) -> tuple[str, str]:
    doc = importlib.import_module(getattr(loop, name).function.__module__).__doc__ or ""
    before, after = (re.search(BLOCK.format(word), doc + "\n") for word in ("Before", "After"))
    assert before is not None
    assert after is not None
    return textwrap.dedent(before[1]).strip() + "\n", textwrap.dedent(after[1]).strip() + "\n"


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_does_what_its_docstring_shows(name: str) -> None:
    before, after = example(name)
    assert script(getattr(loop, name)(parse(before))) == after


# A variable that is bound twice has no text of its own: names that print are unique.
@pytest.mark.parametrize("name", [name for name in PASSES if name != "convert_ssa"])
def test_the_input_of_the_example_is_printed_as_it_is_written(name: str) -> None:
    before, _ = example(name)
    assert script(parse(before)) == before
