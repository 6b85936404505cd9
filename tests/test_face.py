"""The face of the package: its names, lazy imports, and no other name at top level."""

import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import irkit
from tests.wheels import install

ROOT = Path(irkit.__file__).parent.parent


def run(code: str, *, cwd: Path, path: Path = ROOT) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={"PYTHONPATH": str(path)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_irkit_loads_neither_numpy_nor_llvm(tmp_path: Path) -> None:
    heavy = "[m for m in sys.modules if m.split('.')[0] in ('numpy','llvmlite','onnx','msgspec')]"
    assert run(f"import sys, irkit; print({heavy})", cwd=tmp_path) == "[]\n"


def test_work_on_kernels_loads_what_it_needs_only(tmp_path: Path) -> None:
    names = "('networkx','onnx','pygments','z3','flask','hypothesis')"
    code = "import sys, irkit.cli.opt, irkit.cli.check, irkit.phases; "
    heavy = f"sorted({{m.split('.')[0] for m in sys.modules}} & set({names}))"
    assert run(f"{code}print({heavy})", cwd=tmp_path) == "[]\n"


@pytest.mark.parametrize("name", [*irkit._FOLDERS, *irkit._HOME])
def test_every_name_of_the_face_is_there(name: str, tmp_path: Path) -> None:
    assert getattr(irkit, name) is not None
    assert name in dir(irkit)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_thing'"):
        getattr(irkit, "no_such_thing")


@pytest.mark.parametrize("name", ["passes", "phases", "fuzz", "inspector_web", "utils"])
def test_no_generic_name_can_be_imported_at_top_level(name: str, tmp_path: Path) -> None:
    # Beside an installed package, not in the checkout, whose root holds links to the folders.
    code = f"import importlib.util; print(importlib.util.find_spec({name!r}))"
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "irkit").symlink_to(ROOT / "irkit", target_is_directory=True)
    assert run(code, cwd=tmp_path, path=tmp_path / "site") == "None\n"


def test_no_file_imports_a_folder_of_ours_by_its_bare_name() -> None:
    bare = ("import passes", "from passes", "import phases", "from phases", "from fuzz import")
    for folder in ("irkit", "examples", "benchmarks", "tests"):
        for file in (ROOT / folder).rglob("*.py"):
            if file.name == Path(__file__).name:
                continue
            lines = file.read_text().splitlines()
            wrong = [line for line in lines if line.strip().startswith(bare)]
            assert not wrong, f"{file}: {wrong}"


@pytest.mark.long
def test_a_copy_without_links_installs_runs_and_passes_its_tests(tmp_path: Path) -> None:
    copy = tmp_path / "copy"

    def is_left_out(folder: str, names: list[str]) -> list[str]:
        at = Path(folder)
        return [
            name for name in names if (at / name).is_symlink() or name.startswith((".", "__pyc"))
        ]

    copy.mkdir()
    for name in ("irkit", "tests", "docs", "examples", "pyproject.toml", "README.md"):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=is_left_out)
        else:
            shutil.copy(ROOT / name, copy / name)
    install(copy, tmp_path / "site")
    code = "import irkit.passes.loop as p; print(p.simplify.name, p.__name__)"
    found = run(code, cwd=tmp_path, path=tmp_path / "site")
    assert found == "simplify irkit.passes.loop\n"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/core/test_rewrite.py"],
        capture_output=True,
        text=True,
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy)},
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


@pytest.mark.parametrize("name", ["simplify", "unroll_loops"])
def test_a_pass_and_its_file_share_a_name_and_the_folder_gives_the_function(name: str) -> None:
    folder = import_module("irkit.passes.loop")
    function = getattr(folder, name)
    file = import_module(function.function.__module__)
    assert file.__name__.rpartition(".")[2] == name
    assert getattr(file, name) is function
    assert getattr(import_module(file.__name__.rpartition(".")[0]), name) is file


@pytest.mark.parametrize("name", ["lower", "build", "compile"])
def test_lower_build_and_compile_share_a_name_with_their_files_and_the_folder_gives_the_function(
    name: str,
) -> None:
    folder = import_module("irkit.phases")
    file = import_module(f"irkit.phases.{name}")
    assert getattr(folder, name) is getattr(file, name)
    assert getattr(irkit, name) is getattr(file, name)
