"""The pytest plugin in a user's project: irkit installed from its wheel, an empty folder, and one
decorator."""

import json
import os
import subprocess
import tomllib
import venv
from pathlib import Path

import pytest

from irkit.fuzz.check_pass.profile import PROFILES
from irkit.pytest_plugin import PROFILES as NAMES
from tests.wheels import install_wheel

ROOT = Path(__file__).parents[1]
PASSES = '''
from irkit.core import rewrite
from irkit.ir import For, PrimFunc, as_int, const
from irkit.transform import define_pass


@define_pass
def mark_short_loops(func: PrimFunc, *, most: int = 4) -> PrimFunc:
    """Mark short loops as unrolled."""

    def mark(loop: For) -> For | None:
        end = as_int(loop.end)
        short = loop.kind == "serial" and end is not None and end <= most
        return loop.replace(kind="unrolled") if short else None

    return rewrite(func, mark, on=For)


@define_pass
def lose_tail(func: PrimFunc) -> PrimFunc:
    """Lose the last iteration of loops that run an odd number of times."""

    def shorten(loop: For) -> For | None:
        end = as_int(loop.end)
        odd = end is not None and end % 2
        return loop.replace(end=const(end - 1, loop.end.dtype)) if odd else None

    return rewrite(func, shorten, on=For)


@define_pass
def do_nothing(func: PrimFunc) -> PrimFunc:
    """Leave everything alone."""
    return func
'''
TESTS = '''
import my_passes
from hypothesis import strategies as st
from irkit.fuzz import check_pass

SUM = """
def total(A: f32[3], C: f32[3]):
    for i in serial(0, 3):
        C[i] = A[i] + f32(1.0)
"""


@check_pass(my_passes.mark_short_loops.using(most=5), phase=1, examples=4)
def test_right(case, tmp_path, irkit_profile):
    assert tmp_path.exists() and irkit_profile == "ci"


@check_pass(my_passes.lose_tail, phase=2, strategy=st.just(SUM))
def test_wrong(case): ...


@check_pass(my_passes.do_nothing, phase=2, examples=2, strategy=st.just(SUM))
def test_idle(case): ...


def test_of_another_kind(irkit_corpus):
    assert irkit_corpus.name == "found"
'''
LIGHT = """
import sys


def test_nothing_of_irkit_is_loaded():
    heavy = ("numpy", "llvmlite", "onnx", "msgspec", "hypothesis.strategies", "irkit.core")
    assert [name for name in heavy if name in sys.modules] == []
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory, irkit_wheel: Path) -> Path:
    """Make an environment that has irkit from a wheel, and shares the dependencies of this one."""
    folder = tmp_path_factory.mktemp("user")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    install_wheel(irkit_wheel, site)
    (site / "shared.pth").write_text(str(Path(pytest.__file__).parent.parent) + "\n")
    return folder / "venv" / "bin" / "python"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "my_passes.py").write_text(PASSES)
    (folder / "test_my_passes.py").write_text(TESTS)
    return folder


STRICT = ("--strict-markers", "--strict-config", "-W", "error", "-p", "no:cacheprovider")


def run_pytest(
    python: Path, folder: Path, *args: str, profile: str = "ci"
) -> "subprocess.CompletedProcess[str]":
    env = {"PATH": os.environ["PATH"], "IRKIT_PROFILE": profile, "IRKIT_CACHE": "0"}
    return subprocess.run(
        [str(python), "-m", "pytest", *STRICT, *args],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.long
def test_a_users_project_needs_one_decorator(python: Path, project: Path) -> None:
    # One process first, then two of pytest-xdist: they try the finding first.
    how = ["--import-mode=importlib", "--irkit-corpus", "found", "--irkit-report", "out/r.json"]
    done = run_pytest(python, project, *how)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "2 failed, 2 passed" in done.stdout
    assert "'lose-tail' (phase 2) changes what the program computes: " in done.stdout
    assert "this tested nothing: 'do-nothing' changed 0 of " in done.stdout
    assert "Traceback" not in done.stdout
    assert "check_pass.py" not in done.stdout
    assert "passed mark-short-loops{most=5} (phase 1): drew " in done.stdout
    assert "profile ci" in done.stdout
    assert "note:" not in done.stdout

    rows = json.loads((project / "out" / "r.json").read_text())
    assert [row["outcome"] for row in rows] == ["passed", "failed", "failed"]
    kept = Path(rows[1]["kept"])
    assert kept.parent.parent == project / "found"
    assert not (project / ".irkit").exists()

    again = run_pytest(python, project, "-n", "2", "-m", "irkit_fuzz", "--irkit-corpus", "found")
    assert "2 failed, 1 passed" in again.stdout, again.stdout + again.stderr
    for line in ("passed mark-short-loops", "failed lose-tail (phase 2): drew 0, 1 kept ones,"):
        assert again.stdout.count(line) == 1

    # The command that the message names.
    (test,) = kept.glob("test_*.py")
    assert f"python -m pytest {test.relative_to(project)}" in done.stdout
    alone = run_pytest(python, project, str(test.relative_to(project)))
    assert "1 failed" in alone.stdout
    assert "lose-tail" in alone.stdout


def test_a_project_without_such_tests_pays_nothing(python: Path, tmp_path: Path) -> None:
    (tmp_path / "test_light.py").write_text(LIGHT)
    done = run_pytest(python, tmp_path)
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    assert "irkit: passes under test" not in done.stdout


def test_the_plugin_knows_all_profiles() -> None:
    assert set(NAMES) == set(PROFILES)


def test_the_extra_brings_pytest() -> None:
    read = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert read["entry-points"]["pytest11"] == {"irkit": "irkit.pytest_plugin"}
    needed = [*read["dependencies"], *read["optional-dependencies"]["fuzz"]]
    assert {"hypothesis", "pytest"} <= {each.partition(">")[0] for each in needed}
