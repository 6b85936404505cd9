"""What a user sees first: names, laziness, and that nothing of ours lies around at top level."""

import subprocess
import sys
from importlib import import_module, util
from pathlib import Path

import pytest

import irkit

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


@pytest.mark.parametrize("name", irkit.__all__)
def test_every_name_of_the_face_is_there(name: str, tmp_path: Path) -> None:
    assert getattr(irkit, name) is not None
    assert name in dir(irkit)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_thing'"):
        getattr(irkit, "no_such_thing")


@pytest.mark.parametrize("name", ["passes", "phases", "fuzz", "inspector_web", "utils"])
def test_nothing_generic_can_be_imported_at_top_level(name: str, tmp_path: Path) -> None:
    # Beside an installed package, not in the checkout, whose root holds the folders themselves.
    code = f"import importlib.util; print(importlib.util.find_spec({name!r}))"
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "irkit").symlink_to(ROOT / "irkit", target_is_directory=True)
    assert run(code, cwd=tmp_path, path=tmp_path / "site") == "None\n"


def test_no_file_imports_a_folder_of_ours_by_its_bare_name() -> None:
    bare = ("import passes", "from passes", "import phases", "from phases", "from fuzz import")
    for folder in ("irkit", "passes", "phases", "fuzz", "inspector_web", "examples", "tests"):
        for file in (ROOT / folder).rglob("*.py"):
            if file.name == Path(__file__).name:
                continue
            lines = file.read_text().splitlines()
            wrong = [line for line in lines if line.strip().startswith(bare)]
            assert not wrong, f"{file}: {wrong}"


def test_a_checkout_without_links_finds_the_folders_beside_it(tmp_path: Path) -> None:
    package = tmp_path / "irkit"
    package.mkdir()
    for entry in (ROOT / "irkit").iterdir():
        if entry.name not in ("passes", "phases", "fuzz", "inspector_web", "__pycache__"):
            (package / entry.name).symlink_to(entry)
    (package / "__init__.py").unlink()
    (package / "__init__.py").write_text((ROOT / "irkit" / "__init__.py").read_text())
    (package / "passes").write_text("../passes")  # What a link becomes on Windows.
    for name in ("passes", "phases", "fuzz", "inspector_web"):
        (tmp_path / name).symlink_to(ROOT / name, target_is_directory=True)
    code = "import irkit.passes.loop as p; print(p.simplify.name, p.__name__)"
    assert run(code, cwd=ROOT.parent, path=tmp_path) == "simplify irkit.passes.loop\n"


@pytest.mark.parametrize("name", ["simplify", "unroll_loops"])
def test_a_pass_and_its_file_share_a_name_and_the_folder_gives_the_function(name: str) -> None:
    folder = import_module("irkit.passes.loop")
    file = import_module(f"irkit.passes.loop.{name}")
    assert getattr(folder, name) is getattr(file, name)
    assert util.find_spec(f"irkit.passes.loop.{name}") is not None
