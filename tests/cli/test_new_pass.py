"""``irkit new-pass``: a pass, a test that passes, and an entry point."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.cli.shell import Shell

GRAPH_TEXT = """\
def main(x: f32[4]):
    a: f32[4] = relu(x)
    b: f32[4] = relu(a)
    return b
"""
ROOT = Path(__file__).parents[2]


def test_a_new_pass_comes_with_a_test_that_passes_and_an_entry_point(shell: Shell) -> None:
    first, second = shell("new-pass", "mark-loops"), shell("new-pass", "mark_more")
    assert (first.code, second.code) == (0, 0), first.err + second.err
    assert "wrote pyproject.toml" in first.out
    assert "added the entry point to pyproject.toml" in second.out
    assert "pip install 'irkit[fuzz]'" in first.out
    read = tomllib.loads((shell.folder / "pyproject.toml").read_text())
    assert read["project"]["entry-points"]["irkit.passes"] == {
        "mark-loops": "mark_loops:mark_loops",
        "mark-more": "mark_more:mark_more",
    }
    assert sorted(read["tool"]["setuptools"]["py-modules"]) == ["mark_loops", "mark_more"]
    # The tests of the other one are the same but for its name.
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "test_mark_loops.py"],
        cwd=shell.folder,
        env={"PYTHONPATH": str(ROOT), "IRKIT_PROFILE": "ci"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout
    shell.write("k.irs", "def f(C: f32[3]):\n    for i in serial(0, 3):\n        C[i] = f32(1.0)\n")
    ran = shell("opt", "k.irs", "--pass", "1:mark_loops:mark_loops", "--stop-after", "1")
    assert "unrolled" in ran.out


@pytest.mark.long
def test_a_new_pass_over_graphs_comes_with_a_test_that_passes(shell: Shell) -> None:
    made = shell("new-pass", "skip-relus", "--level", "graph")
    assert made.code == 0, made.err
    assert "--pass 'graph:skip_relus:skip_relus'" in made.out
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error"],
        cwd=shell.folder,
        env={"PYTHONPATH": str(ROOT), "IRKIT_PROFILE": "ci"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout
    shell.write("g.irs", GRAPH_TEXT)
    ran = shell("opt", "g.irs", "--pass", "graph:skip_relus:skip_relus", "--remarks")
    assert (ran.code, "skip-relus" in ran.err) == (0, True), ran.err


def test_an_unknown_level_is_refused(shell: Shell) -> None:
    done = shell("new-pass", "fold", "--level", "assembly")
    assert (done.code, list(shell.folder.iterdir())) == (2, [])
    assert "'loop', 'graph'" in done.err


def test_a_new_pass_in_a_package_is_imported_from_there(shell: Shell) -> None:
    shell.write("src/mine/__init__.py", "")
    shell.write("pyproject.toml", '[project]\nname = "mine"\nversion = "1"\n')
    assert shell("new-pass", "fold-zeros", "--folder", "src/mine").code == 0
    text = (shell.folder / "pyproject.toml").read_text()
    assert text.startswith('[project]\nname = "mine"\nversion = "1"\n')
    assert 'fold-zeros = "mine.fold_zeros:fold_zeros"' in text
    assert (
        "from mine.fold_zeros import" in (shell.folder / "src/mine/test_fold_zeros.py").read_text()
    )


@pytest.mark.parametrize("name", ["9lives", "Fold", "fold zeros", "a/b", "class", "", "x" * 99])
def test_an_invalid_name_is_refused(shell: Shell, name: str) -> None:
    done = shell("new-pass", name)
    assert done.code == 2
    assert "is not a name for a pass" in done.err
    assert list(shell.folder.iterdir()) == []


def test_nothing_is_overwritten(shell: Shell) -> None:
    shell.write("test_fold.py", "kept")
    done = shell("new-pass", "fold")
    assert done.code == 2
    assert "test_fold.py exists already" in done.err
    assert [path.name for path in shell.folder.iterdir()] == ["test_fold.py"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[project\n", "is not TOML"),
        ('[project.entry-points]\n"irkit.passes" = {}\n', "Add this by hand"),
        (
            '[project.entry-points."irkit.passes"]\nfold = "a:b"\n',
            "has an entry point 'fold' already: a:b",
        ),
    ],
)
def test_a_project_file_that_cannot_be_edited_stays(shell: Shell, text: str, message: str) -> None:
    shell.write("pyproject.toml", text)
    done = shell("new-pass", "fold")
    assert done.code == 2
    assert message in done.err
    assert (shell.folder / "pyproject.toml").read_text() == text
    assert not (shell.folder / "fold.py").exists()
