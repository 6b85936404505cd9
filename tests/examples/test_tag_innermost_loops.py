"""The example pass does what its docstring shows, at the place that it names."""

import importlib.util
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

from irkit.core import same
from irkit.ir import parse, script
from irkit.phases import DEFAULT
from irkit.transform import Pass
from tests.passes.loop.kernels import KERNELS, kernel, results

FOLDER = Path(__file__).parents[2] / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"examples_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tag_innermost_loops() -> Pass[..., object]:
    return load("tag_innermost_loops").tag_innermost_loops


def test_the_pass_does_what_its_docstring_shows() -> None:
    doc = load("tag_innermost_loops").__doc__ or ""
    before, after = re.findall(r"::\n\n((?:    .*\n|\n)+)", doc)[:2]
    func = parse(textwrap.dedent(before).strip() + "\n")
    assert script(tag_innermost_loops()(func)) == textwrap.dedent(after).strip() + "\n"


def test_a_tagged_function_is_left_alone() -> None:
    tagged = tag_innermost_loops()(kernel("MATMUL"))
    assert tag_innermost_loops()(tagged) is tagged


@pytest.mark.parametrize("name", KERNELS)
def test_in_phase_1_it_shows_in_the_trace_and_changes_no_result(name: str) -> None:
    pipeline = DEFAULT.with_passes([(1, tag_innermost_loops().using(tag="inner"))])
    func = kernel(name)
    steps = list(pipeline.steps(func))
    step = next(step for step in steps if step.name == "tag-innermost-loops")
    assert step.phase == 1
    assert "inner=True" in script(step.after)
    assert same(parse(script(step.after)), step.after)
    assert results(steps[-1].after) == results(func)


def test_the_file_runs_alone(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(FOLDER / "tag_innermost_loops.py")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(FOLDER.parent)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "innermost=True" in done.stdout
