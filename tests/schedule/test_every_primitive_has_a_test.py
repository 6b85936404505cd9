"""Every primitive, and every module of primitives, has a test file of its own name."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import irkit
from irkit.schedule.methods.loops import LoopPrimitives
from irkit.schedule.trace.traced_schedule import PRIMITIVES
from tests.schedule import test_any_order

# Methods without a primitive behind them: test_schedule.py tests them.
LOOKUPS = {
    "get_block",
    "get_child_blocks",
    "get_consumers",
    "get_loop",
    "get_loops",
    "get_output_blocks",
    "get_producers",
    "work_on",
}
# One module for the primitives parallel, vectorize and unroll, which each have a test file.
SHARED = {"mark"}

TESTS = Path(__file__).parent / "primitives"
MODULES = Path(irkit.__file__).parent / "schedule" / "primitives"


def files_in(folder: Path) -> set[str]:
    return {path.stem.removeprefix("test_") for path in folder.glob("test_*.py")}


def test_every_method_of_a_trace_has_a_test_file() -> None:
    files = set[str]().union(*(files_in(folder) for folder in TESTS.iterdir() if folder.is_dir()))
    assert set(PRIMITIVES) - LOOKUPS - files == set()
    assert set(PRIMITIVES) >= LOOKUPS


@pytest.mark.parametrize("folder", ["blocks", "buffers", "loops", "threads"])
def test_every_module_of_primitives_has_a_test_file(folder: str) -> None:
    modules = {path.stem for path in (MODULES / folder).glob("*.py")} - {"__init__"}
    assert modules
    assert modules - SHARED - files_in(TESTS / folder) == set()


@pytest.mark.parametrize("folder", ["blocks", "buffers", "loops", "threads"])
def test_every_module_of_primitives_is_in_the_docstring_of_its_folder(folder: str) -> None:
    text = ast.get_docstring(ast.parse((MODULES / folder / "__init__.py").read_text("utf-8")))
    modules = {path.stem for path in (MODULES / folder).glob("*.py")} - {"__init__"}
    assert modules - set(re.findall(r"\w+", text or "")) == set()


def test_every_primitive_on_loops_is_tried_in_any_order() -> None:
    tried = set(re.findall(r"sch\.(\w+)\(", inspect.getsource(test_any_order.step)))
    assert set(vars(LoopPrimitives)) & set(PRIMITIVES) - tried == set()
