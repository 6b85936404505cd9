"""docs/ir-text.md: every example parses and prints back, and every node class occurs."""

import re
from pathlib import Path
from typing import Any

import pytest

from irkit.core import IRModule, Node, same
from irkit.graph import GRAPH_NODES, parse_module
from irkit.ir import INTRINSICS, Axis, Buffer, Expr, PrimFunc, Region, Stmt
from tests.ir.classes import leaves

PAGE = (Path(__file__).parents[2] / "docs" / "ir-text.md").read_text()
BLOCKS: list[tuple[str, str]] = re.findall(
    r"^```(irs|by-hand)\n(.*?)^```$", PAGE, flags=re.M | re.S
)
PRINTED = [text for kind, text in BLOCKS if kind == "irs"]
BY_HAND = [(text, BLOCKS[at + 1][1]) for at, (kind, text) in enumerate(BLOCKS) if kind == "by-hand"]


def printed(module: IRModule) -> str:
    return "\n".join(func.script() for func in module.functions.values())


@pytest.mark.parametrize("text", PRINTED, ids=lambda text: text.partition("def ")[2].split("(")[0])
def test_an_example_prints_back_as_it_stands(text: str) -> None:
    module = parse_module(text, absent=True)
    assert printed(module) == text
    again = parse_module(printed(module), absent=True)
    assert all(same(again[name], module[name]) for name in module)


@pytest.mark.parametrize(("written", "expected"), BY_HAND)
def test_text_by_hand_prints_as_the_block_after_it(written: str, expected: str) -> None:
    assert printed(parse_module(written)) == expected


def test_every_node_class_occurs_in_an_example() -> None:
    found: set[type[Any]] = set()
    for text in PRINTED:
        stack: list[Any] = list(parse_module(text, absent=True).functions.values())
        while stack:
            item = stack.pop()
            if isinstance(item, tuple):
                stack += item
            elif isinstance(item, Node):
                found.add(type(item))
                stack += [getattr(item, name) for name in type(item).__struct_fields__]
    wanted = {*leaves(Expr), *leaves(Stmt), Axis, Region, Buffer, PrimFunc, *GRAPH_NODES}
    assert sorted(each.__name__ for each in wanted - found) == []


def test_the_page_lists_every_intrinsic() -> None:
    listed = PAGE.partition("### Intrinsics")[2].partition("```")[0]
    assert set(re.findall(r"`(\w+)`", listed)) - {"bool"} == set(INTRINSICS)


def test_the_python_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.M | re.S)
    exec(compile(block, "ir-text.md", "exec"), {})
    assert capsys.readouterr().out.startswith("def f(A: f32[4]):")
