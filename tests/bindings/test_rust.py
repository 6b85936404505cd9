"""The Rust crate: its own tests, with a model that is compiled here.

The model has everything that the crate wraps: rows of any number, weights, a cache, and state.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import irkit
from irkit.core import IRModule
from irkit.graph import Dimension, GraphFunc, parse, with_dimensions
from irkit.runtime import build_library, write_sources
from tests.codegen.c.build import needs_compiler

CRATE = Path(irkit.__file__).parents[1] / "bindings" / "rust"
CARGO = shutil.which("cargo")
PROBE = """
def main(x: f32[n, 4], past: f32[p, 2], h: f32[3]):
    w: f32[4, 2] = constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    one: f32[3] = constant([1.0, 1.0, 1.0])
    y: f32[n, 2] = matmul(x, w)
    present = concat(past, y, axis=0)
    g: f32[3] = add(h, one)
    r = (y, present, g)
    return r
"""
pytestmark = [
    pytest.mark.long,
    needs_compiler,
    pytest.mark.skipif(CARGO is None, reason="there is no Rust: apt install cargo"),
]


def cargo(target: Path, *args: str, **more: str) -> str:
    """Run cargo on a copy of the crate that writes to ``target``; return what it printed."""
    done = subprocess.run(
        [str(CARGO), *args, "--offline"],
        cwd=CRATE,
        env={**os.environ, "CARGO_TARGET_DIR": str(target), **more},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in done.stderr, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rust")


def test_the_tests_of_the_crate_pass(target: Path, tmp_path: Path) -> None:
    func = parse(PROBE)
    assert isinstance(func, GraphFunc)
    dims = {"n": Dimension("n", 1, 4), "p": Dimension("p", 0, 8)}
    model = irkit.compile(
        IRModule({"main": with_dimensions(func, dims)}),
        target="c",
        state={"past": ("present", 0, 8), "h": "g"},
    )
    build_library(model, tmp_path / "libprobe.a", "static", name="probe")
    write_sources(model, tmp_path / "sources", name="probe")
    printed = cargo(
        target,
        "test",
        IRKIT_MODEL=str(tmp_path / "libprobe.a"),
        IRKIT_WEIGHTS=str(tmp_path / "sources" / "probe_weights.bin"),
    )
    passed = [line for line in printed.splitlines() if line.startswith("test result: ok.")]
    assert sum(int(line.split()[3]) for line in passed) >= 10


def test_the_example_describes_and_runs_a_model(target: Path, tmp_path: Path) -> None:
    text = "def main(x: f32[2, 3]):\n    y: f32[2, 3] = add(x, x)\n    return y\n"
    model = irkit.compile(IRModule({"main": parse(text)}), target="c")
    build_library(model, tmp_path / "libprobe.so", "shared", name="probe")
    found = cargo(target, "run", "--example", "describe", IRKIT_MODEL=str(tmp_path / "libprobe.so"))
    assert "input x: f32 [Known(2), Known(3)]" in found
    assert "y: [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]" in found
